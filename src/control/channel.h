// A program's end of the control line to the daemon. Blocking, but never for ever: every wait has a bound.
// The shim, `corral status` and `corral shutdown` speak through it.
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

/// Takes replies out of what arrives, in pieces of any size. The bytes that follow a `Stderr` reply come as
/// its `text`.
class ReplyReader {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// Nothing = not all of it is here yet. An error = this is no daemon of ours; do not go on.
  std::optional<Result<Reply>> take();

 private:
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  void drop(std::size_t size);

  std::string buffer_;
  std::size_t begin_ = 0;    // what stands before has been taken
  std::size_t scanned_ = 0;  // no line end before this
  std::optional<Reply> waiting_for_bytes_;
};

/// What `Channel::receive` returns at the end of the connection.
Error hung_up();

class Channel {
 public:
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

  /// The descriptors travel beside the first byte; the caller keeps its own. That the daemon hung up is not
  /// an error yet: what it said before can still be received.
  Result<void> send(const Hello& hello, std::span<const int> descriptors = {});

  /// Waits for the next reply. Error::Kind::NotFound: the daemon hung up.
  Result<Reply> receive(std::chrono::milliseconds patience = std::chrono::seconds(60));

  /// Whether the last receive() failed because its patience ended: the daemon is there and says nothing.
  bool timed_out() const { return timed_out_; }

  /// For those who wait for several things at once: reads what is there, without waiting. False at the end.
  bool read_some();
  std::optional<Result<Reply>> take() { return reader_.take(); }

  /// Says that nothing more is wanted, and still hears what the daemon answers.
  void leave();

  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  ReplyReader reader_;
  bool timed_out_ = false;
};

/// Whether a descriptor can travel beside a hello: a pipe or a stream socket. Only these can be waited for
/// without blocking, and belong to the client alone. The shim asks this before it sends, the daemon before it
/// takes.
bool can_be_passed(int fd);

/// Tries every place where our daemon may be (`runtime_dir_given` alone unless it is empty) and makes sure
/// that whoever answers is the same user. Error::Kind::NotFound: none is there; any other: one may be there,
/// but cannot be spoken to.
Result<Channel> connect_to_daemon(const std::string& runtime_dir_given);

}  // namespace corral::control
