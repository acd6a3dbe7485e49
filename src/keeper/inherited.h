// What falls to a process when the one below it is gone: keepers, which end their own trees, and processes
// whose keeper was killed as well. The janitor inherits from the daemon; the daemon ends its own children so
// when the janitor was killed.
#pragma once

#include <sys/types.h>

#include "keeper/keepers_below.h"
#include "keeper/report.h"
#include "keeper/sweep.h"

namespace corral::keeper {

/// How long everything may take. The sum is the bound that a successor waits for.
inline constexpr Micros kKeepersFinish{7'500'000};  // also their terminators
inline constexpr Micros kOrphansFinish{500'000};    // from SIGTERM to SIGKILL, for those without a keeper
inline constexpr Micros kLastKills{2'500'000};      // whatever is left then

/// Large: keep it in static memory. SIGCHLD must be blocked.
class Inherited {
 public:
  /// A shell may have had children before it became us; they and their orphans are left alone.
  void spare_present_children();
  /// A child that was reaped elsewhere: its number may go to somebody else.
  void forget(pid_t pid);

  /// True once nothing is left: wait says so. Else `survivors` tells who could not be ended. `helper` is the
  /// file that keepers run.
  bool end(const FileId& helper);
  const Report& survivors() const { return report_; }

 private:
  static bool spares_keepers(pid_t pid, void* self);
  static bool spares_strangers(pid_t pid, void* self);
  bool wait_for_keepers(Micros began);

  FileId helper_;
  bool had_children_ = false;
  Report report_;  // the sweeps keep their counts here
  Sweep orphans_{report_};
  Sweep everybody_{report_};
};

}  // namespace corral::keeper
