// Which sockets wait for connections. A server with a port of its own may be in use by anybody, whatever
// became of its pipes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace corral::survey {

/// From the text of /proc/net/tcp or tcp6: the inodes of sockets in state LISTEN.
std::vector<std::uint64_t> parse_listening_sockets(std::string_view text);

/// Those of our network namespace.
std::vector<std::uint64_t> read_listening_sockets();

}  // namespace corral::survey
