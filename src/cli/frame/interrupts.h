// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a descriptor to wait for, so that a command can end its session
// before it exits. At most one object for the process, made before any thread or child is started; one thread
// calls it.
#pragma once

#include <csignal>

#include "base/unique_fd.h"

namespace corral::cli {

class Interrupts {
 public:
  Interrupts();

  int fd() const { return fd_.get(); }
  /// Reads all pending signals and returns the first one ever received; 0 = none.
  int signal();
  /// Reads all pending signals; true if there was a new one since the last call.
  bool again();
  /// The signal mask from before, for child processes: they must not inherit ours.
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
  UniqueFd fd_;
  int first_ = 0;
};

}  // namespace corral::cli
