// Which processes of our own user hold a socket, by a walk through /proc. Keeps nothing. The walk takes its
// time, and belongs on the worker thread of the owner finder; the rest is for any thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_fd.h"

namespace corral::transport {

/// A process, by what it is rather than by its number, and the descriptor through which it holds the socket.
struct Holder {
  pid_t pid = 0;
  int fd = -1;
  std::uint64_t identity = 0;
  UniqueFd life;  // a pidfd
};

using Holders = std::unordered_map<std::uint64_t, Holder>;  // by the inode of the socket

/// Those that nobody holds, or more than one process, are missing: after a fork
/// both have it, and nothing says who speaks. Threads are one process. Ends early when `stop` becomes true.
Holders find_holders(const std::vector<std::uint64_t>& inodes, const std::atomic<bool>& stop);

/// Whether that process still holds it there. One look, without a walk.
bool holds_socket(pid_t pid, int fd, std::uint64_t inode);

/// A process that lives now, with no socket. Nothing if it is gone, or of another user.
std::optional<Holder> pin_process(pid_t pid);

bool has_ended(int pidfd);

/// Field 22 of the line in /proc/PID/stat, counted after the name, which may hold anything; 0 if it has none.
std::uint64_t start_time_in(std::string_view stat);

}  // namespace corral::transport
