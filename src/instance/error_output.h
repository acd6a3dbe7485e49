// Reads a server's stderr for as long as it lives: a server that nobody listens to would block on a full
// pipe. Keeps the last lines, for the sentence that explains a crash.
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
  ErrorOutput(Loop& loop, UniqueFd fd, std::function<void(std::string_view)> listener);

  /// The last lines, at most `kTail` bytes.
  const std::string& tail() const { return tail_; }
  std::uint64_t bytes() const { return bytes_; }
  /// Takes what is in the pipe now, without waiting.
  void read_rest();

 private:
  static constexpr std::size_t kTail = 2048;

  void wait();
  bool read_once();

  Loop& loop_;
  UniqueFd fd_;
  std::unique_ptr<Watch> watch_;  // gone before the descriptor is: its number goes to somebody else at once
  std::function<void(std::string_view)> listener_;
  std::string tail_;
  std::uint64_t bytes_ = 0;
};

}  // namespace corral::instance
