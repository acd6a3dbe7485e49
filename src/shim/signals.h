// The shim's signals, read one at a time from a descriptor. Clients keep us in their process group, so a key
// pressed in their terminal reaches us too, but is meant for the client.
#pragma once

#include "base/unique_fd.h"

namespace corral::shim {

inline constexpr int kSignalled = 128;  // exit code 128+n: ended by signal n

class ShimSignals {
 public:
  /// Blocks all signals. Create one, early, from a single thread.
  ShimSignals();

  int fd() const { return fd_.get(); }
  /// Reads the pending signals. A signal sent by a process tells us to leave; a signal made by the terminal
  /// does so only if stdin is that terminal.
  void read_all();
  /// The first signal that told us to leave; 0 = none.
  int leaving() const { return leaving_; }

 private:
  bool person_at_keys_;
  UniqueFd fd_;
  int leaving_ = 0;
};

}  // namespace corral::shim
