// Turns a fresh child into the server: own session, default signals, tags, limits, no descriptor but the
// three.
#pragma once

#include <cstdint>

#include "keeper/lifeline.h"
#include "keeper/plan.h"

namespace corral::keeper {

/// How a start failed, sent through a close-on-exec pipe: end of file without a byte means that exec
/// succeeded.
struct LaunchFailure {
  Stage stage = Stage::None;
  int error = 0;
};

/// All signals as a new program expects them, whatever our parent ignored or blocked.
void reset_signals();

/// No tag is smaller.
inline constexpr std::uint64_t kSmallestTag = 1ULL << 61;

/// A number for RLIMIT_RTTIME that marks the tree: it survives cleared environments and closed descriptors,
/// and the kernel lets nobody raise it again. 0 where the hard limit is too low to choose from. For the
/// owner, whose limit the keeper inherits.
std::uint64_t choose_rlimit_tag();

/// Like fork, but the child is born in the plan's cgroup, if there is one: moving a process later makes the
/// kernel wait for all processors, 10 ms and more. Where the call is refused, the child is an ordinary one
/// and moves itself.
pid_t fork_into_cgroup(const Plan& plan, std::uint64_t namespace_flags);

/// Call in the child, after fork. Never returns: becomes the server, or writes why not and exits.
[[noreturn]] void become_server(const Plan& plan, std::uint64_t rlimit_tag, int failure_fd);

[[noreturn]] void fail_launch(int failure_fd, Stage stage, int error);

}  // namespace corral::keeper
