#include "keeper/launch.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace corral::keeper {
namespace {

/// Makes the OOM killer choose the server before the keeper, which is needed to clean up.
void volunteer_for_oom() {
  const int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  char text[16] = {};
  if (read(fd, text, sizeof text - 1) > 0) {
    const int current = atoi(text);
    const int length = snprintf(text, sizeof text, "%d", current > 700 ? 1000 : current + 300);
    // Some sandboxes refuse this; then the kernel's own choice applies.
    if (pwrite(fd, text, static_cast<std::size_t>(length), 0) < 0) errno = 0;
  }
  close(fd);
}

void set_limit(__rlimit_resource resource, std::uint64_t value) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || value > limit.rlim_max) return;
  limit.rlim_cur = value;
  limit.rlim_max = value;
  setrlimit(resource, &limit);
}

bool born_in_cgroup = false;  // true in a child that was just forked into its cgroup

/// Before exec, so that the server cannot fork outside the cgroup.
bool enter_cgroup(const char* directory) {
  if (*directory == '\0' || born_in_cgroup) return true;
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/cgroup.procs", directory);
  const int procs = open(path, O_WRONLY | O_CLOEXEC);
  if (procs < 0) return false;
  const bool entered = write(procs, "0", 1) == 1;
  const int error = errno;
  close(procs);
  errno = error;
  return entered;
}

}  // namespace

void reset_signals() {
  // Uses the system call directly: glibc hides signals 32 and 33, but its posix_spawn leaves them ignored.
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  } const as_default = {SIG_DFL, 0, nullptr, 0};
  for (int signo = 1; signo < NSIG; ++signo) {
    syscall(SYS_rt_sigaction, signo, &as_default, nullptr, sizeof as_default.mask);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::uint64_t choose_rlimit_tag() {
  rlimit limit{};
  if (getrlimit(RLIMIT_RTTIME, &limit) != 0) return 0;
  // RLIM_INFINITY is all ones; the tag stays within the range of a signed number, which is what tools print.
  const std::uint64_t ceiling = limit.rlim_max == RLIM_INFINITY ? (1ULL << 62) : limit.rlim_max;
  if (ceiling <= kSmallestTag) return 0;
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return 0;
  return kSmallestTag + random % (ceiling - kSmallestTag);
}

pid_t fork_into_cgroup(const Plan& plan, std::uint64_t namespace_flags) {
  const int directory = *plan.cgroup == '\0' ? -1 : open(plan.cgroup, O_PATH | O_DIRECTORY | O_CLOEXEC);
  pid_t pid = -1;
  if (directory >= 0) {
    born_in_cgroup = true;  // only the child uses this
    pid = clone_process(namespace_flags, directory);
    const int error = errno;
    if (pid != 0) {
      born_in_cgroup = false;
      close(directory);
    }
    errno = error;
    // If the kernel refuses the namespace flags, it returns EPERM, which the caller handles.
    if (pid >= 0 || (errno == EPERM && namespace_flags != 0)) return pid;
  }
  return clone_process(namespace_flags);
}

void become_server(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd) {
  setsid();
  reset_signals();
  if (!enter_cgroup(plan.cgroup)) fail_launch(failure_fd, Stage::Cgroup, errno);
  volunteer_for_oom();
  if (rlimit_tag != 0) set_limit(RLIMIT_RTTIME, rlimit_tag);
  // The watchdog measures once a second; twice the limit is the backstop in between.
  if (plan.header.memory.by == Enforcer::Watchdog) set_limit(RLIMIT_DATA, plan.header.memory.value * 2);
  if (*plan.directory != '\0' && chdir(plan.directory) != 0) {
    fail_launch(failure_fd, Stage::ChangeDirectory, errno);
  }
  close_on_exec_from(3);
  execve(plan.executable, plan.arguments, environ);
  if (errno == ENOEXEC) {
    // A script without "#!" is run by the shell, as execvp and every shell do.
    static char shell[] = "/bin/sh";
    char** arguments = plan.arguments - 1;
    arguments[0] = shell;
    arguments[1] = const_cast<char*>(plan.executable);
    execve(shell, arguments, environ);
  }
  fail_launch(failure_fd, Stage::Execute, errno);
}

void fail_launch(int failure_fd, Stage stage, int error) {
  const LaunchFailure failure{stage, error};
  const ssize_t written = write(failure_fd, &failure, sizeof failure);
  _exit(written == sizeof failure ? 125 : 124);
}

}  // namespace corral::keeper
