// A `corral connect` of our own, with its pipes: the way to a server, daemon or not. Its stderr is ours. It
// ends with its owner, always: it leaves when its input closes, and what does not leave is ended.
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

class ConnectChild {
 public:
  /// `words` stand behind `corral`. Both ends of the pipes that we keep never block.
  static Result<ConnectChild> start(const std::vector<std::string>& args, Interrupts& interrupts);
  ConnectChild(ConnectChild&& other) noexcept;
  ConnectChild& operator=(ConnectChild&&) = delete;
  ~ConnectChild();  // ends it

  int input() const { return input_.get(); }
  int output() const { return output_.get(); }

  /// From now on nothing that it does is worth waiting for: the end comes soon after its input is closed.
  void hurry() { hurried_ = true; }

  /// Closes its input and waits; SIGTERM and at last SIGKILL follow if it stays, or if a person presses
  /// Ctrl+C again. Returns its exit code, 128+n if signal n ended it.
  int end();

 private:
  ConnectChild(pid_t pid, Interrupts& interrupts, UniqueFd input, UniqueFd output);
  bool ends_within(std::chrono::milliseconds time);
  bool reap();
  void signal(int signo) const;

  pid_t pid_;
  Interrupts* interrupts_;
  UniqueFd pidfd_;  // invalid where the kernel has none; then it is still our unreaped child
  UniqueFd input_;
  UniqueFd output_;
  std::optional<int> exit_code_;
  bool hurried_ = false;
};

}  // namespace corral::cli
