#include "proc/start_failure.h"

#include <cerrno>
#include <cstring>

#include "proc/command_lookup.h"
#include "proc/levels.h"
#include "version.h"

namespace corral::proc {

Error explain_start_failure(const keeper::Event& event, const std::string& executable,
                            const std::string& directory) {
  const std::string why = strerror(event.error);
  const bool exhausted = event.error == EAGAIN || event.error == ENOMEM;
  switch (exhausted ? keeper::Stage::Fork : event.stage) {
    case keeper::Stage::Execute: return proc::explain_exec_failure(executable, event.error);
    case keeper::Stage::Fork:
      return {"cannot start the server: " + why +
              "; the process limit is reached (see `ulimit -u`, or the pids limit of this session): end some "
              "processes, or raise the limit"};
    case keeper::Stage::Namespace:
    case keeper::Stage::IdMap:
    case keeper::Stage::MountProc:
      return {"strict containment is not available here: " +
              proc::why_no_namespace(event.stage, event.error) + ", or use --containment auto"};
    case keeper::Stage::Cgroup:
      return {"the server cannot enter its cgroup: " + why + "; use --containment basic"};
    case keeper::Stage::ChangeDirectory:
      return {"cannot enter the working directory '" + directory + "': " + why + "; correct --cwd"};
    case keeper::Stage::Plan:
    case keeper::Stage::None: break;
  }
  return {"the helper corral-keeper and this program come from different builds (" +
          std::string(event.helper_build) + " and " + kVersion + " of " + kBuildDate +
          "): reinstall corral, so that both come from one build"};
}

}  // namespace corral::proc
