// The few files of a cgroup v2 directory that a keeper touches. The owner made the directory and wrote the
// limits; an empty path means that there is none, and every function here does nothing then.
#pragma once

#include "keeper/report.h"

namespace corral::keeper {

/// SIGKILL to all members at once, whoever they run as. The sweep still proves that they are gone.
void kill_cgroup(const char* directory);

/// Whether the kernel had to enforce this limit at least once.
bool cgroup_limit_hit(const char* directory, LimitName name);

/// With what is below it. Works only once it is empty.
void remove_cgroup(const char* directory);

}  // namespace corral::keeper
