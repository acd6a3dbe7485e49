// Descriptors 0, 1 and 2 must be open before anything else is: the next file opened would take their place.
#pragma once

namespace corral::cli {

/// Fills holes with /dev/null. Returns the lowest of stdin and stdout that was closed, -1 if none: a server
/// without them could not be spoken to. A closed stderr is no reason to fail.
int fill_standard_fds();

}  // namespace corral::cli
