// Settings of the client that a daemon for all of the user's sessions must not inherit: resource limits,
// niceness, CPU affinity. The reference is the process that adopts the daemon.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace corral::shim {

/// One row of /proc/PID/limits, selected by its name ("Max cpu time"); empty if it is missing.
std::optional<rlimit> limit_in(std::string_view limits, std::string_view name);

/// A limit of this process that its adopter does not have and that we cannot raise again. It would apply to
/// the daemon and every server permanently. Empty = there is none.
std::string limit_for_good(std::string_view adopters_limits);

/// Called in the new process. Errors are ignored: a daemon with a limit is better than no daemon.
void leave_limits_behind(pid_t adopter);

}  // namespace corral::shim
