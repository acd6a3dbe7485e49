// Starts the client, as it would start without guard: same descriptors, signals and, where nobody lends it
// the terminal, same process group.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "guard/signals.h"
#include "guard/terminal.h"

namespace corral::guard {

/// Where the client's process group is.
enum class Placement { OurGroup, OwnForegroundGroup };

/// Returns when the client runs: exec has worked. It gets SIGTERM should we die first.
Result<pid_t> start_client(const std::vector<std::string>& argv, Placement placement,
                           const Terminal& terminal, const Signals& signals);

/// Lets go of everything that was inherited for the client, but for stderr: who waits for the end of a pipe
/// waits for the client, not for us.
void let_go_of_inherited(std::vector<int> ours);

}  // namespace corral::guard
