// The shim's standard error: output of the server and messages of corral. SDKs pass us the client's own
// stderr, so it is never made non-blocking, and a reader that has stopped cannot block us.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace corral::shim {

class StderrWriter {
 public:
  StderrWriter();
  ~StderrWriter();  // one last attempt, bounded
  StderrWriter(const StderrWriter&) = delete;
  StderrWriter& operator=(const StderrWriter&) = delete;

  /// Queues output of the server. What exceeds the limit is dropped and counted.
  void add(std::string_view bytes);
  /// Queues "corral connect: SENTENCE" on its own line.
  void say(std::string_view sentence);

  /// The descriptor to poll with POLLOUT; -1 = nothing is queued.
  int wanted() const { return queue_.empty() ? -1 : kFd; }
  /// Call when the descriptor is writable.
  void write_some();
  std::size_t dropped() const { return dropped_; }

 private:
  static constexpr int kFd = 2;

  bool write_piece();

  std::size_t piece_;  // bytes that can be written at once without blocking
  bool socket_ = false;
  std::string queue_;
  std::size_t dropped_ = 0;
};

}  // namespace corral::shim
