#include "instance/lost_keeper.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "keeper/plan.h"
#include "keeper/sweep.h"
#include "keeper/terminator.h"
#include "proc/container_command.h"
#include "proc/plan_bytes.h"

namespace corral::instance {

namespace {

pid_t run_terminators(const std::vector<char>& plan_bytes, const std::string& instance) {
  std::vector<char*> pointers;
  const keeper::Plan plan = proc::read_plan(plan_bytes, pointers);
  if (plan.header.terminators == 0) return 0;
  const pid_t child = fork();
  if (child != 0) return child < 0 ? 0 : child;
  // This process must not keep the clients' pipes open.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  keeper::become_subreaper();
  setenv("CORRAL_INSTANCE", instance.c_str(), 1);
  static keeper::Report report;
  keeper::Sweep sweep(report);
  keeper::run_terminators(plan, sweep, report);
  bool done = true;
  for (std::uint32_t i = 0; i < report.terminators; ++i) {
    done = done && report.terminator[i].finished && report.terminator[i].wait_status == 0;
  }
  _exit(done ? 0 : 1);
}

}  // namespace

pid_t run_terminators_of(const proc::ProcessTree& tree) {
  return run_terminators(tree.plan(), tree.instance());
}

pid_t remove_container(const std::vector<std::string>& removal, const std::string& instance) {
  proc::PlanStrings strings;
  strings.argv = {"none"};  // there is nothing to start
  strings.executable = strings.argv.front();
  strings.terminators = {proc::container_removal(removal)};
  return run_terminators(proc::plan_bytes({}, strings), instance);
}

}  // namespace corral::instance
