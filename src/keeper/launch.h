// Turns a new child process into the server: its own session, default signals, marks, limits, and no
// descriptors except the standard three.
#pragma once

#include <cstdint>

#include "keeper/lifeline.h"
#include "keeper/plan.h"

namespace corral::keeper {

/// Why a start failed. Sent through a close-on-exec pipe; end of file without a byte means that exec
/// succeeded.
struct LaunchFailure {
  Stage stage = Stage::None;
  int error = 0;
};

/// Resets all signals to the state that a new program expects, whatever the parent ignored or blocked.
void reset_signals();

/// Every tag is at least this large.
inline constexpr std::uint64_t kSmallestTag = 1ULL << 61;

/// Chooses a value for RLIMIT_RTTIME that marks the tree. The mark survives a cleared environment and closed
/// descriptors, and an unprivileged process cannot raise the limit again. Returns 0 if the hard limit leaves
/// no room for a tag. The owner calls this, and the keeper inherits the limit from it.
std::uint64_t choose_rlimit_tag();

/// Like fork, but the child starts in the plan's cgroup, if there is one: moving a process later makes the
/// kernel wait for all CPUs, 10 ms or more. If the kernel refuses, the child starts outside and moves itself.
pid_t fork_into_cgroup(const Plan& plan, std::uint64_t namespace_flags);

/// Call in the child, after fork. Never returns: executes the server, or writes the failure and exits.
[[noreturn]] void become_server(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd);

/// Writes the failure to `failure_fd` and exits.
[[noreturn]] void fail_launch(int failure_fd, Stage stage, int error);

}  // namespace corral::keeper
