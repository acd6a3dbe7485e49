#include "run/outer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.h"
#include "keeper/patient_write.h"
#include "keeper/sweep.h"
#include "proc/command_lookup.h"
#include "proc/keeper_spawner.h"
#include "proc/plan_bytes.h"
#include "proc/start_failure.h"
#include "run/client_watch.h"
#include "run/explain_end.h"
#include "run/keeper_loss.h"
#include "run/signal_burst.h"

// Which signals count. Many clients keep us in their own process group, so keys pressed in their terminal
// reach us: Ctrl+\, Ctrl+C and Ctrl+Z arrive as signals from the kernel (si_code SI_KERNEL) and are meant for
// the client. Only a signal from another process is a request to end this session, unless our own stdin is
// the terminal: then the user means us. The keeper and the server are in their own sessions and receive none
// of these signals.

namespace corral::run {
namespace {

/// Blocks all signals and reads them one at a time: no handlers, no races, and children that die early are
/// not missed.
UniqueFd take_over_signals() {
  // Signals that the parent ignores are inherited as ignored: exit codes would be discarded, and a SIGINT
  // lost.
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) signal(signo, SIG_DFL);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGUSR1, SIGUSR2}) {
    sigaddset(&wanted, signo);
  }
  return UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Outer {
 public:
  Outer(const proc::LaunchSpec& spec, const OuterOptions& options)
      : spec_(spec),
        options_(options),
        person_at_keys_(isatty(STDIN_FILENO) == 1),
        signals_(take_over_signals()) {}

  int run(proc::Spawner& spawner);

 private:
  void wait_for_end(proc::ProcessTree& tree);
  void ask_to_end(proc::ProcessTree& tree, keeper::Reason reason);
  int next_wake() const;
  void look_at_the_clock(const proc::ProcessTree& tree);
  void read_signals(proc::ProcessTree& tree);
  void take_signal(proc::ProcessTree& tree, const signalfd_siginfo& info);
  bool read_event(proc::ProcessTree& tree);
  void reap(const proc::ProcessTree& tree);
  void report_nothing_started();
  std::string path_note(const Error& error) const;
  int conclude(proc::ProcessTree& tree);
  void await_keeper(const proc::ProcessTree& tree);
  void explain_end() const;
  void note(const std::string& sentence) const {
    if (options_.verbose) say(sentence);
  }

  const proc::LaunchSpec& spec_;
  const OuterOptions& options_;
  const bool person_at_keys_;
  UniqueFd signals_;
  ClientWatch client_;
  keeper::Report report_;
  KeeperLoss loss_{report_};
  bool ended_ = false;  // the keeper reported how
  bool keeper_gone_ = false;
  bool lifeline_open_ = true;
  bool more_ = false;                           // dead children are left
  std::optional<keeper::Micros> keeper_until_;  // when a keeper that works must be done
  bool keeper_killed_ = false;
  int failure_code_ = 0;  // set if the server never started
};

int Outer::run(proc::Spawner& spawner) {
  if (!keeper::become_subreaper())
    note("this kernel does not support child subreapers; a killed keeper would leak processes");
  loss_.spare_present_children();
  if (!options_.detached) {
    Result<ClientWatch> watch = ClientWatch::start();
    if (!watch) {
      say(watch.error().message);
      report_nothing_started();
      return kOwnFailure;
    }
    client_ = std::move(*watch);
  }
  Result<proc::ProcessTree> tree = spawner.spawn(spec_);
  if (!tree) {
    say(tree.error().message + path_note(tree.error()));
    report_nothing_started();
    return exit_code_of(tree.error());
  }
  for (const std::string& warning : tree->warnings()) say("warning: " + warning);
  // The keeper has its own copies now; ours would keep the client from seeing its pipes close.
  keeper::let_go(STDIN_FILENO, O_RDONLY);
  keeper::let_go(STDOUT_FILENO, O_WRONLY);
  wait_for_end(*tree);
  return conclude(*tree);
}

/// A person who types a command wants to see where it was looked for.
std::string Outer::path_note(const Error& error) const {
  const bool through_path = error.kind == Error::Kind::NotFound && !spec_.argv.empty() &&
                            spec_.argv.front().find('/') == std::string::npos;
  if (!through_path) return {};
  return " (it is " + printable(std::string(proc::environment_value(spec_.environment, "PATH"))) + ")";
}

