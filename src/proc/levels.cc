#include "proc/levels.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "keeper/cgroup_files.h"
#include "keeper/namespace.h"
#include "proc/cgroup.h"
#include "proc/keeper_spawner.h"

namespace corral::proc {
namespace {

void probe_cgroup(Levels& levels) {
  const std::optional<std::string> directory = make_cgroup(random_instance_id());
  if (!directory) return;
  levels.cgroup = true;
  levels.controllers = access((*directory + "/memory.max").c_str(), W_OK) == 0 &&
                       access((*directory + "/pids.max").c_str(), W_OK) == 0 &&
                       access((*directory + "/cpu.max").c_str(), W_OK) == 0;
  keeper::remove_cgroup(directory->c_str());
}

void probe_strict(Levels& levels) {
  keeper::Plan plan;
  plan.executable = plan.directory = plan.cgroup = "";
  const keeper::LaunchFailure failure = keeper::probe_namespace(plan);
  levels.strict = failure.stage == keeper::Stage::None;
  if (!levels.strict) levels.why_not_strict = why_no_namespace(failure.stage, failure.error);
}

}  // namespace

Levels probe_levels() {
  Levels levels;
  probe_cgroup(levels);
  probe_strict(levels);
  return levels;
}

std::string why_no_namespace(keeper::Stage stage, int error) {
  const std::string why = std::string(" (") + strerror(error) + ")";
  switch (stage) {
    case keeper::Stage::Namespace:
      return "the kernel refuses to create a PID namespace" + why +
             (error == ENOSPC ? "; raise user.max_user_namespaces and user.max_pid_namespaces"
                              : "; allow user namespaces (a sysctl, an AppArmor profile or a seccomp filter "
                                "may forbid them)");
    case keeper::Stage::IdMap:
      return "cannot map the uid in a user namespace" + why +
             "; an AppArmor rule may forbid it: allow user namespaces for corral";
    default:
      return "cannot mount a new /proc" + why + "; the container may mask parts of /proc: run it unmasked";
  }
}

}  // namespace corral::proc
