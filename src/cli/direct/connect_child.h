// A child process `corral connect` and its pipes: the way to a server, with or without a daemon. It shares
// our stderr. It always ends with this object: the destructor closes its input and ends it if it does not
// exit.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/frame/interrupts.h"

namespace corral::cli {

/// What the child does not get from us.
struct ChildPlace {
  std::vector<std::string> environment;  // "NAME=value"
  int error_output;                      // its stderr
};

class ConnectChild {
 public:
  /// Runs `corral ARGS...`. Our ends of the pipes do not block. `interrupts` must outlive the object: a
  /// second Ctrl+C shortens the waiting in `end`. `place` null: our environment and our stderr.
  static Result<ConnectChild> start(const std::vector<std::string>& args, Interrupts& interrupts,
                                    const ChildPlace* place = nullptr);
  ConnectChild(ConnectChild&& other) noexcept;
  ConnectChild& operator=(ConnectChild&&) = delete;
  ~ConnectChild();  // ends it

  int input() const { return input_.get(); }
  int output() const { return output_.get(); }

  /// Its output is no longer wanted: `end` waits only briefly before it sends signals.
  void hurry() { hurried_ = true; }

  /// Closes its input and waits for its exit. If it does not exit, or the user presses Ctrl+C again, it gets
  /// SIGTERM and then SIGKILL. Returns its exit code, or 128+n if signal n ended it. May be called again.
  int end();

 private:
  ConnectChild(pid_t pid, Interrupts& interrupts, UniqueFd input, UniqueFd output);
  bool ends_within(std::chrono::milliseconds time);
  bool reap();
  void signal(int signo) const;

  pid_t pid_;
  Interrupts* interrupts_;
  UniqueFd
      pidfd_;  // invalid on kernels without pidfds; then the pid is used, which is safe until it is reaped
  UniqueFd input_;
  UniqueFd output_;
  std::optional<int> exit_code_;
  bool hurried_ = false;
};

}  // namespace corral::cli
