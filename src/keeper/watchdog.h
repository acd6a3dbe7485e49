// Enforces limits where no cgroup controller does. The kernel's resource limits do not help: RLIMIT_NPROC
// counts all processes of the user, and RLIMIT_AS breaks runtimes that reserve more address space than they
// use. So the keeper measures the tree once a second and ends it in order when it exceeds a limit.
#pragma once

#include "keeper/plan.h"
#include "keeper/report.h"

namespace corral::keeper {

class LimitWatchdog {
 public:
  static constexpr Micros kPeriod{1'000'000};

  /// `report` lists the limits of the plan and receives the measurements; it must outlive the watchdog.
  LimitWatchdog(const PlanHeader& plan, Report& report);

  bool watching() const { return watching_; }

  /// Takes over the limits that were planned for a cgroup, because there is no cgroup after all.
  void take_over();

  /// Measures the processes below `root`. Returns true if a limit is exceeded.
  bool exceeded(pid_t root);

 private:
  void add_limit(LimitName name, const PlanLimit& limit);

  Report& report_;
  bool watching_ = false;
  bool counts_init_ = false;  // do not count corral's init in a PID namespace
};

}  // namespace corral::keeper