void Outer::report_nothing_started() {
  if (spec_.report < 0) return;
  memcpy(report_.instance, proc::random_instance_id().c_str(), sizeof report_.instance);
  report_.proved_empty = true;
  keeper::write_report(spec_.report, report_);
}

void Outer::wait_for_end(proc::ProcessTree& tree) {
  while (!ended_ && !keeper_gone_) {
    pollfd wake[] = {
        {signals_.get(), POLLIN, 0},
        {lifeline_open_ ? tree.events() : -1, POLLIN, 0},
        {client_.fd(), POLLIN, 0},
    };
    if (poll(wake, std::size(wake), next_wake()) < 0) continue;
    if (wake[1].revents != 0 && !read_event(tree)) lifeline_open_ = false;  // SIGCHLD reports the rest
    if (wake[0].revents != 0) read_signals(tree);
    if (more_) reap(tree);
    if (wake[2].revents != 0) {
      client_.stop();
      note("the client has exited");
      ask_to_end(tree, keeper::Reason::ClientGone);
    }
    look_at_the_clock(tree);
  }
}

/// From the first request on, the keeper has as long as its plan allows, plus a margin for a busy machine.
void Outer::ask_to_end(proc::ProcessTree& tree, keeper::Reason reason) {
  constexpr keeper::Micros kMargin{3'000'000};
  tree.stop(reason);
  if (keeper_until_) return;
  std::vector<char*> pointers;
  keeper_until_ =
      keeper::now() + keeper::longest_end(proc::read_plan(tree.plan(), pointers).header) + kMargin;
}

int Outer::next_wake() const {
  if (more_) return 0;
  if (!keeper_until_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*keeper_until_ - keeper::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

/// A keeper that does not run (stopped repeatedly, held by a debugger) must not delay the end.
void Outer::look_at_the_clock(const proc::ProcessTree& tree) {
  if (!keeper_until_ || keeper::now() < *keeper_until_ || ended_ || keeper_gone_) return;
  if (keeper_killed_) {  // it is blocked in the kernel: the sweep reports it
    keeper_gone_ = true;
    return;
  }
  say("the keeper makes no progress; ending it and the processes that it held");
  kill(tree.keeper(), SIGKILL);  // our unreaped child, so the pid is still its own
  keeper_killed_ = true;
  keeper_until_ = keeper::now() + std::chrono::seconds(2);
}

/// Once the keeper is gone, the sweep handles the rest of its tree, however many of its processes die.
void Outer::read_signals(proc::ProcessTree& tree) {
  take_signals(signals_.get(), [&](const signalfd_siginfo& info) {
    take_signal(tree, info);
    return !keeper_gone_;
  });
}

void Outer::take_signal(proc::ProcessTree& tree, const signalfd_siginfo& info) {
  const int signo = static_cast<int>(info.ssi_signo);
  const bool from_terminal = info.ssi_code == SI_KERNEL;
  if (signo == SIGCHLD) {
    reap(tree);
  } else if (from_terminal && !person_at_keys_) {
    note(std::string("SIG") + sigabbrev_np(signo) + " came from the client's terminal: ignored");
  } else if (signo == SIGTSTP) {
    if (person_at_keys_) raise(SIGSTOP);
  } else if (signo == SIGUSR1 || signo == SIGUSR2) {
    tree.forward(signo);
  } else {
    note(std::string("SIG") + sigabbrev_np(signo) + ": ending the session");
    ask_to_end(tree, keeper::Reason::Signal);
  }
}

/// Returns false if there was no event: nothing to report, or the keeper is gone.
bool Outer::read_event(proc::ProcessTree& tree) {
  const keeper::Event* event = tree.take_event();
  if (event == nullptr) return false;
  switch (event->kind) {
    case keeper::Event::Kind::Started:
      note("instance " + tree.instance() + " started" +
           (event->server > 0 ? ", server pid " + std::to_string(event->server) : "") + ", level " +
           keeper::level_name(event->level));
      if (event->rlimit_tag == 0)
        note("RLIMIT_RTTIME leaves no room for a tag: only the environment marks the tree");
      return true;
    case keeper::Event::Kind::Failed: {
      const Error error = proc::explain_start_failure(*event, loss_.executable(tree), spec_.directory);
      say(error.message);
      failure_code_ = exit_code_of(error);
      report_ = event->report;
      break;
    }
    case keeper::Event::Kind::Ended: report_ = event->report; break;
  }
  ended_ = true;
  if (event->report_lost) say("cannot write the report: check --report and the free space on its disk");
  return true;
}

/// Reaps dead children. Besides the keeper, these can be children of the shell that became this process, and
/// their orphans. A keeper that is stopped does not react to anything, not even to the end of its input, so
/// it is continued at once. It is in its own session, so no key can have stopped it.
void Outer::reap(const proc::ProcessTree& tree) {
  constexpr int kMostReaped = 256;  // then signals are read
  more_ = false;
  for (int i = 0; i < kMostReaped; ++i) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);
    if (pid <= 0) return;
    const bool keeper = pid == tree.keeper();
    if (WIFSTOPPED(status)) {
      if (keeper) kill(pid, SIGCONT);
    } else if (keeper) {
      keeper_gone_ = true;
      return;  // its processes become our children now, and the sweep counts them
    } else {
      loss_.forget(pid);
    }
  }
  more_ = true;
}

