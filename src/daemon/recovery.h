// Ends what earlier daemons left behind: processes and containers that the registry lists as not ended. Each
// one becomes an event. Called when the daemon starts, and again when a degraded registry works again. Must
// be used on the loop's thread; the work is done on the worker thread of the records.
//
// Nothing is ended without proof that it belongs to an earlier daemon of this user
// (docs/internals/reconcile.md); what cannot be proved is reported instead.
#pragma once

#include <sys/types.h>

#include <functional>

#include "daemon/records.h"

namespace corral::daemon {

/// Called with the wait status of a child process.
using ChildEnded = std::function<void(int status)>;
/// Called with the pid of a new child process, and what to call when it has ended.
using ChildStarted = std::function<void(pid_t, ChildEnded)>;

/// Returns at once; the work ends later, or with the records. `started` is called for each child process that
/// is started to remove a container; its second argument must be called with the exit status when that child
/// has ended.
void recover_remnants(Records& records, const ChildStarted& started);

}  // namespace corral::daemon
