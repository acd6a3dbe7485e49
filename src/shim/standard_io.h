// The client's descriptors 0 and 1: which of them the daemon can have as they are, and what must not change
// about them.
#pragma once

#include <array>

#include "base/unique_fd.h"

namespace corral::shim {

/// The daemon sets O_NONBLOCK on what it gets, and the flag belongs to everybody who has the pipe: also to
/// whoever uses it after us. So it is put back at the end, through copies that outlive our 0 and 1.
class KeptFlags {
 public:
  KeptFlags();
  void restore() const;

 private:
  struct Kept {
    UniqueFd fd;
    int flags = -1;
  };
  std::array<Kept, 2> kept_;
};

}  // namespace corral::shim
