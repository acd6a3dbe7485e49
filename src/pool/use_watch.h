// Ends an instance that is not used: after its idle time, or at once if its code is out of date and no
// session is attached. The decision is pure; the watch asks for it when the answer may have changed.
//
// Owned by the slot of the instance. Belongs to the loop's thread.
#pragma once

#include <optional>

#include "base/loop.h"
#include "pool/instance_end.h"

namespace corral::pool {

class ServerCatalog;
class Slot;

struct InstanceUse {
  bool has_sessions = false;
  bool in_use = false;    // something is in flight or open
  bool may_park = false;  // its sessions can do without it until their next call
  bool replaced = false;  // its code is out of date, and new sessions get another instance
  Clock::duration unused{};
  Clock::duration idle{};  // how long it may be unused
};

/// Either why it ends now, or when to look again.
struct UseVerdict {
  std::optional<Cause> end{};
  Clock::duration look_again{};
};

UseVerdict judge_use(const InstanceUse& use);

class UseWatch {
 public:
  /// Slot and catalog outlive it.
  UseWatch(Loop& loop, Slot& slot, ServerCatalog& catalog) : slot_(slot), catalog_(catalog), timer_(loop) {}

  /// An earlier appointment is replaced.
  void look_in(Clock::duration after);
  void stop() { timer_.cancel(); }

 private:
  void look();

  Slot& slot_;
  ServerCatalog& catalog_;
  Timer timer_;
};

}  // namespace corral::pool
