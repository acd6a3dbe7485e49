#include "keeper/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>

#include "keeper/cgroup_files.h"
#include "keeper/proc_fs.h"
#include "keeper/terminator.h"

namespace corral::keeper {
namespace {

constexpr Micros kUnreadPeriod{20'000};  // unread input can only be polled
constexpr Micros kYieldPeriod{50'000};   // keepers that are not our children can only be polled
constexpr int kMostSignals = 64;         // per round: in a storm every read could find another one

int make_signalfd() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signo : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, signo);
  return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

Keeper::Keeper(Plan& plan)
    : plan_(plan), ending_(plan.header.graces), sweep_(report_), watchdog_(plan.header, report_) {
  memcpy(report_.instance, plan.header.instance, sizeof report_.instance);
  report_.level = {*plan.cgroup != '\0', plan.header.pid_namespace != 0};
}

int Keeper::run() {
  helper_ = file_id("/proc/self/exe");
  signals_ = make_signalfd();
  become_subreaper();
  watch_owner();
  start();
  wait_for_end();
  if (start_failed_) return 1;
  finish();
  if (gave_up_) linger();
  return 0;
}

// ---- starting

void Keeper::start() {
  started_ = now();
  stdin_open_ = plan_.header.watch_stdin != 0;
  stdout_open_ = plan_.header.watch_stdout != 0;
  next_look_ = now() + LimitWatchdog::kPeriod;
  event_.rlimit_tag = plan_.header.rlimit_tag;
  const LaunchFailure failure = launch();
  if (failure.stage != Stage::None) fail_start(failure);
}

/// Returns when the child exists. `launch_line_` tells whether it became the server: exec can hang as long as
/// a file system does, and the keeper must react to everything else in that time.
LaunchFailure Keeper::launch() {
  int failures[2];
  if (pipe2(failures, O_CLOEXEC) != 0) return {Stage::Fork, errno};
  LaunchFailure failure{};
  if (plan_.header.pid_namespace != 0) {
    failure = probe_namespace(plan_);
    if (failure.stage == Stage::None) {
      failure = start_in_namespace(plan_, event_.rlimit_tag, failures[1], init_);
    }
  } else {
    server_ = fork_into_cgroup(plan_, 0);
    if (server_ == 0) become_server(plan_, event_.rlimit_tag, failures[1]);
    if (server_ < 0) failure = {Stage::Fork, errno};
  }
  close(failures[1]);
  launch_line_ = failures[0];
  return failure;
}

void Keeper::read_launch_line() {
  LaunchFailure failure{};
  const bool failed = read(launch_line_, &failure, sizeof failure) == sizeof failure;
  close(launch_line_);
  launch_line_ = -1;
  if (!failed) {
    if (plan_.header.watch_stdout == 0) let_go(STDOUT_FILENO, O_WRONLY);
    event_.server = server_;
    if (init_.pid > 0) note_server();
    tell(Event::Kind::Started);
  } else if (failure.stage == Stage::Cgroup) {
    start_without_cgroup();
  } else {
    fail_start(failure);
  }
}

/// A server that exits as soon as its input ends may be gone before the namespace is listed.
void Keeper::note_server() {
  pid_t inside[8];
  const auto first = [](pid_t, void*) { return Step::Stop; };
  if (walk_below(init_.pid, inside, first, nullptr) > 0 && read_comm(inside[0], seen_.comm))
    seen_.pid = inside[0];
}

/// Handles a child that could not become the server and exits: it reported why first, but perhaps only after
/// the last look at the line.
void Keeper::look_at_launch_line() {
  pollfd line{launch_line_, POLLIN, 0};
  if (poll(&line, 1, 0) == 1) read_launch_line();
}

/// The group could be created but not entered, for example below a threaded group. The keeper can hold the
/// tree without it.
void Keeper::start_without_cgroup() {
  sweep_.kill_all(0, plan_.header.graces.kill, Sweep::Record::Leader);
  remove_cgroup(plan_.cgroup);
  plan_.cgroup = "";
  report_.level.cgroup = false;
  watchdog_.take_over();
  empty_ = report_.server_status_known = false;  // the child that failed may have been reaped already
  const LaunchFailure failure = launch();
  if (failure.stage != Stage::None) fail_start(failure);
}

void Keeper::fail_start(const LaunchFailure& failure) {
  start_failed_ = true;
  report_.proved_empty = sweep_.kill_all(0, plan_.header.graces.kill, Sweep::Record::Leader);
  remove_cgroup(plan_.cgroup);
  write_report_line();
  event_.stage = failure.stage;
  event_.error = failure.error;
  tell(Event::Kind::Failed);
}

/// The lifeline also reports the owner's death. The pidfd is a second source, in case another process has
/// inherited a copy of the other end.
void Keeper::watch_owner() {
  owner_ = pidfd_open(plan_.header.owner);
  if (getppid() != plan_.header.owner) _exit(0);  // gone before we looked; nothing has been started yet
  if (owner_ >= 0) fcntl(owner_, F_SETFD, FD_CLOEXEC);
}

// ---- waiting

void Keeper::wait_for_end() {
  while (!empty_ && !gave_up_ && !start_failed_) {
    pollfd wake[] = {
        {signals_, POLLIN, 0},
        {owner_reachable_ ? kLifelineFd : -1, POLLIN | POLLRDHUP, 0},
        {owner_reachable_ ? owner_ : -1, POLLIN, 0},
        {init_.line, POLLIN, 0},
        {launch_line_, POLLIN, 0},
        // A half-closed socket pair gives only RDHUP, a pipe only HUP.
        {stdin_open_ ? STDIN_FILENO : -1, POLLRDHUP, 0},
        {stdout_open_ ? STDOUT_FILENO : -1, 0, 0},
    };
    poll(wake, std::size(wake), next_wake());
    if (wake[0].revents != 0) read_signals();
    if (wake[1].revents != 0) read_lifeline();
    if (wake[2].revents != 0 && owner_reachable_) {
      owner_reachable_ = false;
      act(ending_.owner_gone(now()));
    }
    if (wake[3].revents != 0) read_init_line();
    if (wake[4].revents != 0) read_launch_line();
    if (start_failed_) return;
    if (wake[5].revents != 0) look_at_stdin(wake[5].revents);
    if (wake[6].revents != 0) look_at_stdout(wake[6].revents);
    look_at_limits();
    list_at_the_end();
    const Micros at = now();  // one time for both calls, so that `below` is known whenever `tick` needs it
    act(ending_.tick(at, input(), below(at)));
    look_at_children();
  }
}

int Keeper::next_wake() const {
  std::optional<Micros> wake = ending_.deadline();
  const auto sooner = [&wake](Micros at) { wake = wake ? std::min(*wake, at) : at; };
  if (watchdog_.watching() && ending_.phase() == Ending::Phase::Open) sooner(next_look_);
  if (input() == Ending::Input::Unread) sooner(now() + kUnreadPeriod);
  if (ending_.phase() == Ending::Phase::Yielding) sooner(now() + kYieldPeriod);
  if (sweep_.more()) sooner(now());
  if (!wake) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*wake - now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

void Keeper::read_signals() {
  signalfd_siginfo info{};
  for (int i = 0; i < kMostSignals && read(signals_, &info, sizeof info) == sizeof info; ++i) {
    if (info.ssi_signo != SIGCHLD) act(ending_.demanded(Reason::Signal, now()));
  }
}

void Keeper::read_lifeline() {
  Command command{};
  const ssize_t got = recv(kLifelineFd, &command, sizeof command, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got != sizeof command) {
    owner_reachable_ = false;
    act(ending_.owner_gone(now()));
  } else if (command.kind == Command::Kind::Forward) {
    signal_server(command.signo);
  } else if (command.reason == Reason::ClientGone) {
    act(ending_.client_gone(command.reason, now()));
  } else {
    act(ending_.demanded(command.reason, now()));
  }
}

void Keeper::read_init_line() {
  int status = 0;
  const ssize_t got = recv(init_.line, &status, sizeof status, MSG_DONTWAIT);
  if (got == sizeof status) {
    report_.server_status = status;
    report_.server_status_known = true;
  } else if (got == 0) {
    // The namespace's init is exiting. Reaping it reports the rest, but that can take as long as a process
    // inside hangs.
    close(init_.line);
    init_.line = -1;
  }
}

/// A forwarded signal goes to the server only; inside a namespace only the init knows its pid.
void Keeper::signal_server(int signo) {
  if (server_gone_) return;
  if (server_ > 0) kill(server_, signo);
  if (init_.line >= 0) send(init_.line, &signo, sizeof signo, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Handles a server that exits because its client did: the client closed its pipes first, but perhaps only
/// after the last look at them.
void Keeper::look_at_pipes() {
  pollfd pipes[] = {
      {stdin_open_ ? STDIN_FILENO : -1, POLLRDHUP, 0},
      {stdout_open_ ? STDOUT_FILENO : -1, 0, 0},
  };
  poll(pipes, std::size(pipes), 0);
  look_at_stdin(pipes[0].revents);
  look_at_stdout(pipes[1].revents);
}

void Keeper::look_at_stdin(short events) {
  if ((events & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL)) == 0) return;
  stdin_open_ = false;
  act(ending_.stdin_closed(now()));
}

void Keeper::look_at_stdout(short events) {
  if ((events & (POLLHUP | POLLERR | POLLNVAL)) == 0) return;
  stdout_open_ = false;
  act(ending_.client_gone(Reason::StdoutClosed, now()));
}

void Keeper::look_at_limits() {
  if (!watchdog_.watching() || ending_.phase() != Ending::Phase::Open || now() < next_look_) return;
  next_look_ = now() + LimitWatchdog::kPeriod;
  if (watchdog_.exceeded(getpid())) act(ending_.demanded(Reason::Watchdog, now()));
}

/// Reaps all the time, not only at the end: a server that forks without waiting would fill the process table.
void Keeper::look_at_children() {
  if (empty_) return;
  const bool ending = ending_.phase() != Ending::Phase::Open;
  const bool list = ending && init_.pid == 0;
  empty_ = sweep_.reap(server_, list ? Sweep::Record::Everybody : Sweep::Record::Leader);
  if (empty_ && init_.pid > 0) read_init_line();  // its last message may have come after the last read
  if (empty_ || report_.server_status_known) look_at_launch_line();
  if (start_failed_) return;
  if (report_.server_status_known && !server_gone_) {
    server_gone_ = true;
    look_at_pipes();
    let_go_of_client();
    act(ending_.server_exited(now()));
  } else if (ending_.phase() == Ending::Phase::Terminating && init_.pid == 0 && !sweep_.more()) {
    sweep_.terminate();  // children adopted since; in a storm there are too many
  } else if (ending_.phase() == Ending::Phase::Yielding) {
    kill_all_but_keepers();
  }
  if (empty_) act(ending_.server_exited(now()));  // the namespace's init may have taken the server with it
}

Ending::Input Keeper::input() const {
  if (ending_.phase() != Ending::Phase::Draining || server_gone_ || plan_.header.watch_stdin == 0)
    return Ending::Input::Read;
  int bytes = 0;
  const bool unread = ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
  return unread ? Ending::Input::Unread : Ending::Input::Read;
}

/// Whether another corral runs inside the tree. The namespace's init executes our own file but is not a
/// keeper, nor is a child that has not executed the server yet.
Ending::Below Keeper::below(Micros at) const {
  if (!ending_.wants_below(at) || launch_line_ >= 0) return Ending::Below::Nobody;
  const pid_t root = init_.pid > 0 ? init_.pid : getpid();
  return any_keeper_below(root, helper_) ? Ending::Below::Keepers : Ending::Below::Nobody;
}

// ---- ending

void Keeper::act(Ending::Action action) {
  switch (action) {
    case Ending::Action::None: return;
    case Ending::Action::Terminate: return terminate_tree();
    case Ending::Action::Yield: return kill_all_but_keepers();
    case Ending::Action::Kill: return kill_tree();
    case Ending::Action::GiveUp: gave_up_ = true;
  }
}

void Keeper::terminate_tree() {
  if (init_.pid > 0) {
    list_namespace(SIGTERM);
    kill(init_.pid, SIGTERM);
    return;
  }
  sweep_.terminate();
}

/// Keepers below end their own trees and run their terminators. Their processes must not be signalled here,
/// and cgroup.kill would hit them. In a namespace single processes cannot be killed from outside.
void Keeper::kill_all_but_keepers() {
  if (init_.pid > 0) return;
  sweep_.terminate();  // a janitor that was just adopted has not received SIGTERM yet
  sweep_.kill_except(
      [](pid_t pid, void* self) { return is_keeper(pid, static_cast<const Keeper*>(self)->helper_); }, this);
}

/// Blocks for the grace at most: nothing that could arrive in that time would change what has to be done.
void Keeper::kill_tree() {
  const bool list = init_.pid == 0;
  if (!list) list_namespace(SIGKILL);
  kill_cgroup(plan_.cgroup);
  // The clock starts here, so that looking for keepers and listing the tree does not count as the kernel's
  // time.
  const Micros patience = plan_.header.graces.kill;
  empty_ = sweep_.kill_all(server_, patience, list ? Sweep::Record::Everybody : Sweep::Record::Leader);
  if (!empty_) act(ending_.tick(std::max(now(), *ending_.deadline()), Ending::Input::Read));
  if (empty_ && init_.pid > 0) {
    read_init_line();
    if (!report_.server_status_known) {  // still alive when the kernel ended the namespace
      report_.server_status = SIGKILL;
      report_.server_status_known = true;
    }
  }
}

/// Lists the processes that were alive when the end began, including those that will exit by themselves.
void Keeper::list_at_the_end() {
  if (init_.pid > 0 && listed_at_ == Micros(0) && ending_.phase() != Ending::Phase::Open) list_namespace(0);
}

/// Processes in a namespace are reaped inside it, so they must be listed while they are alive. Listing a
/// large tree takes a while: a recent list is only updated, and in a storm the list stays short.
void Keeper::list_namespace(int signal) {
  constexpr Micros kMoment{50'000};
  constexpr Micros kListing{10'000};
  if (now() - listed_at_ > kMoment) {
    static pid_t inside[8192];
    Micros until = used_time() + kListing;
    const std::size_t count = walk_below(
        init_.pid, inside,
        [](pid_t, void* end) { return used_time() < *static_cast<Micros*>(end) ? Step::Into : Step::Stop; },
        &until);
    until += kListing;
    for (std::size_t i = 0; i < count && report_.ended_listed < kListedProcesses && used_time() < until;
         ++i) {
      char comm[16];
      if (read_comm(inside[i], comm)) record_ended(report_, inside[i], comm, 0);
    }
    report_.ended_total = std::max(report_.ended_total, static_cast<std::uint32_t>(count));
    listed_at_ = now();
  }
  for (std::uint32_t i = 0; i < report_.ended_listed; ++i) {
    const EndedProcess& process = report_.ended[i];
    if (kill(process.pid, 0) == 0) record_ended(report_, process.pid, process.comm, signal);
  }
}

/// The client must see its pipes close when the server is gone, not when the keeper is.
void Keeper::let_go_of_client() {
  stdin_open_ = stdout_open_ = false;
  let_go(STDIN_FILENO, O_RDONLY);
  let_go(STDOUT_FILENO, O_WRONLY);
}

void Keeper::finish() {
  report_.proved_empty = empty_;
  report_.reason = ending_.reason();
  report_.end_took = now() - ending_.began();
  report_.uptime = now() - started_;
  let_go_of_client();
  if (report_.ended_total == 0 && report_.server_status_known) record_server();
  if (gave_up_) sweep_.list_survivors();
  read_cgroup_limits();
  remove_cgroup(plan_.cgroup);
  run_terminators(plan_, sweep_, report_);
  write_report_line();
  tell(Event::Kind::Ended);
}

/// The server has ended, but was not in any list. If it was never seen, it is only counted.
void Keeper::record_server() {
  const int status = report_.server_status;
  if (seen_.pid > 0) {
    record_ended(report_, seen_.pid, seen_.comm, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  } else {
    report_.ended_total = 1;
  }
}

void Keeper::write_report_line() {
  if (plan_.header.report == 0) return;
  event_.report_lost = !write_report(kReportFd, report_);
  close(kReportFd);
}

void Keeper::read_cgroup_limits() {
  for (std::uint32_t i = 0; i < report_.limits; ++i) {
    LimitState& limit = report_.limit[i];
    if (limit.by == Enforcer::Cgroup) limit.exceeded = cgroup_limit_hit(plan_.cgroup, limit.name);
  }
}

/// Some process could not be ended. No caller waits for it any more, but without a parent that reaps it would
/// stay a zombie, and it may become killable later.
void Keeper::linger() {
  let_go(STDERR_FILENO, O_WRONLY);
  while (!sweep_.kill_all(0, Micros(0), Sweep::Record::Leader)) poll(nullptr, 0, sweep_.more() ? 0 : 1000);
  remove_cgroup(plan_.cgroup);
}

void Keeper::tell(Event::Kind kind) {
  event_.kind = kind;
  event_.level = report_.level;
  event_.report = report_;
  send(kLifelineFd, &event_, sizeof event_, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace corral::keeper
