#include "support/small_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>

namespace corral::os_tests {
namespace {

bool write_file(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  return written;
}

}  // namespace

pid_t fork_as(pid_t number) {
  if (number > 0 && !write_file("/proc/sys/kernel/ns_last_pid", std::to_string(number - 1))) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    for (;;) pause();
  }
  if (number > 0 && pid != number) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return -1;
  }
  return pid;
}

void end_and_reap(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

bool runs(pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == 0; }

void let_a_tick_pass() {
  timespec tick{0, 11'000'000};
  nanosleep(&tick, nullptr);
}

int in_small_namespace(User user, const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (const auto uid = uid_of(user)) become(*uid);
    prctl(PR_SET_DUMPABLE, 1);
    const std::string map = std::to_string(geteuid()) + " " + std::to_string(geteuid()) + " 1";
    const std::string groups = std::to_string(getegid()) + " " + std::to_string(getegid()) + " 1";
    const bool root = geteuid() == 0;
    if (unshare((root ? 0 : CLONE_NEWUSER) | CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(kNoNamespace);
    if (!root) {
      write_file("/proc/self/setgroups", "deny");
      if (!write_file("/proc/self/uid_map", map) || !write_file("/proc/self/gid_map", groups))
        _exit(kNoNamespace);
    }
    const pid_t first = fork();
    if (first == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const bool ready = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
      _exit(ready ? body() : kNoNamespace);
    }
    int status = 0;
    waitpid(first, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : kNoNamespace);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace corral::os_tests
