// The handle of one server and all that it starts. Move-only. Letting go of it closes the life line, and with
// that the tree ends: a server must never outlive the object that answers for it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "keeper/lifeline.h"

namespace corral::proc {

class ProcessTree {
 public:
  struct Parts {
    std::string instance;
    pid_t keeper = 0;
    UniqueFd keeper_pidfd;  // may be invalid where the kernel has none (before 5.3)
    UniqueFd lifeline;
    std::vector<char> plan;
    std::vector<std::string> warnings;
  };

  explicit ProcessTree(Parts parts) : parts_(std::move(parts)) {}

  const std::string& instance() const { return parts_.instance; }
  pid_t keeper() const { return parts_.keeper; }
  const UniqueFd& keeper_pidfd() const { return parts_.keeper_pidfd; }
  /// What was asked for and cannot be had here, in sentences.
  const std::vector<std::string>& warnings() const { return parts_.warnings; }
  /// As the keeper got it: whoever must finish its work finds the terminators here.
  const std::vector<char>& plan() const { return parts_.plan; }

  /// Readable when an event is there or the keeper is gone.
  int events() const { return parts_.lifeline.get(); }
  /// Takes one event without waiting. The pointer is good until the next call; null = none there.
  const keeper::Event* take_event();

  /// Asks for the end: `Signal` now, `ClientGone` with a moment for a polite exit. Returns at once. A keeper
  /// that somebody has stopped goes on.
  void stop(keeper::Reason reason);
  /// For a keeper that does not get on. What it held falls to us then.
  void kill_keeper();
  /// Hands a signal to the server alone.
  void forward(int signo);

  /// Waits until the keeper has said how the tree ended; nothing if it was killed before it could.
  std::optional<keeper::Report> wait_ended();

 private:
  void send(const keeper::Command& command);

  Parts parts_;
};

}  // namespace corral::proc
