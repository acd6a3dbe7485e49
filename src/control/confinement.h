// Whether one of the two processes on a connection is held in a narrower sandbox than the other. If that is
// the shim, what it asks for would run outside of its sandbox; if it is the daemon, a server would be held
// for no reason that its client knows. Then the shim must run it itself. The comparisons are pure.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace corral::control {

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

/// In what `one` is held by filters where `other` is not, empty = in nothing. Only what has an order: of two
/// namespaces nobody can say which is the narrower. What could not be read counts as equal, for this is about
/// what a server can do, not about who gets out.
std::string held_tighter(const Surroundings& one, const Surroundings& other);

/// Of a process by its number; 0 = of ourselves.
Surroundings surroundings_of(pid_t pid);

/// Of whoever connected to, or listens at, the other end of a socket. A number that may have passed to
/// another process meanwhile counts as unreadable.
Surroundings surroundings_of_peer(int socket);

}  // namespace corral::control
