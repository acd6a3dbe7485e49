// How to add a server of the daemon to a client: a command to run, or a part of its configuration file. The
// facts about each client are a table here, measured or from its manual. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace corral::cli {

enum class ClientTransport : std::uint8_t { Http, Sse, Stdio };
inline constexpr std::array<ClientTransport, 3> kClientTransports = {
    ClientTransport::Http, ClientTransport::Sse, ClientTransport::Stdio};

enum class RegisteredClient : std::uint8_t { Any, Claude, Codex, Copilot, Gemini, VsCode, Cursor };

std::optional<ClientTransport> transport_by_name(std::string_view name);
const char* name_of(ClientTransport transport);
std::optional<RegisteredClient> client_by_name(std::string_view name);

/// The addresses of one server.
struct Endpoint {
  std::string name;
  std::string base;                  // "http://127.0.0.1:8765"
  std::vector<std::string> connect;  // the command for stdio, including the name
};

/// http://127.0.0.1:8765/mcp/NAME or /sse/NAME; for stdio the command, quoted for a shell.
std::string address_of(const Endpoint& endpoint, ClientTransport transport);

/// The command, or the text of the configuration file; ends with a line break. An error if the client does
/// not support the transport.
Result<std::string> registration(RegisteredClient client, const Endpoint& endpoint,
                                 ClientTransport transport);

/// The configuration file for the text of `registration`; empty if that is a command.
std::string file_for(RegisteredClient client);

}  // namespace corral::cli
