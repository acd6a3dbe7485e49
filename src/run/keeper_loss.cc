#include "run/keeper_loss.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "keeper/cgroup_files.h"
#include "keeper/kernel.h"
#include "keeper/plan.h"
#include "keeper/terminator.h"
#include "keeper/watchdog.h"
#include "proc/plan_bytes.h"

namespace corral::run {
void KeeperLoss::finish(const proc::ProcessTree& tree, int report_fd) {
  std::vector<char*> pointers;
  const keeper::Plan plan = proc::read_plan(tree.plan(), pointers);
  const keeper::Micros began = keeper::now();
  memcpy(report_.instance, plan.header.instance, sizeof report_.instance);
  report_.reason = keeper::Reason::KeeperLost;
  report_.level = {*plan.cgroup != '\0', plan.header.pid_namespace != 0};

  const keeper::Watchdog limits(plan.header, report_);  // lists them; what it saw went with the keeper
  if (had_children_) sweep_.only({report_.instance, rlimit_tag_});

  bool empty = sweep_.reap(0, keeper::Sweep::Record::Everybody);
  const keeper::Micros kill_at = began + plan.header.graces.hasty;
  while (!empty && keeper::now() < kill_at) {
    sweep_.terminate();
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
    empty = sweep_.reap(0, keeper::Sweep::Record::Everybody);
  }
  if (!empty) keeper::kill_cgroup(plan.cgroup);
  report_.proved_empty =
      empty || sweep_.kill_all(0, plan.header.graces.kill, keeper::Sweep::Record::Everybody);
  if (!report_.proved_empty) sweep_.list_survivors();
  report_.end_took = keeper::now() - began;
  report_.uptime = keeper::now() - started_;
  keeper::remove_cgroup(plan.cgroup);
  setenv("CORRAL_INSTANCE", tree.instance().c_str(), 1);
  keeper::run_terminators(plan, sweep_, report_);
  if (report_fd >= 0) keeper::write_report(report_fd, report_);
}

std::string KeeperLoss::executable(const proc::ProcessTree& tree) {
  std::vector<char*> pointers;
  return proc::read_plan(tree.plan(), pointers).executable;
}

}  // namespace corral::run
