// Limits the number of instances, for each principal and in total; base/shares.h has the rule. If there are
// too many, the least needed one is ended; pool/eviction.cc decides which.
//
// Owned by the pool and called on the loop's thread. `make_room` and `keep_newest` may end instances: their
// sessions are told before the call returns, and may call the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shares.h"
#include "pool/eviction.h"
#include "pool/server_spec.h"

namespace corral::pool {

class ServerCatalog;
class Slot;
class Slots;
struct Limits;

/// Whether the sessions of this server can be without an instance until their next call.
bool may_park(const ServerSpec& spec, ServerCatalog& catalog);

class Capacity {
 public:
  /// The arguments outlive it.
  Capacity(Slots& slots, ServerCatalog& catalog, const Limits& limits)
      : slots_(slots), catalog_(catalog), limits_(limits) {}

  /// Call it before an instance is started; it ends another one if it must. The error is a sentence for the
  /// sessions that wait.
  Result<void> make_room(const ServerSpec& spec);
  /// Why no instance can be started for this session and for `more` others, as a sentence that names the
  /// quota. Empty if there is room, or if a running instance would serve the session.
  std::string why_no_room(const Ask& ask, std::size_t more);
  /// Whether a spare may be started. No other instance is ended for a spare.
  bool has_room_for_spare(const ServerSpec& spec) const;
  /// Ends idle instances of each server, least recently used first, until at most `Limits::keep` are left.
  void keep_newest();

 private:
  /// The instances that may be ended; the two lists have the same order.
  struct Victims {
    std::vector<Slot*> slots;  // valid until an instance is ended
    std::vector<Candidate> candidates;
  };
  enum class Spares : std::uint8_t { Counted, Kept };

  Use used_with(const ServerSpec& spec) const;
  Victims victims(Spares spares) const;
  Victims replaceable_for(const ServerSpec& spec) const;

  Slots& slots_;
  ServerCatalog& catalog_;
  const Limits& limits_;
};

}  // namespace corral::pool
