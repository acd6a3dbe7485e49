// At the start of a daemon: ends what earlier ones of ours left behind, as the registry knows it, and tells
// each. Belongs to the loop thread; the work is done on their thread.
#pragma once

#include <sys/types.h>

#include <functional>

#include "daemon/records.h"

namespace corral::daemon {

using ChildEnded = std::function<void(int status)>;
using ChildStarted = std::function<void(pid_t, ChildEnded)>;

/// Returns at once. `started` hears of children that are meant to be there: they remove containers.
void recover_remnants(Records& records, const ChildStarted& started);

}  // namespace corral::daemon
