#include "shim/daemon_connection.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <utility>

#include "control/control_socket.h"
#include "keeper/kernel.h"
#include "shim/connect.h"
#include "shim/refusal.h"
#include "shim/standard_io.h"

namespace corral::shim {
namespace {

using control::Reply;
using std::chrono::milliseconds;

constexpr milliseconds kLeavePatience{1500};  // clients give us 2 s from SIGTERM to SIGKILL
constexpr milliseconds kClientGonePatience{
    5000};  // the daemon notices it too, and ends the session in better order
constexpr milliseconds kLastOutputPatience{2000};  // for a terminal that is not read
constexpr milliseconds kHurriedOutputPatience{200};

/// A descriptor that we may copy from or to. A terminal can block a writer for as long as Ctrl+S is in
/// effect, and O_NONBLOCK on it would affect every user of it, so it is opened again. A file keeps its
/// position only through the original descriptor.
UniqueFd own_end(int fd, int access) {
  if (isatty(fd) == 1) {
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    UniqueFd again(open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (again.valid()) return again;
  }
  return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

DaemonConnection::DaemonConnection(control::ControlSocket socket, ShimSignals& signals, StderrWriter& errors,
                                   Notes notes)
    : socket_(std::move(socket)), signals_(signals), errors_(errors), notes_(notes) {}

Result<int> DaemonConnection::run(control::Hello hello, Time until) {
  quiet_ = hello.quiet;
  const Result<void> introduced = introduce(std::move(hello));
  if (!introduced) return introduced.error();
  deadline_ = until;
  while (!without_daemon_ && (!code_ || !output_.done())) {
    wait();
    check_deadline();
  }
  if (without_daemon_) return *without_daemon_;
  if (errors_.dropped() > 0) {
    note(std::to_string(errors_.dropped()) +
         " bytes of the server's stderr were dropped, because the reader did not keep up");
  }
  return *code_;
}

/// The descriptor to pass in place of 0 or 1: the same one, or one end of a new pipe. Nothing is read from it
/// before the daemon has accepted the session.
Result<int> DaemonConnection::passable(int fd) {
  if (control::can_be_passed(fd)) return fd;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("cannot create a pipe: ") + strerror(errno)};
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const bool in = fd == STDIN_FILENO;
  UniqueFd& ours = in ? write_end : read_end;
  UniqueFd& theirs = in ? read_end : write_end;
  fcntl(ours.get(), F_SETFL, fcntl(ours.get(), F_GETFL) | O_NONBLOCK);
  if (in) {
    input_ = Copier(own_end(fd, O_RDONLY), std::move(ours));
  } else {
    output_ = Copier(std::move(ours), own_end(fd, O_WRONLY));
  }
  handed_over_.push_back(std::move(theirs));
  return handed_over_.back().get();
}

Result<void> DaemonConnection::introduce(control::Hello hello) {
  const Result<int> in = passable(STDIN_FILENO);
  if (!in) return in.error();
  const Result<int> out = passable(STDOUT_FILENO);
  if (!out) return out.error();
  hello.descriptors = {"input", "output"};
  std::vector<int> descriptors = {*in, *out};
  // An error means that the client is already gone. Then its pipes report the end, and a file ends anyway.
  if (Result<run::ClientWatch> watch = run::ClientWatch::start()) client_ = std::move(*watch);
  if (client_.fd() >= 0) {
    hello.descriptors.emplace_back("client");
    descriptors.push_back(client_.fd());
  }
  Result<void> sent = socket_.send(hello, descriptors);
  handed_over_.clear();  // our copies would keep the pipe open after the daemon has closed it
  return sent;
}

void DaemonConnection::wait() {
  const bool copies = accepted_;
  pollfd wake[] = {
      {signals_.fd(), POLLIN, 0},
      {connected_ ? socket_.fd() : -1, POLLIN, 0},
      {errors_.wanted(), POLLOUT, 0},
      {client_.fd(), POLLIN, 0},
      copies ? input_.wanted() : pollfd{-1, 0, 0},
      copies ? output_.wanted() : pollfd{-1, 0, 0},
  };
  if (poll(wake, std::size(wake), milliseconds_left()) <= 0) return;
  if (wake[5].revents != 0) output_.advance();
  if (wake[4].revents != 0) input_.advance();
  if (wake[2].revents != 0) errors_.write_some();
  if (wake[3].revents != 0) {  // before the daemon's word about it
    client_.stop();
    if (!leaving_ && !code_) set_deadline(kClientGonePatience);
  }
  if (wake[1].revents != 0) hear();
  if (wake[0].revents != 0) signals_.read_all();
  if (signals_.leaving() == 0 || leaving_ || code_) return;
  leaving_ = true;
  if (!accepted_) return end(kSignalled + signals_.leaving());
  socket_.leave();
  set_deadline(kLeavePatience);
}

void DaemonConnection::hear() {
  connected_ = socket_.read_some();
  while (!code_ && !without_daemon_) {
    const std::optional<Result<Reply>> reply = socket_.take();
    if (!reply) break;
    if (*reply) {
      handle(**reply);
    } else if (accepted_) {
      errors_.say(reply->error().message);
      end(kDaemonDied);
    } else {
      go_without(reply->error().message);
    }
  }
  if (!connected_ && !code_ && !without_daemon_) lose_daemon();
}

void DaemonConnection::handle(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::Accepted: return begin_session(reply);
    case Reply::Kind::RunIt:
      return go_without(reply.text,
                        reply.is_from_ending_daemon() ? Error::Kind::NotFound : Error::Kind::Failure);
    case Reply::Kind::Refused: return refuse(reply);
    case Reply::Kind::Note: return errors_.say(reply.text);
    case Reply::Kind::Stderr: return errors_.add(reply.text);
    case Reply::Kind::Status:
    case Reply::Kind::Result: return;
    case Reply::Kind::Exit:
      // Its requests were answered with the same reason.
      if (!reply.text.empty() && !quiet_) errors_.say(reply.text);
      return end(leaving_ ? kSignalled + signals_.leaving() : reply.code);
  }
}

void DaemonConnection::begin_session(const Reply& reply) {
  const bool goes_on = std::exchange(accepted_, true);
  if (!leaving_) deadline_.reset();
  if (goes_on) return note("the session goes on with another process of the client");
  note("the daemon (corral " + reply.version + ") accepted the session");
  // The daemon has its own copies. The copies that remember the flags stay until we exit, right after the
  // daemon closes its own.
  keeper::let_go(STDIN_FILENO, O_RDONLY);
  keeper::let_go(STDOUT_FILENO, O_WRONLY);
}

/// If the daemon speaks an incompatible protocol, the client can still be served without it.
void DaemonConnection::refuse(const Reply& reply) {
  if (reply.code == control::kWrongProtocol) return go_without(reply.text);
  if (!quiet_) errors_.say(reply.text);
  const bool told = answer_refused({STDIN_FILENO, STDOUT_FILENO, signals_.fd()}, reply.text);
  if (quiet_ && !told) errors_.say(reply.text);
  end(reply.code);
}

void DaemonConnection::lose_daemon() {
  if (leaving_) return end(kSignalled + signals_.leaving());
  if (!accepted_)
    return go_without("the daemon closed the connection before it accepted the session",
                      Error::Kind::NotFound);
  errors_.say(
      "the daemon died, and its servers ended with it: start the session again (exit code 75), and see "
      "`corral status`");
  end(kDaemonDied);
}

void DaemonConnection::check_deadline() {
  if (!deadline_ || std::chrono::steady_clock::now() < *deadline_) return;
  deadline_.reset();
  if (code_) {
    output_ = Copier();  // the rest has no reader
  } else if (leaving_) {
    end(kSignalled + signals_.leaving());
  } else if (!accepted_) {
    go_without("the daemon does not answer");
  } else {
    end(kSignalled + SIGHUP);  // the client is gone, and the daemon has not noticed
  }
}

void DaemonConnection::end(int code) {
  code_ = code;
  input_ = Copier();
  if (!accepted_) output_ = Copier();
  set_deadline(leaving_ ? kHurriedOutputPatience : kLastOutputPatience);
}

void DaemonConnection::go_without(std::string why, Error::Kind kind) {
  without_daemon_ = Error{std::move(why), kind};
}

int DaemonConnection::milliseconds_left() const {
  if (!deadline_) return -1;
  const auto left =
      std::chrono::duration_cast<milliseconds>(*deadline_ - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left + 1, 0));
}

void DaemonConnection::set_deadline(milliseconds after) {
  deadline_ = std::chrono::steady_clock::now() + after;
}

void DaemonConnection::note(const std::string& sentence) {
  if (notes_ == Notes::OnStderr) errors_.say(sentence);
}

}  // namespace corral::shim
