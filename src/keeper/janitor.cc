#include "keeper/janitor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "keeper/inherited.h"
#include "keeper/launch.h"
#include "keeper/patient_write.h"
#include "keeper/sweep.h"

namespace corral::keeper {
namespace {

constexpr int kOwnFailure = 125;
constexpr int kFirstPassedFd = 3;  // first descriptor from a service manager, see sd_listen_fds(3)
constexpr int kMostArguments = 32;
constexpr int kMostAtOnce = 256;  // signals and deaths handled before anything else is checked

// The remaining arguments are for the daemon.
constexpr int kLockArgument = 2;
constexpr int kProgramArgument = 3;
constexpr int kFewestArguments = 5;

template <class... Values>
void say(const char* format, Values... values) {
  char line[512];
  const int length = snprintf(line, sizeof line, format, values...);
  if (length <= 0) return;
  const auto size = static_cast<std::size_t>(length);
  write_without_hanging(STDERR_FILENO, line, size < sizeof line ? size : sizeof line - 1);
}

/// The daemon's command line. It is copied away from where the kernel shows it, so that a kill by command
/// line that means the daemon misses its janitor; the name and the runtime directory stay visible.
class DaemonCommand {
 public:
  bool take(int argc, char** argv) {
    if (argc < kFewestArguments || argc - kProgramArgument + 4 > kMostArguments) return false;
    for (int i = kProgramArgument; i < argc; ++i) add(argv[i]);
    for (int i = kLockArgument; i < argc; ++i) memset(argv[i], 0, strlen(argv[i]));
    return complete_;
  }

  void add(const char* word) {
    const std::size_t size = strlen(word) + 1;
    if (used_ + size > sizeof text_) {
      complete_ = false;
      return;
    }
    words_[count_++] = text_ + used_;
    memcpy(text_ + used_, word, size);
    used_ += size;
  }

  void add_number(int number) {
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    add(text);
  }

  bool complete() const { return complete_; }
  char* const* words() const { return words_; }

 private:
  char text_[16384];
  std::size_t used_ = 0;
  char* words_[kMostArguments] = {};
  int count_ = 0;
  bool complete_ = true;
};

/// Updates a variable that names the process it is meant for: the service manager means the janitor, and the
/// janitor means the daemon. Called in the child.
void pass_on(const char* variable, pid_t from) {
  const char* value = getenv(variable);
  if (value == nullptr || atoi(value) != from) return;
  static char entries[2][48];
  static int used = 0;
  char* const entry = entries[used++];
  const int length = snprintf(entry, sizeof entries[0], "%s=%d", variable, getpid());
  const auto name = static_cast<std::size_t>(length < 0 ? 0 : strlen(variable) + 1);
  for (char** place = environ; name > 0 && *place != nullptr; ++place) {
    if (strncmp(*place, entry, name) == 0) *place = entry;
  }
}

/// Our copies would keep a listening socket open after the daemon has closed it.
void close_passed_sockets() {
  const char* owner = getenv("LISTEN_PID");
  const char* count = getenv("LISTEN_FDS");
  if (owner == nullptr || count == nullptr || atoi(owner) != getpid()) return;
  constexpr int kMostPassed = 64;
  for (int i = 0; i < atoi(count) && i < kMostPassed; ++i) close(kFirstPassedFd + i);
}

class Janitor {
 public:
  int run(int argc, char** argv);

 private:
  bool start_daemon();
  [[noreturn]] void become_daemon(pid_t janitor) const;
  void wait_for_daemon();
  void read_signals();
  void reap();
  void end_what_is_left();
  int relay() const;

