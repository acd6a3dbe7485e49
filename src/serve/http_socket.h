// The TCP socket that clients reach by URL, and why it cannot be opened.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "config/configuration.h"
#include "serve/service.h"

namespace corral::serve {

/// Where `corral serve -- COMMAND` listens unless told otherwise.
inline constexpr std::uint16_t kUsualPort = 8765;

/// Which machines may reach the socket: others only if they must bring a token.
enum class Reach : std::uint8_t { ThisMachine, Anywhere };

/// `bind` as parse_ip_address() reads it. If the port is in use, the error names the process that has it.
Result<UniqueFd> listen_on(const std::string& bind, std::uint16_t port, Reach reach);

/// The socket as options and configuration want it, options first: the one that the service manager passed,
/// one that we open, or none, which is invalid.
Result<UniqueFd> open_tcp_socket(const ServeOptions& options, const config::Http& http, UniqueFd passed,
                                 Reach reach);

/// The same rule for a socket that the service manager opened for us.
Result<void> check_reach(int socket, Reach reach);

std::uint16_t port_of(int socket);
/// "127.0.0.2", "[::1]". For a socket that listens at all addresses, the loopback address.
std::string host_of(int socket);
/// "http://127.0.0.1:8765", with the same host.
std::string url_of(int socket);

/// The process that listens at a port, for a sentence: "process 4711 (node server.js)", "another user's
/// process (user 0)".
std::string owner_of_port(std::uint16_t port);

}  // namespace corral::serve
