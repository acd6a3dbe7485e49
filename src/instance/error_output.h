// Reads a server's stderr for as long as it runs, because a server whose stderr is not read would block on a
// full pipe. Keeps the last lines for the message that explains a crash. Used on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/loop.h"
#include "base/unique_fd.h"

namespace corral::instance {

class ErrorOutput {
 public:
  /// Takes the descriptor. `listener` is called from the loop and from `read_rest` with each piece that was
  /// read; it must not destroy this object.
  ErrorOutput(Loop& loop, UniqueFd fd, std::function<void(std::string_view)> listener);

  /// The last lines, at most `kTail` bytes.
  const std::string& tail() const { return tail_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Reads what is in the pipe now, without waiting.
  void read_rest();

 private:
  static constexpr std::size_t kTail = 2048;

  void wait();
  bool read_once();

  Loop& loop_;
  UniqueFd fd_;
  std::unique_ptr<Watch>
      watch_;  // destroyed before the descriptor is closed, because its number is reused at once
  std::function<void(std::string_view)> listener_;
  std::string tail_;
  std::uint64_t bytes_ = 0;
};

}  // namespace corral::instance
