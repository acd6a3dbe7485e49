// Which TCP sockets wait for connections or are connected. A server with its own port may be in use by any
// program, no matter what happened to its pipes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corral::survey {

struct ListeningSocket {
  std::uint64_t inode = 0;
  std::uint16_t port = 0;
  uid_t uid = 0;  // its owner

  bool operator==(const ListeningSocket&) const = default;
};

/// From the text of /proc/net/tcp or tcp6: the sockets in state LISTEN.
std::vector<ListeningSocket> parse_listening_sockets(std::string_view text);

/// One end of an established connection. If both ends are on this machine, there is a second one with the
/// addresses exchanged.
struct TcpConnection {
  std::string
      local{};  // address and port as the kernel writes them; IPv4 addresses look the same in IPv6 sockets
  std::string remote{};     // the same of the other end
  std::uint16_t port = 0;   // of `local`
  std::uint64_t inode = 0;  // 0 = not accepted yet

  bool operator==(const TcpConnection&) const = default;
};

struct TcpSockets {
  std::vector<ListeningSocket> listening{};
  std::vector<TcpConnection> connections{};
  std::vector<std::uint64_t> inodes{};  // of all sockets, whatever their state
  bool complete = true;                 // false: there may be more, since a list could not be read
};

/// Adds the sockets of one of these files.
void parse_tcp_sockets(std::string_view text, TcpSockets& sockets);

/// All TCP sockets of this network namespace. `folder` is another one in tests only.
TcpSockets read_tcp_sockets(const std::string& folder = "/proc/net");

/// The listening sockets of this network namespace.
std::vector<ListeningSocket> read_listening_sockets();

}  // namespace corral::survey
