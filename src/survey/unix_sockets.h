// Who is connected to whom by a Unix socket. Node gives its children socket pairs instead of pipes, and /proc
// does not say who has the other end; the kernel's sock_diag does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace corral::survey {

struct SocketEnd {
  std::uint64_t peer = 0;  // inode of the other end; 0 = nobody has it any more
  bool can_read = true;    // false: nothing will ever arrive here
  bool can_write = true;   // false: nobody will ever read what is written here
  bool listens = false;    // it waits for connections
  std::string name{};      // its address: a path, or '@' and a name; empty = it has none
};

using UnixSockets = std::unordered_map<std::uint64_t, SocketEnd>;  // by inode

/// Those of our network namespace; nothing where the kernel does not tell.
std::optional<UnixSockets> read_unix_sockets();

}  // namespace corral::survey
