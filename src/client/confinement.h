// Whether the process behind a connection is held in a narrower sandbox than the daemon is. If so, what it
// asks us to run would run outside of its sandbox: it must do that itself. The comparison is pure.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace corral::client {

/// What the kernel says about one process. Nothing = it could not be read.
struct Surroundings {
  static constexpr std::size_t kNamespaces = 4;  // user, mnt, pid, net

  std::array<std::optional<std::string>, kNamespaces> namespaces;
  std::optional<unsigned> no_new_privs;
  std::optional<unsigned> seccomp;          // 0 none, 1 strict, 2 filter
  std::optional<unsigned> seccomp_filters;  // how many; only since Linux 5.9
};

/// The three numbers out of /proc/PID/status.
void read_status(std::string_view status, Surroundings& surroundings);

/// In what `peer` is more confined than `own`, as a phrase such as "its own mount namespace, no_new_privs";
/// empty = in nothing. What could not be read counts as confined.
std::string more_confined(const Surroundings& peer, const Surroundings& own);

/// Of a process by its number; 0 = of ourselves.
Surroundings surroundings_of(pid_t pid);

/// The same comparison for whoever is at the other end of a connected socket. A number that may have passed
/// to another process meanwhile counts as unreadable.
std::string confinement_of_peer(int socket, pid_t pid, const Surroundings& own);

}  // namespace corral::client
