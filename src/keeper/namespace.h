// The strict way to hold a server: a PID namespace with its own /proc. A process in it cannot name us, so it
// cannot kill or stop us; and when its init dies, the kernel ends every process in it, whatever became of us.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "keeper/launch.h"
#include "keeper/plan.h"

namespace corral::keeper {

/// What the keeper knows of the first process in the namespace. It starts the server, reaps, and exits when
/// it has no child left.
struct NamespaceInit {
  pid_t pid = 0;
  int line =
      -1;  // wait status of the server one way, signals for it the other; closing it ends the namespace
};

/// Goes through every step in a child that is thrown away, so that a refusal leaves nothing half done.
LaunchFailure probe_namespace(const Plan& plan);

/// Starts the server inside. A failure of a later step arrives through `failure_fd`.
LaunchFailure start_in_namespace(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd,
                                 NamespaceInit& init);

}  // namespace corral::keeper
