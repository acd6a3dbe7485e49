// Standard error of the shim: what the server says there, and what we say. SDKs hand us the client's own
// stderr, so it is never made non-blocking, and nobody who does not read it can hold us up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corral::shim {

class ErrorOutput {
 public:
  ErrorOutput();
  ~ErrorOutput();  // a last try, bounded
  ErrorOutput(const ErrorOutput&) = delete;
  ErrorOutput& operator=(const ErrorOutput&) = delete;

  /// The server's. What finds no room is dropped and counted.
  void add(std::string_view bytes);
  /// "corral connect: …" on a line of its own.
  void say(std::string_view sentence);

  /// The descriptor to wait for with POLLOUT; -1 = nothing is waiting to be written.
  int wanted() const { return queue_.empty() ? -1 : kFd; }
  void write_some();
  std::size_t dropped() const { return dropped_; }

 private:
  static constexpr int kFd = 2;

  bool write_piece();

  std::size_t piece_;  // how much can be written at once without blocking
  bool socket_ = false;
  std::string queue_;
  std::size_t dropped_ = 0;
};

}  // namespace corral::shim
