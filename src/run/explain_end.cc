#include "run/explain_end.h"

#include <sys/wait.h>

namespace corral::run {
namespace {

std::string why_alive(const keeper::Survivor& survivor) {
  const std::string pid = std::to_string(survivor.pid);
  switch (survivor.cause) {
    case keeper::Cause::Permission:
      return "it runs as another user; end it with `sudo kill -KILL " + pid + "`";
    case keeper::Cause::Uninterruptible:
      return "it is blocked in the kernel; it exits when the device or file system that it waits for "
             "responds";
    case keeper::Cause::Unknown: break;
  }
  return "it did not exit in time; inspect it with `corral doctor`, or raise --kill-grace";
}

}  // namespace

std::string explain_survivor(const keeper::Survivor& survivor) {
  return "process " + std::to_string(survivor.pid) + " (" + survivor.comm + ") of user " +
         std::to_string(survivor.uid) + " could not be ended: " + why_alive(survivor);
}

std::string explain_limit(const keeper::LimitState& limit) {
  const std::string option = limit.name == keeper::LimitName::Memory ? "--memory" : "--pids";
  const std::string seen =
      limit.seen == 0 ? "" : " (" + std::to_string(limit.seen) + " of " + std::to_string(limit.limit) + ")";
  return "the server reached its limit " + option + seen + ": raise the limit, or check what the server does";
}

std::string explain_terminator(const keeper::TerminatorResult& result) {
  const bool on_stop = result.kind == keeper::TerminatorKind::OnStop;
  const std::string what = on_stop ? "the --on-stop command" : "the removal of the container";
  const std::string advice = on_stop ? ": run it by hand to see why"
                                     : ": look for it with `docker ps` or `podman ps`, label corral.instance";
  if (!result.finished) return what + " was killed at its time limit of 10 s" + advice;
  if (WIFSIGNALED(result.wait_status))
    return what + " was killed by signal " + std::to_string(WTERMSIG(result.wait_status)) + advice;
  const int code = WEXITSTATUS(result.wait_status);
  return code == 0 ? "" : what + " failed with exit code " + std::to_string(code) + advice;
}

}  // namespace corral::run
