// Starts private instances before a session asks for them. Each spare is given to one session and is never
// used again after it.
//
// Owned by the pool and called on the loop's thread. A spare that was taken is replaced in a later turn.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/lifetime.h"
#include "base/loop.h"
#include "knowledge/sharing.h"
#include "pool/server_spec.h"
#include "router/session_port.h"

namespace corral::pool {

class Capacity;
class ServerCatalog;
class CodeWatch;
class Slot;
class Slots;

class Spares {
 public:
  /// The parts of the pool that it uses; all of them outlive it.
  struct Parts {
    Loop& loop;
    Slots& slots;
    ServerCatalog& catalog;
    CodeWatch& code;
    Capacity& capacity;
    const StoppedServers& stopped;
  };
  explicit Spares(Parts parts) : parts_(parts) {}

  /// Gives the session a spare that fits it, and returns its slot; null if there is none. If the server is to
  /// be kept warm, starts spares for later sessions.
  Slot* give_to(const router::SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision);
  /// Starts no spare any more.
  void close() { closed_ = true; }

 private:
  void refill(const Ask& ask);
  void add(const Ask& ask, const std::string& for_whom);

  Parts parts_;
  std::uint64_t begun_ = 0;  // since the daemon started
  bool closed_ = false;
  Lifetime lifetime_;
};

}  // namespace corral::pool
