// Which Unix sockets are connected to each other. Node gives its children socket pairs instead of pipes, and
// /proc does not show which process has the other end; the kernel's sock_diag does. Asked once per snapshot,
// with a time limit; an answer that changed while it was read is asked for again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace corral::survey {

struct SocketEnd {
  std::uint64_t peer = 0;     // inode of the other end; 0 = closed
  bool can_read = true;       // false: nothing will ever arrive here
  bool can_write = true;      // false: nothing that is written here will ever be read
  bool listens = false;       // it waits for connections
  std::uint32_t waiting = 0;  // connections to it that are not accepted yet
  std::string name{};         // its address: a path, or '@' and a name; empty = it has none
};

using UnixSockets = std::unordered_map<std::uint64_t, SocketEnd>;  // by inode

/// The Unix sockets of this network namespace. Empty where the kernel does not list them (no sock_diag).
std::optional<UnixSockets> read_unix_sockets();

}  // namespace corral::survey
