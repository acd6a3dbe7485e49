// The handle of one server and everything it starts. Move-only; used on one thread. Destroying it closes the
// lifeline, which ends the tree: a server never outlives the object that is responsible for it.
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
    UniqueFd keeper_pidfd;  // invalid on kernels without pidfds (before 5.3)
    UniqueFd lifeline;
    std::vector<char> plan;
    std::vector<std::string> warnings;
  };

  explicit ProcessTree(Parts parts) : parts_(std::move(parts)) {}

  const std::string& instance() const { return parts_.instance; }
  pid_t keeper() const { return parts_.keeper; }
  const UniqueFd& keeper_pidfd() const { return parts_.keeper_pidfd; }
  /// Sentences about requested features that are not available here.
  const std::vector<std::string>& warnings() const { return parts_.warnings; }
  /// The plan as the keeper got it, with the terminators that must run if the keeper is killed.
  const std::vector<char>& plan() const { return parts_.plan; }

  /// Readable when an event has arrived or the keeper is gone.
  int events() const { return parts_.lifeline.get(); }
  /// Reads one event without waiting; null if there is none. The pointer is valid until the next call on any
  /// tree.
  const keeper::Event* take_event();

  /// Requests the end: `Signal` at once, `ClientGone` with a short grace. Returns immediately. Also continues
  /// a keeper that was stopped with SIGSTOP.
  void stop(keeper::Reason reason);
  /// For a keeper that makes no progress. Its processes then become children of this process, if it is a
  /// subreaper.
  void kill_keeper();
  /// Sends a signal to the server only.
  void forward(int signo);

  /// Blocks until the keeper has reported how the tree ended; empty if it was killed before it could.
  std::optional<keeper::Report> wait_ended();

 private:
  void send(const keeper::Command& command);

  Parts parts_;
};

}  // namespace corral::proc
