// Strict containment: a PID namespace with its own /proc. A process inside cannot address the keeper, so it
// cannot kill or stop it; and when the namespace's init dies, the kernel ends every process in it, whatever
// happened to the keeper.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "keeper/launch.h"
#include "keeper/plan.h"

namespace corral::keeper {

/// The keeper's view of the namespace's first process, which starts the server, reaps, and exits when it has
/// no child left.
struct NamespaceInit {
  pid_t pid = 0;
  /// Carries the wait status of the server one way and signals for it the other. Closing it ends the
  /// namespace.
  int line = -1;
};

/// Tries every step in a child process that then exits, so that a refusal leaves nothing half done.
LaunchFailure probe_namespace(const Plan& plan);

/// Starts the server inside the namespace. A later step reports its failure through `failure_fd`.
LaunchFailure start_in_namespace(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd,
                                 NamespaceInit& init);

}  // namespace corral::keeper
