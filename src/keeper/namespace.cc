#include "keeper/namespace.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "keeper/keepers_below.h"

// The order matters. The uid map comes first, because until then the process has no valid uid. PDEATHSIG is
// set after all credential changes, because the kernel clears it there. A check of the line follows, because
// the death of a keeper before that point would go unnoticed (getppid returns 0 in here, whatever the
// parent).

namespace corral::keeper {
namespace {

constexpr std::uint64_t kPlain = CLONE_NEWPID | CLONE_NEWNS;
constexpr std::uint64_t kWithUser = kPlain | CLONE_NEWUSER;

bool write_text(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto length = static_cast<ssize_t>(strlen(text));
  const bool written = write(fd, text, static_cast<std::size_t>(length)) == length;
  const int error = errno;
  close(fd);
  errno = error;
  return written;
}

/// Every uid maps to itself; files of other users appear as owned by nobody.
bool map_ids(uid_t uid, gid_t gid) {
  char map[64];
  if (!write_text("/proc/self/setgroups", "deny")) return false;
  snprintf(map, sizeof map, "%u %u 1", uid, uid);
  if (!write_text("/proc/self/uid_map", map)) return false;
  snprintf(map, sizeof map, "%u %u 1", gid, gid);
  return write_text("/proc/self/gid_map", map);
}

/// Without its own /proc, the server would look up its pid and find a different process.
bool mount_proc() {
  if (mount("none", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) return false;
  return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

enum class Users : std::uint8_t { AsOutside, OwnNamespace };

LaunchFailure settle_in(Users users, uid_t uid, gid_t gid) {
  if (users == Users::OwnNamespace && !map_ids(uid, gid)) return {Stage::IdMap, errno};
  if (!mount_proc()) return {Stage::MountProc, errno};
  return {};
}

/// With root privileges no user namespace is needed, and the server keeps its view of all users.
pid_t clone_namespace(const Plan& plan, Users& users) {
  users = Users::AsOutside;
  const pid_t pid = fork_into_cgroup(plan, kPlain);
  if (pid >= 0 || errno != EPERM) return pid;
  users = Users::OwnNamespace;
  return fork_into_cgroup(plan, kWithUser);
}

bool keeper_gone(int line) {
  pollfd look{line, POLLIN | POLLRDHUP, 0};
  return poll(&look, 1, 0) > 0;
}

/// Sends SIGTERM to every process in the namespace except this one and those below a keeper: the keeper ends
/// them itself, and a command that it runs after the end of its tree must not be hit. A pid that is reused in
/// between also belongs to this namespace.
void ask_to_end(const FileId& helper) {
  if (!any_keeper_below(getpid(), helper)) {
    kill(-1, SIGTERM);
    kill(-1, SIGCONT);
    return;
  }
  static pid_t asked[8192];
  const std::size_t count = outside_keepers_below(getpid(), helper, asked);
  for (std::size_t i = 0; i < count; ++i) {
    kill(asked[i], SIGTERM);
    kill(asked[i], SIGCONT);
  }
}

/// Reaps until nothing is left, and reports when and how the server exited. Returning ends every process in
/// the namespace.
void serve_as_init(pid_t server, int line, int signals) {
  const FileId helper = file_id("/proc/self/exe");
  constexpr int kMostReaped = 256;  // then the line to the keeper is read
  for (;;) {
    int status = 0;
    pid_t pid = 1;
    for (int i = 0; i < kMostReaped && (pid = waitpid(-1, &status, WNOHANG)) > 0; ++i) {
      if (pid != server) continue;
      server = -1;
      if (send(line, &status, sizeof status, MSG_NOSIGNAL) < 0) return;
    }
    if (pid < 0 && errno == ECHILD) return;
    pollfd wake[] = {{signals, POLLIN, 0}, {line, POLLIN | POLLRDHUP, 0}};
    if (poll(wake, 2, pid > 0 ? 0 : -1) < 0) continue;
    if (wake[1].revents != 0) {
      int signo = 0;
      if (recv(line, &signo, sizeof signo, MSG_DONTWAIT) != sizeof signo)
        return;  // the keeper closed its end
      if (server > 0) kill(server, signo);
    }
    signalfd_siginfo info{};
    if (read(signals, &info, sizeof info) != sizeof info) continue;
    if (info.ssi_signo == SIGTERM) ask_to_end(helper);
  }
}

/// Closes the lifeline, the report and everything else that only the keeper needs. It has a dozen
/// descriptors at most.
void keep_only(int line, int signals) {
  constexpr int kEnough = 64;
  for (int fd = STDERR_FILENO + 1; fd < kEnough; ++fd) {
    if (fd != line && fd != signals) close(fd);
  }
}

[[noreturn]] void run_init(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd, int line) {
  prctl(PR_SET_NAME, "corral-init", 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (keeper_gone(line)) _exit(0);
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGTERM);
  const int signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  const pid_t server = fork();
  if (server == 0) become_server(plan, rlimit_tag, failure_fd);
  if (server < 0) fail_launch(failure_fd, Stage::Fork, errno);
  keep_only(line, signals);
  let_go(STDIN_FILENO, O_RDONLY);
  let_go(STDOUT_FILENO, O_WRONLY);
  let_go(STDERR_FILENO, O_WRONLY);
  serve_as_init(server, line, signals);
  _exit(0);
}

}  // namespace

LaunchFailure probe_namespace(const Plan& plan) {
  int failures[2];
  if (pipe2(failures, O_CLOEXEC) != 0) return {Stage::Fork, errno};
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  Users users = Users::AsOutside;
  const pid_t pid = clone_namespace(plan, users);
  if (pid == 0) {
    const LaunchFailure failure = settle_in(users, uid, gid);
    if (failure.stage != Stage::None) fail_launch(failures[1], failure.stage, failure.error);
    _exit(0);
  }
  LaunchFailure result{};
  if (pid < 0) result = {Stage::Namespace, errno};
  close(failures[1]);
  LaunchFailure told{};
  if (pid > 0 && read(failures[0], &told, sizeof told) == sizeof told) result = told;
  close(failures[0]);
  if (pid > 0) waitpid(pid, nullptr, 0);
  return result;
}

LaunchFailure start_in_namespace(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd,
                                 NamespaceInit& init) {
  int line[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) != 0) return {Stage::Fork, errno};
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  Users users = Users::AsOutside;
  const pid_t pid = clone_namespace(plan, users);
  if (pid == 0) {
    close(line[0]);
    const LaunchFailure failure = settle_in(users, uid, gid);
    if (failure.stage != Stage::None) fail_launch(failure_fd, failure.stage, failure.error);
    run_init(plan, rlimit_tag, failure_fd, line[1]);
  }
  const int error = errno;
  close(line[1]);
  if (pid < 0) {
    close(line[0]);
    return {Stage::Namespace, error};
  }
  init = {pid, line[0]};
  return {};
}

}  // namespace corral::keeper
