#include "guard/guard.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "guard/account.h"
#include "guard/client.h"
#include "keeper/patient_write.h"
#include "keeper/proc_fs.h"
#include "proc/keeper_spawner.h"

// Which process gets which signal. In its own foreground group the client gets the terminal's signals and
// guard gets whatever is sent to the job; guard forwards all of it, once. In guard's group the client gets
// the terminal's signals and any signal to the group, as it would without guard. Guard forwards what a
// process sends as well, because it cannot distinguish a signal to the group from a signal to guard alone. A
// signal to the whole group then arrives twice, as it does under timeout(1). That is better than losing the
// only SIGTERM that a runner sends.

namespace corral::guard {
namespace {

bool sent_by_process(const signalfd_siginfo& info) { return info.ssi_code <= 0; }

class Guard {
 public:
  explicit Guard(const GuardOptions& options)
      : options_(options),
        placement_(terminal_.lendable() ? Placement::OwnForegroundGroup : Placement::OurGroup),
        leftovers_(options.graces, options.keep, signals_, report_) {}

  int run();

 private:
  bool start();
  void wait_for_end();
  void handle(const signalfd_siginfo& info);
  void reap();
  void client_stopped(int signo);
  void continue_client();
  void forward(const signalfd_siginfo& info);
  bool from_client(pid_t sender) const;
  bool stopped_for_good() const;
  int conclude();
  void write_report();
  void note(const std::string& sentence) const {
    if (options_.verbose) say(sentence);
  }
  bool own_group() const { return placement_ == Placement::OwnForegroundGroup; }
  /// The target for signals that a whole job gets.
  pid_t job() const { return own_group() ? -client_ : client_; }

