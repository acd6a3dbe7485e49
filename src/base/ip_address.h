// An IP address of this machine to listen on, and its text form. Values only; apart from `bound_address`
// nothing here makes a system call.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corral {

struct IpAddress {
  sockaddr_storage bytes{};  // the port is 0 until `set_port`
  socklen_t size = 0;

  /// True if only this machine can reach the address.
  bool is_loopback() const;
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  /// The host part of a URL; an IPv6 address is in brackets.
  std::string host() const;
};

/// Accepts "127.0.0.1", "::1", "[::1]", "localhost" (127.0.0.1) and other numeric addresses. Names are not
/// looked up, because a name may resolve to a different address after it was checked.
std::optional<IpAddress> parse_ip_address(std::string_view text);

/// The address that a socket is bound to; empty if it is not a TCP socket.
std::optional<IpAddress> bound_address(int socket);

}  // namespace corral
