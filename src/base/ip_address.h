// An address of this machine to listen at, as people write it. Pure.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corral {

struct IpAddress {
  sockaddr_storage bytes{};  // without a port
  socklen_t size = 0;

  /// Reached from this machine only.
  bool is_loopback() const;
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  /// As it stands in a URL: an IPv6 address has brackets.
  std::string host() const;
};

/// "127.0.0.1", "::1", "[::1]", "localhost" (127.0.0.1), or another number. Names are not looked up: what one
/// means tomorrow is not what was checked today.
std::optional<IpAddress> parse_ip_address(std::string_view text);

/// Where a socket is bound; nothing if it is no TCP socket.
std::optional<IpAddress> bound_address(int socket);

}  // namespace corral
