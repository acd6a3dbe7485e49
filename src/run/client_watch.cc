#include "run/client_watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include "keeper/kernel.h"

// A pid alone does not tell whether our current parent is the one that started us: an orphan is adopted by
// init or by a subreaper above. But a child is born into the session of its parent. So if we are not a
// session leader and our parent is in another session, we were adopted, and our real client is gone.

namespace corral::run {
namespace {

bool handed_over(pid_t parent) {
  const pid_t session = getsid(0);
  return session != getpid() && getsid(parent) != session;
}

/// Whether the other end of stdin can hang up. A file, another session's terminal or /dev/null cannot.
bool stdin_can_hang_up() {
  struct stat status {};
  return fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(STDIN_FILENO) == 1);
}

}  // namespace

Result<ClientWatch> ClientWatch::start() {
  ClientWatch watch;
  const pid_t parent = getppid();
  if (parent <= 0) return watch;  // we are the first process of a container and have no parent
  watch.pidfd_ = UniqueFd(keeper::pidfd_open(parent));
  const bool parent_died = getppid() != parent;
  if (!parent_died && !handed_over(parent)) return watch;
  if (!stdin_can_hang_up()) {
    return Error{
        "the client that started this process has already exited and stdin is not a pipe, so nothing could "
        "end the session: start it from a running process, or pass --detached"};
  }
  watch.stop();  // stdin reports the end instead of the parent
  return watch;
}

}  // namespace corral::run
