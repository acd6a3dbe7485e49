// Ends an instance that is not used: after its idle time, or at once if its code is out of date and no
// session is attached. The decision is a pure function; the watch calls it when the result may have changed.
//
// Owned by the slot of the instance, used on the loop's thread.
#pragma once

#include <optional>

#include "base/loop.h"
#include "pool/instance_end.h"

namespace corral::pool {

class ServerCatalog;
class Slot;

struct InstanceUse {
  bool has_sessions = false;
  bool in_use = false;    // it has calls in flight, open progress or open subscriptions
  bool may_park = false;  // its sessions can be without it until their next call
  bool replaced = false;  // its code is out of date, and new sessions get another instance
  Clock::duration unused{};
  Clock::duration idle{};  // how long it may be unused; zero = it ends with its last session, not before
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

  /// Checks after this time. Replaces an earlier call.
  void look_in(Clock::duration after);
  void stop() { timer_.cancel(); }

 private:
  void look();

  Slot& slot_;
  ServerCatalog& catalog_;
  Timer timer_;
};

}  // namespace corral::pool
