// Finds which processes of our own user hold a socket, by a walk through /proc. Stateless. The walk is slow
// and belongs on the worker thread of the owner finder; the rest may be called on any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"

namespace corral::transport {

/// A process with its identity, and the descriptor through which it holds the socket.
struct Holder {
  pid_t pid = 0;
  int fd = -1;
  std::uint64_t identity = 0;
  UniqueFd life;  // a pidfd
};

using Holders = std::unordered_map<std::uint64_t, Holder>;  // by the inode of the socket

/// Sockets that are held by no process or by more than one are left out: after a fork both have it, and it is
/// unknown which one sends. The threads of a process count as one. Ends early when `stop` becomes true.
Holders find_holders(const std::vector<std::uint64_t>& inodes, const std::atomic<bool>& stop);

/// Whether that process still holds the socket at that descriptor. A single look, without a walk.
bool holds_socket(pid_t pid, int fd, std::uint64_t inode);

/// A running process, without a socket. Empty if it is gone or belongs to another user.
std::optional<Holder> pin_process(pid_t pid);

bool has_ended(int pidfd);

}  // namespace corral::transport
