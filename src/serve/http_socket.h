// Opens the TCP socket for HTTP clients, or explains why it cannot be opened. Blocking calls, used before the
// loop runs.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "config/configuration.h"
#include "serve/service.h"

namespace corral::serve {

/// The default port of `corral serve -- COMMAND`.
inline constexpr std::uint16_t kUsualPort = 8765;

/// Which machines may reach the socket. `Anywhere` only if clients need a token.
enum class Reach : std::uint8_t { ThisMachine, Anywhere };

/// `bind` is an address for parse_ip_address(). If the port is in use, the error names the process that uses
/// it.
Result<UniqueFd> listen_on(const std::string& bind, std::uint16_t port, Reach reach);

/// The socket that the options or else the configuration ask for: the one that the service manager passed, a
/// new one, or an invalid one if HTTP by TCP is off.
Result<UniqueFd> open_tcp_socket(const ServeOptions& options, const config::Http& http, UniqueFd passed,
                                 Reach reach);

/// The same rule for a socket that the service manager has opened.
Result<void> check_reach(int socket, Reach reach);

/// The options --port and --bind must not ask for what the administrator has locked.
Result<void> check_locks(const ServeOptions& options, const config::Configuration& configuration);
/// A socket that the service manager has opened must be what the administrator has locked.
Result<void> check_locks(int socket, const config::Configuration& configuration);

std::uint16_t port_of(int socket);
/// "127.0.0.2", "[::1]". For a socket that listens at all addresses, the loopback address.
std::string host_of(int socket);
/// "http://127.0.0.1:8765", with the same host.
std::string url_of(int socket);

/// The process that listens on a port, as part of a message: "process 4711 (node server.js)", "another user's
/// process (user 0)".
std::string owner_of_port(std::uint16_t port);

}  // namespace corral::serve
