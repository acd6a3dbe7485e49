// Which sockets wait for connections. A server with a port of its own may be in use by anybody, whatever
// became of its pipes.
#pragma once

#include <sys/types.h>

#include <cstdint>
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

/// Those of our network namespace.
std::vector<ListeningSocket> read_listening_sockets();

}  // namespace corral::survey
