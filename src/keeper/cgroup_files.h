// The few files of a cgroup v2 directory that a keeper uses. The keeper's owner creates the directory and
// writes the limits. With an empty path, which means that there is no cgroup, every function does nothing.
#pragma once

#include "keeper/report.h"

namespace corral::keeper {

/// Sends SIGKILL to all members at once, whichever user they run as. The sweep still has to prove that they
/// are gone.
void kill_cgroup(const char* directory);

/// Whether the kernel has enforced this limit at least once.
bool cgroup_limit_hit(const char* directory, LimitName name);

/// Removes the directory and the directories below it. Works only when no process is left in them.
void remove_cgroup(const char* directory);

}  // namespace corral::keeper
