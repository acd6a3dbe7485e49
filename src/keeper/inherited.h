// Ends the processes that a process inherits as a subreaper when its child is killed: keepers, which end
// their own trees, and processes whose keeper was killed as well. The janitor uses it after the death of the
// daemon, and the daemon uses it when the janitor was killed.
#pragma once

#include <sys/types.h>

#include "keeper/keepers_below.h"
#include "keeper/report.h"
#include "keeper/sweep.h"

namespace corral::keeper {

/// Time limits of the phases. A successor waits for their sum.
inline constexpr Micros kKeepersFinish{7'500'000};  // including their terminators
inline constexpr Micros kOrphansFinish{500'000};    // from SIGTERM to SIGKILL, for those without a keeper
inline constexpr Micros kLastKills{2'500'000};      // for everything that is left then

/// Large, so keep it in static memory. SIGCHLD must be blocked. Not re-entrant; `end` blocks up to the sum of
/// the limits above.
class Inherited {
 public:
  /// Call once at the start. A shell may have had children before it executed this program; they and their
  /// orphans are left alone.
  void spare_present_children();
  /// Call when a child was reaped elsewhere, because its pid may be reused.
  void forget(pid_t pid);

  /// Returns true once wait reports that no child is left; otherwise `survivors` lists the processes that
  /// could not be ended. `helper` is the file that keepers execute.
  bool end(const FileId& helper);
  const Report& survivors() const { return report_; }

 private:
  static bool spares_keepers(pid_t pid, void* self);
  static bool spares_strangers(pid_t pid, void* self);
  bool wait_for_keepers(Micros began);

  FileId helper_;
  bool had_children_ = false;
  Report report_;  // the sweeps count here
  Sweep orphans_{report_};
  Sweep everybody_{report_};
};

}  // namespace corral::keeper
