#include "shim/autostart.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <optional>

#include "base/log_file.h"
#include "base/text.h"
#include "control/runtime_dir.h"
#include "keeper/kernel.h"
#include "shim/daemon_process.h"

namespace corral::shim {
namespace {

using control::ControlSocket;
using std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

constexpr milliseconds kShortestPause{1};
constexpr milliseconds kLongestPause{50};

/// Pauses between attempts: short at first, never long, and never beyond the deadline.
class Pauses {
 public:
  Pauses(ShimSignals& signals, Time until) : signals_(signals), until_(until) {}

  bool over() const { return signals_.leaving() != 0 || std::chrono::steady_clock::now() >= until_; }

  /// Ends early when `fd` is readable (-1 = none); returns whether it is.
  bool pause(int fd = -1) {
    pollfd wake[] = {{fd, POLLIN, 0}, {signals_.fd(), POLLIN, 0}};
    const int ready = poll(wake, std::size(wake), static_cast<int>(next_.count()));
    next_ = std::min(next_ * 2, kLongestPause);
    if (ready > 0 && wake[1].revents != 0) signals_.read_all();
    return ready > 0 && wake[0].revents != 0;
  }

 private:
  ShimSignals& signals_;
  const Time until_;
  milliseconds next_ = kShortestPause;
};

Result<void> find_place(const std::string& given, std::string& runtime_dir) {
  Error first{""};
  for (const std::string& place : control::candidates(given, geteuid())) {
    const Result<void> ready = control::ensure_runtime_dir(place);
    if (ready) {
      runtime_dir = place;
      return {};
    }
    if (first.message.empty()) first = ready.error();
  }
  return first;
}

/// Held while a daemon is being started. A process that does not get the lock keeps trying to connect.
class StartingLock {
 public:
  static Result<StartingLock> open(const std::string& runtime_dir) {
    const std::string path = control::starting_path(runtime_dir);
    StartingLock lock;
    lock.file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (lock.file_.valid()) return lock;
    return Error{"'" + path + "' cannot be opened: " + strerror(errno)};
  }

  bool take() { return flock(file_.get(), LOCK_EX | LOCK_NB) == 0; }

 private:
  UniqueFd file_;
};

/// The last line that was written after `since`, made printable.
std::string last_line(int log, off_t since) {
  constexpr off_t kTail = 1024;
  const off_t end = lseek(log, 0, SEEK_END);
  const off_t begin = std::max(since, end - kTail);
  if (end <= begin) return "";
  std::string text(static_cast<std::size_t>(end - begin), '\0');
  const ssize_t size = pread(log, text.data(), text.size(), begin);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  return printable(text);
}

Error not_started(int log, off_t since, const std::string& runtime_dir, const std::string& what) {
  const std::string line = last_line(log, since);
  return Error{"the daemon " + what + (line.empty() ? "" : " (" + line + ")") + "; see " +
               control::log_path(runtime_dir)};
}

/// Ends a systemd-run that hangs. True = it has been ended, and there is no daemon.
bool end_question(const StartedDaemon& daemon) {
  constexpr int kUntilItIsGoneMs = 1000;
  if (!still_asks_manager(daemon)) return false;
  keeper::pidfd_send_signal(daemon.pidfd.get(), SIGKILL);
  pollfd gone{daemon.pidfd.get(), POLLIN, 0};
  return poll(&gone, 1, kUntilItIsGoneMs) == 1;
}

/// Starts a daemon and waits for it. Empty if the start through the service manager failed; `said` is then
/// the last line in the log, from systemd-run or from the daemon itself.
std::optional<Result<ControlSocket>> try_start(const DaemonCommand& command, int log, ShimSignals& signals,
                                               Pauses& pauses, std::string& said) {
  constexpr std::chrono::seconds kManagersTime{
      3};  // part of the total time, so that the direct start has some left
  const off_t since = lseek(log, 0, SEEK_END);
  const Result<StartedDaemon> daemon = start_daemon(command, log);
  if (!daemon) return Result<ControlSocket>(daemon.error());
  const Time manager_until = std::chrono::steady_clock::now() + kManagersTime;
  while (!pauses.over()) {
    const bool exited = pauses.pause(daemon->pidfd.get());
    Result<ControlSocket> socket = control::connect_to_daemon(command.runtime_dir);
    if (socket) return socket;
    const bool late = daemon->by_manager && std::chrono::steady_clock::now() >= manager_until;
    if (daemon->by_manager && (exited || (late && end_question(*daemon)))) {
      said = exited ? last_line(log, since) : "systemd-run did not respond in time";
      return std::nullopt;
    }
    if (exited) {
      return Result<ControlSocket>(
          not_started(log, since, command.runtime_dir, "exited right after it was started"));
    }
  }
  if (signals.leaving() != 0) return Result<ControlSocket>(Error{"interrupted by a signal"});
  return Result<ControlSocket>(
      not_started(log, since, command.runtime_dir, "was started but does not answer"));
}

/// The direct start may fail for a different reason than the start by the service manager, and either may be
/// the one to fix.
Error both_reasons(const Error& second, const std::string& first) {
  if (first.empty() || second.message.find(first) != std::string::npos) return second;
  return Error{second.message + "; the earlier start by the service manager failed: " + first, second.kind};
}

Result<ControlSocket> start_and_connect(const DaemonPlace& place, const std::string& runtime_dir,
                                        ShimSignals& signals, Pauses& pauses) {
  const std::string log_path = control::log_path(runtime_dir);
  const UniqueFd log = open_log_file(log_path);
  if (!log.valid()) return Error{"the daemon's log '" + log_path + "' cannot be opened: " + strerror(errno)};
  DaemonCommand command{runtime_dir, place.config_file};
  std::string said;
  std::optional<Result<ControlSocket>> socket = try_start(command, log.get(), signals, pauses, said);
  if (socket) return std::move(*socket);
  command.ask_manager = false;
  std::string nothing;
  socket = try_start(command, log.get(), signals, pauses, nothing);
  if (socket && *socket) return std::move(*socket);
  return both_reasons(socket ? socket->error() : Error{"cannot start a daemon; see " + log_path}, said);
}

}  // namespace

Result<ControlSocket> reach_daemon(const DaemonPlace& place, Time until, ShimSignals& signals,
                                   StderrWriter& errors) {
  Result<ControlSocket> socket = control::connect_to_daemon(place.runtime_dir);
  // If a daemon exists but cannot be talked to, starting another one would not help.
  if (socket || socket.error().kind != Error::Kind::NotFound) return socket;
  std::string runtime_dir;
  const Result<void> found = find_place(place.runtime_dir, runtime_dir);
  if (!found) return found.error();
  Result<StartingLock> lock = StartingLock::open(runtime_dir);
  if (!lock) return lock.error();
  Pauses pauses(signals, until);
  while (!lock->take()) {
    if (pauses.over()) return Error{"another process has been trying to start a daemon for too long"};
    pauses.pause();
    socket = control::connect_to_daemon(place.runtime_dir);
    if (socket) return socket;
  }
  socket = control::connect_to_daemon(place.runtime_dir);
  if (socket) return socket;
  if (place.verbose) errors.say("starting a daemon in " + runtime_dir);
  return start_and_connect(place, runtime_dir, signals, pauses);
}

}  // namespace corral::shim
