// A question to the daemon whose answer is waited for beside other things: keys, signals, the clock.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "control/channel.h"
#include "control/hello.h"

namespace corral::cli {

class PendingAnswer {
 public:
  using Clock = std::chrono::steady_clock;

  /// Error::Kind::NotFound: no daemon runs.
  static Result<PendingAnswer> ask(const std::string& runtime_dir, control::Hello hello,
                                   std::chrono::milliseconds patience);

  int fd() const { return channel_.fd(); }
  Clock::time_point deadline() const { return deadline_; }

  /// The answer as JSON, or why there is none; nothing = not yet. Does not wait.
  std::optional<Result<std::string>> take();

 private:
  PendingAnswer(control::Channel channel, Clock::time_point deadline)
      : channel_(std::move(channel)), deadline_(deadline) {}

  control::Channel channel_;
  Clock::time_point deadline_;
};

}  // namespace corral::cli
