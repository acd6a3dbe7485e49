// Descriptors 0, 1 and 2 must be open before anything else is: the next file opened would take their place.
#pragma once

namespace corral::cli {

struct MissingFds {
  bool in = false;
  bool out = false;
};

/// Holes among 0-2 are filled with /dev/null, so that no file of ours gets such a number. Says which were
/// there.
MissingFds fill_standard_fds();

}  // namespace corral::cli
