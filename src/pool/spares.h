// Private instances that are started before a session asks for them. Each is given to one session, and never
// comes back.
//
// Owned by the pool. A session that takes one has it replaced in a later turn.
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
  /// What it works with; all of them outlive it.
  struct Parts {
    Loop& loop;
    Slots& slots;
    ServerCatalog& catalog;
    CodeWatch& code;
    Capacity& capacity;
    const StoppedServers& stopped;
  };
  explicit Spares(Parts parts) : parts_(parts) {}

  /// The spare that the session may have, and has from now on; null if there is none. Begins others for the
  /// sessions after it, where the server is to be kept warm.
  Slot* give_to(const router::SessionPort& port, const Ask& ask, const knowledge::SharingDecision& decision);
  /// No spare is begun any more.
  void close() { closed_ = true; }

 private:
  void refill(const Ask& ask);
  void add(const Ask& ask, const std::string& for_whom);

  Parts parts_;
  std::uint64_t begun_ = 0;  // ever
  bool closed_ = false;
  Lifetime lifetime_;
};

}  // namespace corral::pool
