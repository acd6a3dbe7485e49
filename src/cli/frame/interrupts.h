// Ctrl+C and its relatives as something to wait for, so that a session can be ended in order before we leave.
// One for the process, made before anything is started; a single thread calls it.
#pragma once

#include <csignal>

#include "base/unique_fd.h"

namespace corral::cli {

class Interrupts {
 public:
  Interrupts();

  int fd() const { return fd_.get(); }
  /// Takes what came and returns the first signal that asked us to leave; 0 = none did.
  int signal();
  /// Takes what came; whether there was anything since the last look.
  bool again();
  /// What was blocked before us: a program that we start must not inherit what we block.
  const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_{};
  UniqueFd fd_;
  int first_ = 0;
};

}  // namespace corral::cli
