// What a client is told so that it finds a server behind the daemon: a command to run, or a piece of its
// configuration. The facts about each client are data in here, measured or from its manual. Pure.
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

/// One server, as clients can reach it.
struct Endpoint {
  std::string name;
  std::string base;                  // "http://127.0.0.1:8765"
  std::vector<std::string> connect;  // the command of the stdio way, up to and with the name
};

/// http://127.0.0.1:8765/mcp/NAME, or /sse/NAME; for stdio the command as a shell wants it.
std::string address_of(const Endpoint& endpoint, ClientTransport transport);

/// Ends with a line end. An error if the client does not know that way.
Result<std::string> registration(RegisteredClient client, const Endpoint& endpoint,
                                 ClientTransport transport);

/// The file into which the text belongs; empty if it is a command to run.
std::string file_for(RegisteredClient client);

}  // namespace corral::cli
