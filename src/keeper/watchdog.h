// Holds a tree to its limits where no cgroup controller does. Resource limits of the kernel are no help: the
// one for processes counts the whole user, the one for address space breaks runtimes that reserve more than
// they use. So the keeper looks once a second and ends the tree, in order, when it is over.
#pragma once

#include "keeper/plan.h"
#include "keeper/report.h"

namespace corral::keeper {

class Watchdog {
 public:
  static constexpr Micros kPeriod{1'000'000};

  /// `report` lists the limits of the plan from now on, and is told what was seen.
  Watchdog(const PlanHeader& plan, Report& report);

  bool watching() const { return watching_; }

  /// Takes over what a cgroup was to enforce, since there is none after all.
  void take_over();

  /// Counts the processes below `root` and what they hold. True if a limit is exceeded.
  bool exceeded(pid_t root);

 private:
  void add_limit(LimitName name, const PlanLimit& limit);

  Report& report_;
  bool watching_ = false;
  bool counts_init_ = false;  // our own process inside a PID namespace is not the server's
};

}  // namespace corral::keeper
