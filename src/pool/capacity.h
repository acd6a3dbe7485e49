// How many instances there may be, and for whom: base/shares.h has the rule. Where there are too many, the
// least needed one is ended; pool/eviction.cc decides which.
//
// Owned by the pool. Ending an instance tells its sessions, which may call the pool before it returns.
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

/// Whether the sessions of such a server can do without an instance until their next call.
bool may_park(const ServerSpec& spec, ServerCatalog& catalog);

class Capacity {
 public:
  /// All of them outlive it.
  Capacity(Slots& slots, ServerCatalog& catalog, const Limits& limits)
      : slots_(slots), catalog_(catalog), limits_(limits) {}

  /// Before an instance is started: ends another one if it must. An error is the sentence for those who wait.
  Result<void> make_room(const ServerSpec& spec);
  /// Whether an instance can be started for such a session and for `more` others, or one runs that it would
  /// get. Empty, or a sentence that names the quota.
  std::string why_no_room(const Ask& ask, std::size_t more);
  /// Whether a spare may be started. No instance is ended for one, also not by a token whose part is used up.
  bool has_room_for_spare(const ServerSpec& spec) const;
  /// Ends the idle instances of each server beyond those that are kept.
  void keep_newest();

 private:
  /// What may be ended; the two lists have the same order.
  struct Victims {
    std::vector<Slot*> slots;  // valid until something is ended
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
