// The client side of a connection to the daemon's control socket. The shim and DaemonRequest use it. Calls
// block, but every wait has a limit. One thread; it owns the socket and closes it when destroyed.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "control/hello.h"

namespace corral::control {

/// Splits the received bytes into replies; the pieces may have any size. The bytes that follow a `Stderr`
/// reply become its `text`.
class ReplyReader {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// Nothing = the next reply is not complete yet. An error = the peer is not a corral daemon; do not call
  /// this again.
  std::optional<Result<Reply>> take();

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  void drop(std::size_t size);

  std::string buffer_;
  std::size_t begin_ = 0;    // bytes before this have been returned
  std::size_t scanned_ = 0;  // no line end before this
  std::optional<Reply> waiting_for_bytes_;
};

/// The error of `ControlSocket::receive` after the daemon has closed the connection.
Error hung_up();

class ControlSocket {
 public:
  explicit ControlSocket(UniqueFd socket) : socket_(std::move(socket)) {}

  /// The descriptors are sent with the first byte; the caller keeps its own copies. If the daemon has already
  /// closed the connection, this is not an error: its last replies can still be received.
  Result<void> send(const Hello& hello, std::span<const int> descriptors = {});

  /// Waits for the next reply. Error::Kind::NotFound: the daemon closed the connection.
  Result<Reply> receive(std::chrono::milliseconds patience = std::chrono::seconds(60));

  /// Whether the last receive() failed because the time was up: the daemon is connected but does not answer.
  bool timed_out() const { return timed_out_; }

  /// For callers that wait for several descriptors: reads what has arrived, without waiting. False when the
  /// connection has ended.
  bool read_some();
  std::optional<Result<Reply>> take() { return reader_.take(); }

  /// Closes the sending direction. Replies can still be received.
  void leave();

  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  ReplyReader reader_;
  bool timed_out_ = false;
};

/// Whether a descriptor may be sent with a hello: a pipe or a stream socket. Only these can be polled without
/// blocking and belong to one client. The shim checks before it sends, the daemon before it accepts.
bool can_be_passed(int fd);

/// Tries every runtime directory of this user (only `runtime_dir_given` unless it is empty) and checks that
/// the process that listens there runs as the same user. Error::Kind::NotFound: no daemon listens. Any other
/// error: one may be listening, but the connection failed.
Result<ControlSocket> connect_to_daemon(const std::string& runtime_dir_given);

}  // namespace corral::control