  DaemonCommand command_;
  Inherited inherited_;
  int signals_ = -1;
  int lock_ = -1;
  int lifeline_[2] = {-1, -1};  // the daemon reads from it, and sees end of file when the janitor is gone
  pid_t daemon_ = 0;
  int status_ = 0;
  bool gone_ = false;
  bool more_ = false;  // dead children are left
};

int take_signals() {
  signal(SIGCHLD, SIG_DFL);  // a parent may have ignored it, which would discard exit codes
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    sigaddset(&wanted, signo);
  }
  return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

int Janitor::run(int argc, char** argv) {
  lock_ = argc > kLockArgument ? atoi(argv[kLockArgument]) : -1;
  if (!command_.take(argc, argv) || fcntl(lock_, F_GETFD) < 0) {
    say("%s: this program is started by `corral serve`, not by hand\n", kJanitorName);
    return kOwnFailure;
  }
  prctl(PR_SET_NAME, kJanitorName);
  signals_ = take_signals();
  if (!become_subreaper()) say("%s: this kernel does not support child subreapers\n", kJanitorName);
  inherited_.spare_present_children();
  if (!start_daemon()) return kOwnFailure;
  close_passed_sockets();
  let_go(STDIN_FILENO, O_RDONLY);
  let_go(STDOUT_FILENO, O_WRONLY);
  wait_for_daemon();
  if (WIFSIGNALED(status_)) {
    say("%s: the daemon (pid %d) was ended by signal %d; ending its servers\n", kJanitorName, daemon_,
        WTERMSIG(status_));
  }
  end_what_is_left();
  return relay();
}

bool Janitor::start_daemon() {
  if (pipe2(lifeline_, O_CLOEXEC) != 0) {
    say("%s: cannot create a pipe for the daemon: %s\n", kJanitorName, strerror(errno));
    return false;
  }
  command_.add(kUnderJanitor);
  command_.add_number(lock_);
  command_.add_number(lifeline_[0]);
  if (!command_.complete()) {
    say("%s: the daemon's arguments are too long\n", kJanitorName);
    return false;
  }
  const pid_t self = getpid();
  daemon_ = fork();
  if (daemon_ == 0) become_daemon(self);
  if (daemon_ < 0) say("%s: cannot start the daemon: %s\n", kJanitorName, strerror(errno));
  close(lifeline_[0]);
  return daemon_ > 0;
}

/// In its own session, so that a key pressed in our terminal is one signal to the janitor, which forwards it.
void Janitor::become_daemon(pid_t janitor) const {
  setsid();
  fcntl(lifeline_[0], F_SETFD, 0);
  pass_on("LISTEN_PID", janitor);
  pass_on("WATCHDOG_PID", janitor);
  reset_signals();
  char* const* words = command_.words();
  execv(words[0], words);
  say("%s: cannot execute '%s': %s; reinstall corral\n", kJanitorName, words[0], strerror(errno));
  _exit(kOwnFailure);
}

void Janitor::wait_for_daemon() {
  while (!gone_) {
    pollfd wake{signals_, POLLIN, 0};
    poll(&wake, 1, more_ ? 0 : -1);
    read_signals();
    reap();
  }
}

void Janitor::read_signals() {
  signalfd_siginfo info{};
  for (int i = 0; i < kMostAtOnce && read(signals_, &info, sizeof info) == sizeof info; ++i) {
    // The daemon is our unreaped child, so the pid cannot belong to another process.
    if (info.ssi_signo != SIGCHLD) kill(daemon_, static_cast<int>(info.ssi_signo));
  }
}

void Janitor::reap() {
  int status = 0;
  more_ = false;
  for (int i = 0; i < kMostAtOnce; ++i) {
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid <= 0) return;
    inherited_.forget(pid);
    if (pid != daemon_) continue;
    status_ = status;
    gone_ = true;
    return;  // nothing can be forwarded any more; the sweep handles the rest
  }
  more_ = true;
}

/// Keepers execute the same file as the janitor.
void Janitor::end_what_is_left() {
  if (inherited_.end(file_id("/proc/self/exe"))) return;
  const Report& report = inherited_.survivors();
  for (std::uint32_t i = 0; i < report.survivors; ++i) {
    const Survivor& survivor = report.survivor[i];
    say("%s: process %d (%s, user %u) could not be ended\n", kJanitorName, survivor.pid, survivor.comm,
        survivor.uid);
  }
}

int Janitor::relay() const { return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_); }

}  // namespace

int run_janitor(int argc, char** argv) {
  static Janitor janitor;  // static: it is large, and the stack is small
  return janitor.run(argc, argv);
}

}  // namespace corral::keeper
