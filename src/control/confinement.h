// Whether one of the two processes on a connection is in a narrower sandbox than the other. If that is the
// shim, a server that the daemon starts for it would run outside the shim's sandbox. If it is the daemon, the
// server would be restricted in a way that its client does not expect. In both cases the shim must run the
// server itself. The comparisons are pure.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace corral::control {

/// The confinement of one process, from /proc. Nothing = it could not be read.
struct Surroundings {
  static constexpr std::size_t kNamespaces = 4;  // user, mnt, pid, net

  std::array<std::optional<std::string>, kNamespaces> namespaces;
  std::optional<unsigned> no_new_privs;
  std::optional<unsigned> seccomp;          // 0 none, 1 strict, 2 filter
  std::optional<unsigned> seccomp_filters;  // how many; only since Linux 5.9
};

/// Reads the three numbers from the text of /proc/PID/status.
void read_status(std::string_view status, Surroundings& surroundings);

/// How `peer` is more confined than `own`, as a phrase such as "its own mount namespace, no_new_privs"; empty
/// = it is not. What could not be read counts as confined.
std::string more_confined(const Surroundings& peer, const Surroundings& own);

/// Which restrictions hold for `one` but not for `other`; empty = none. Compares only what has an order: it
/// is not known which of two namespaces is narrower. What could not be read counts as equal, because this
/// protects no boundary: it only tells whether a server would be able to do less.
std::string held_tighter(const Surroundings& one, const Surroundings& other);

/// Of the process with this pid; 0 = of this process.
Surroundings surroundings_of(pid_t pid);

/// Of the process at the other end of a Unix socket. If its pid may belong to another process by now, nothing
/// counts as readable.
Surroundings surroundings_of_peer(int socket);

}  // namespace corral::control
