// Starts the client as it would start without guard: same descriptors, same signals and, unless it gets the
// terminal, same process group.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "guard/signals.h"
#include "guard/terminal.h"

namespace corral::guard {

/// The process group of the client.
enum class Placement { OurGroup, OwnForegroundGroup };

/// Returns when exec has succeeded. The kernel sends the client SIGTERM if guard dies first.
Result<pid_t> start_client(const std::vector<std::string>& argv, Placement placement,
                           const Terminal& terminal, const GuardSignals& signals);

/// Closes every inherited descriptor except stderr and `ours`, because a reader that waits for the end of a
/// pipe waits for the client, not for guard.
void let_go_of_inherited(std::vector<int> ours);

}  // namespace corral::guard
