// Signals of the shim, read one at a time from a descriptor. A key pressed in the client's terminal reaches
// us too, because clients keep us in their process group; it is not meant for us.
#pragma once

#include "base/unique_fd.h"

namespace corral::shim {

inline constexpr int kSignalled = 128;  // exit code 128+n: asked to leave by signal n

class Signals {
 public:
  Signals();

  int fd() const { return fd_.get(); }
  /// Takes what came. A signal that a process sent asks us to leave; one that the terminal made does so only
  /// if stdin is that terminal.
  void read_all();
  /// The number of the first signal that asked us to leave; 0 = none did.
  int leaving() const { return leaving_; }

 private:
  bool person_at_keys_;
  UniqueFd fd_;
  int leaving_ = 0;
};

}  // namespace corral::shim