int Outer::conclude(proc::ProcessTree& tree) {
  while (!ended_ && read_event(tree)) {  // its last event may have arrived just before its death
  }
  if (!ended_) {
    say("the keeper was killed; ending the processes that it held");
    loss_.finish(tree, spec_.report);
    explain_end();
    return kOwnFailure;
  }
  if (report_.proved_empty) await_keeper(tree);
  if (failure_code_ != 0) return failure_code_;
  explain_end();
  if (!report_.server_status_known) return kOwnFailure;
  const int status = report_.server_status;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// The keeper exits right after its last event. If it were not reaped, it would stay a zombie in a container
/// whose first process does not reap. Bounded, in case the keeper is stopped.
void Outer::await_keeper(const proc::ProcessTree& tree) {
  const keeper::Micros deadline = keeper::now() + std::chrono::seconds(2);
  for (reap(tree); !keeper_gone_ && keeper::now() < deadline; reap(tree)) {
    pollfd wake{signals_.get(), POLLIN, 0};
    signalfd_siginfo info{};
    if (poll(&wake, 1, 100) == 1 && read(signals_.get(), &info, sizeof info) < 0) return;
  }
}

void Outer::explain_end() const {
  for (std::uint32_t i = 0; i < report_.survivors; ++i) say(explain_survivor(report_.survivor[i]));
  for (std::uint32_t i = 0; i < report_.limits; ++i) {
    const keeper::LimitState& limit = report_.limit[i];
    // Throttling now and then is normal under a CPU limit, so it is not reported.
    if (limit.exceeded && limit.name != keeper::LimitName::Cpu) say(explain_limit(limit));
  }
  for (std::uint32_t i = 0; i < report_.terminators; ++i) {
    const std::string failure = explain_terminator(report_.terminator[i]);
    if (!failure.empty()) say(failure);
  }
  note(std::string("session ended (") + keeper::reason_name(report_.reason) +
       "): " + counted(report_.ended_total, "process", "processes") + " ended, " +
       std::to_string(report_.sigkill_deaths) + " by SIGKILL, in " +
       std::to_string(report_.end_took.count() / 1000) + " ms; " +
       (report_.proved_empty ? "proved empty (ECHILD)" : "not proved empty"));
}

}  // namespace

int run_session(proc::Spawner& spawner, const proc::LaunchSpec& spec, const OuterOptions& options) {
  static Outer outer(spec, options);  // static: the report in it is large
  return outer.run(spawner);
}

void say(const std::string& sentence) {
  const std::string line = "corral run: " + sentence + "\n";
  keeper::write_without_hanging(STDERR_FILENO, line.data(), line.size());
}

int exit_code_of(const Error& error) {
  switch (error.kind) {
    case Error::Kind::NotFound: return kNotFound;
    case Error::Kind::NotExecutable: return kNotExecutable;
    case Error::Kind::Failure: break;
  }
  return kOwnFailure;
}

}  // namespace corral::run
