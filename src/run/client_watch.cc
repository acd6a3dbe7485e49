#include "run/client_watch.h"

#include <sys/stat.h>
#include <unistd.h>

#include "keeper/kernel.h"

// A pid alone cannot tell whether the parent that we see is the one that started us: an orphan is given to
// init, or to a subreaper anywhere above. But a child is born into the session of its parent. If we lead no
// session ourselves and our parent is in another one, we were handed over, and our real client is gone.

namespace corral::run {
namespace {

bool handed_over(pid_t parent) {
  const pid_t session = getsid(0);
  return session != getpid() && getsid(parent) != session;
}

/// Whether the other end of stdin can hang up. A file, a terminal of somebody else's or /dev/null cannot.
bool stdin_can_hang_up() {
  struct stat status {};
  return fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(STDIN_FILENO) == 1);
}

}  // namespace

Result<ClientWatch> ClientWatch::start() {
  ClientWatch watch;
  const pid_t parent = getppid();
  if (parent <= 0) return watch;  // we are the first process of a container; nobody is above us
  watch.pidfd_ = UniqueFd(keeper::pidfd_open(parent));
  const bool died_meanwhile = getppid() != parent;
  if (!died_meanwhile && !handed_over(parent)) return watch;
  if (!stdin_can_hang_up()) {
    return Error{
        "the client that started this is gone already and stdin is no pipe, so nothing could ever end the "
        "session: "
        "start it from a living process, or pass --detached"};
  }
  watch.stop();  // stdin tells, if not the parent
  return watch;
}

}  // namespace corral::run
