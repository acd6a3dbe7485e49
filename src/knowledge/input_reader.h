// Finds, in the tree that a server's command has become, the process that is the server: launchers pass their
// standard input on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "knowledge/program_files.h"

namespace corral::knowledge {

/// Of all processes in the tree below (and with) `top` whose standard input is the pipe or socket with this
/// inode, the one farthest down, the last one there. Nothing if there is none, if we may not look at it, or
/// if it sees other files than we do (a container).
std::optional<Program> find_input_reader(pid_t top, std::uint64_t input_inode);

}  // namespace corral::knowledge