  const GuardOptions& options_;
  GuardSignals signals_;
  Terminal terminal_;
  Placement placement_;
  keeper::Report report_;
  Leftovers leftovers_;
  keeper::Micros started_ = keeper::now();
  pid_t client_ = 0;
  bool ended_ = false;
  bool more_ = false;  // dead children are left
  int status_ = 0;
  int start_failure_ = 0;
};

int Guard::run() {
  memcpy(report_.instance, proc::random_instance_id().c_str(), sizeof report_.instance);
  report_.level.guard = true;
  if (!keeper::become_subreaper()) {
    say("this kernel does not support child subreapers: guard cannot find what the client leaves behind");
    return kOwnFailure;
  }
  if (own_group()) signals_.take_over_stops();
  if (!start()) return start_failure_;
  let_go_of_inherited({terminal_.fd(), signals_.fd(), options_.report});
  note("client pid " + std::to_string(client_) +
       (own_group() ? " has the terminal, in its own process group" : " is in our process group"));
  wait_for_end();
  return conclude();
}

bool Guard::start() {
  // The variable is only set if a shell that had children became guard by exec.
  if (leftovers_.spare_present_children()) setenv(kGuardVariable, report_.instance, 1);
  const Result<pid_t> started = start_client(options_.client, placement_, terminal_, signals_);
  if (started) {
    client_ = *started;
    if (own_group()) terminal_.note_lent();
    return true;
  }
  if (own_group()) {
    terminal_.note_lent();
    terminal_.take_back(Terminal::Modes::Leave);
  }
  say(started.error().message);
  const Error::Kind kind = started.error().kind;
  start_failure_ = kind == Error::Kind::NotFound        ? kNotFound
                   : kind == Error::Kind::NotExecutable ? kNotExecutable
                                                        : kOwnFailure;
  report_.proved_empty = true;
  write_report();
  return false;
}

void Guard::wait_for_end() {
  while (!ended_) {
    pollfd wake{signals_.fd(), POLLIN, 0};
    if (poll(&wake, 1, more_ ? 0 : -1) < 0) continue;
    const auto info = signals_.next();
    if (info) {
      handle(*info);
    } else if (more_) {
      reap();
    }
  }
}

void Guard::handle(const signalfd_siginfo& info) {
  switch (static_cast<int>(info.ssi_signo)) {
    case SIGCHLD: return reap();
    case SIGCONT: return continue_client();
    case SIGTSTP: kill(job(), SIGTSTP); return;  // guard stops when the client does
    default: return forward(info);
  }
}

/// Orphans of the client become our children all the time and must not accumulate as zombies.
void Guard::reap() {
  constexpr int kMostReaped = 256;  // then signals are read
  int status = 0;
  more_ = false;
  for (int i = 0; i < kMostReaped; ++i) {
    const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return;
    const bool over = WIFEXITED(status) || WIFSIGNALED(status);
    if (pid != client_) {
      if (over) leftovers_.forget(pid);
      continue;
    }
    if (!over) {
      client_stopped(WSTOPSIG(status));
      continue;
    }
    ended_ = true;
    status_ = status;
    return;  // other dead children are counted at the end
  }
  more_ = true;
}

/// The shell waits for guard, so guard stops as well; the shell then takes the terminal.
void Guard::client_stopped(int signo) {
  const bool wanted_terminal = signo == SIGTTIN || signo == SIGTTOU;
  if (own_group() && wanted_terminal && terminal_.in_foreground()) {
    // `bg` followed by `fg`: a shell does not signal a job that is already running.
    terminal_.lend(client_);
    kill(-client_, SIGCONT);
    return;
  }
  if (!stopped_for_good()) return;
  if (own_group()) terminal_.take_back(Terminal::Modes::Remember);
  signals_.stop_by(signo);
}

/// In guard's own group both are stopped and continued together. The stop that we see may be over already,
/// and stopping because of it would stop a job that has just been continued.
bool Guard::stopped_for_good() const {
  if (own_group()) return true;
  constexpr useconds_t kMoment = 50'000;
  usleep(kMoment);
  keeper::StatLine line;
  return keeper::read_stat(client_, line) && line.state == 'T';
}

void Guard::continue_client() {
  if (own_group() && terminal_.in_foreground()) terminal_.lend(client_);
  kill(job(), SIGCONT);
}

void Guard::forward(const signalfd_siginfo& info) {
  const auto signo = static_cast<int>(info.ssi_signo);
  if (sent_by_process(info)) {
    if (!from_client(static_cast<pid_t>(info.ssi_pid))) kill(client_, signo);
    return;
  }
  if (own_group()) {
    // The key press reached guard, so a running job was brought to the foreground.
    if (terminal_.in_foreground()) terminal_.lend(client_);
    kill(-client_, signo);
  } else if (signo == SIGHUP && getsid(0) == getpid()) {
    kill(client_, signo);  // the kernel reports a closed window only to the session leader
  }
}

/// A signal from the client itself: `kill 0`, or a signal to its parent. It is not forwarded to the client.
bool Guard::from_client(pid_t sender) const {
  constexpr int kDeepest = 64;
  for (int depth = 0; sender > 1 && depth < kDeepest; ++depth) {
    if (sender == client_) return true;
    keeper::StatLine line;
    if (!keeper::read_stat(sender, line)) return false;
    sender = line.parent;
  }
  return false;
}

int width_of_stderr() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int Guard::conclude() {
  terminal_.take_back(Terminal::Modes::Leave);
  if (WIFSIGNALED(status_)) terminal_.restore_modes();
  signals_.take_over_stops();  // no key may stop guard now, nor a terminal that stops background writers
  report_.reason = keeper::Reason::ClientExited;
  report_.server_status = status_;
  report_.server_status_known = true;
  leftovers_.end();

  const std::string& client = options_.client.front();
  const std::string text =
      account(client.substr(client.rfind('/') + 1), leftovers_, report_, width_of_stderr());
  keeper::write_without_hanging(STDERR_FILENO, text.data(), text.size());
  if (leftovers_.left().empty()) note("the client left nothing behind");
  write_report();
  const bool leaked = !leftovers_.left().empty() || report_.survivors > 0;
  if (options_.fail_on_leak && leaked) return kLeaked;
  if (WIFEXITED(status_)) return WEXITSTATUS(status_);
  signals_.die_by(WTERMSIG(status_));
  return 128 + WTERMSIG(status_);
}

void Guard::write_report() {
  report_.uptime = keeper::now() - started_;
  if (options_.report >= 0 && !keeper::write_report(options_.report, report_)) {
    say("cannot write the report: check --report and the free space on its disk");
  }
}

}  // namespace

int guard_client(const GuardOptions& options) {
  static Guard guard(options);  // static: the report in it is large
  return guard.run();
}

void say(const std::string& sentence) {
  const std::string line = "corral guard: " + sentence + "\n";
  keeper::write_without_hanging(STDERR_FILENO, line.data(), line.size());
}

}  // namespace corral::guard
