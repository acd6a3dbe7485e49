// At the start of the daemon: ends what earlier daemons left behind, as the registry knows it, and tells
// each. Belongs to the loop thread; the work is done on the worker thread of the records.
#pragma once

#include <sys/types.h>

#include <functional>

#include "daemon/records.h"

namespace corral::daemon {

using ChildEnded = std::function<void(int status)>;
using ChildStarted = std::function<void(pid_t, ChildEnded)>;

/// Returns at once. `started` is called for each child that it starts to remove a container.
void recover_remnants(Records& records, const ChildStarted& started);

}  // namespace corral::daemon
