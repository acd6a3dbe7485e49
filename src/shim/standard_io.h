// The client's descriptors 0 and 1, and which properties of them must be preserved.
#pragma once

#include <array>

#include "base/unique_fd.h"

namespace corral::shim {

/// The daemon sets O_NONBLOCK on the descriptors it receives, and the flag is shared by every process that
/// has the pipe, including those that use it after us. So the flags are restored at the end, through copies
/// that outlive our 0 and 1.
class KeptFlags {
 public:
  KeptFlags();
  /// Restores the flags that the constructor saw.
  void restore() const;

 private:
  struct Kept {
    UniqueFd fd;
    int flags = -1;
  };
  std::array<Kept, 2> kept_;
};

}  // namespace corral::shim
