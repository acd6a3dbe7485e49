// Which sockets wait for connections. A server with a port of its own may be in use by anybody, whatever
// became of its pipes.
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
  uid_t uid = 0;  // whose it is

  bool operator==(const ListeningSocket&) const = default;
};

/// From the text of /proc/net/tcp or tcp6: the sockets in state LISTEN.
std::vector<ListeningSocket> parse_listening_sockets(std::string_view text);

/// One end of an established connection. If both ends are on this machine, there is a second one with the
/// addresses exchanged.
struct TcpConnection {
  std::string local{};      // address and port as the kernel writes them; IPv4 also looks so in IPv6 sockets
  std::string remote{};     // the same of the other end
  std::uint16_t port = 0;   // of `local`
  std::uint64_t inode = 0;  // 0 = nobody has accepted it yet

  bool operator==(const TcpConnection&) const = default;
};

struct TcpSockets {
  std::vector<ListeningSocket> listening{};
  std::vector<TcpConnection> connections{};
  std::vector<std::uint64_t> inodes{};  // of all sockets, whatever their state
  bool complete = true;                 // false: there may be more, since a list could not be read
};

/// Adds what one of these files says.
void parse_tcp_sockets(std::string_view text, TcpSockets& sockets);

/// All of our network namespace. `folder` is another one in tests only.
TcpSockets read_tcp_sockets(const std::string& folder = "/proc/net");

/// Those of our network namespace.
std::vector<ListeningSocket> read_listening_sockets();

}  // namespace corral::survey
