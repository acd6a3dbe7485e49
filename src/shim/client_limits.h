// What a client has set for itself and a daemon for all of the user's sessions must not inherit: resource
// limits, niceness, processors. The measure is the process that adopts the daemon.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace corral::shim {

/// A row of /proc/PID/limits by its name ("Max cpu time"); nothing if it is not there.
std::optional<rlimit> limit_in(std::string_view limits, std::string_view name);

/// The limit of ours that `adopter` does not have and that we may not lift again: it would hold the daemon
/// and every server for good. Empty = there is none.
std::string limit_for_good(std::string_view adopters_limits);

/// In the new process. As far as the kernel allows: what it refuses is no reason to have no daemon.
void leave_limits_behind(pid_t adopter);

}  // namespace corral::shim
