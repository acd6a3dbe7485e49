#include "run/start_failure.h"

#include <cerrno>
#include <cstring>

#include "proc/command_lookup.h"

namespace corral::run {
namespace {

std::string refused_namespace(const keeper::Event& event) {
  const std::string why = std::string(" (") + strerror(event.error) + ")";
  const std::string otherwise = ", or use --containment auto";
  switch (event.stage) {
    case keeper::Stage::Namespace:
      return "strict containment is refused here: the kernel creates no PID namespace for us" + why +
             (event.error == ENOSPC
                  ? "; raise user.max_user_namespaces and user.max_pid_namespaces"
                  : "; allow user namespaces (a sysctl, an AppArmor profile or a seccomp filter "
                    "forbids them)") +
             otherwise;
    case keeper::Stage::IdMap:
      return "strict containment is refused here: the user namespace may not be given our uid" + why +
             "; an AppArmor rule forbids it: allow user namespaces for corral" + otherwise;
    default:
      return "strict containment is refused here: no fresh /proc can be mounted" + why +
             "; a container masks parts of /proc: run it unmasked" + otherwise;
  }
}

}  // namespace

Error explain_start_failure(const keeper::Event& event, const std::string& executable,
                            const std::string& directory) {
  const std::string why = strerror(event.error);
  const bool exhausted = event.error == EAGAIN || event.error == ENOMEM;
  switch (exhausted ? keeper::Stage::Fork : event.stage) {
    case keeper::Stage::Execute: return proc::explain_exec_failure(executable, event.error);
    case keeper::Stage::Fork:
      return {"cannot start the server: " + why +
              "; no more processes can be made (see `ulimit -u`, or the pids limit of this session): end "
              "some, or "
              "raise the limit"};
    case keeper::Stage::Namespace:
    case keeper::Stage::IdMap:
    case keeper::Stage::MountProc: return {refused_namespace(event)};
    case keeper::Stage::Cgroup:
      return {"the server cannot enter its cgroup: " + why + "; use --containment basic"};
    case keeper::Stage::ChangeDirectory:
      return {"cannot enter the working directory '" + directory + "': " + why + "; correct --cwd"};
    case keeper::Stage::Plan:
    case keeper::Stage::None: break;
  }
  return {
      "the keeper did not understand its plan: corral and its helper are of two versions; reinstall corral"};
}

}  // namespace corral::run
