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

enum class RegisteredClient : std::uint8_t {
  Any,
  Claude,
  ClaudeDesktop,
  Codex,
  Copilot,
  Cursor,
  Gemini,
  VsCode,
  Windsurf,
  Zed
};

std::optional<ClientTransport> transport_by_name(std::string_view name);
const char* name_of(ClientTransport transport);
/// By its folder in examples/ or a shorter word: "claude-code", "claude".
std::optional<RegisteredClient> client_by_name(std::string_view name);
/// All words, for messages: "claude-code (claude), claude-desktop, …".
std::string client_words();

/// One client that people can name.
struct ClientTitle {
  RegisteredClient client;
  std::string_view word;   // its folder in examples/
  std::string_view title;  // "Claude Code"
  std::string_view id;     // in known/known_programs.h
};
std::vector<ClientTitle> client_titles();

/// The addresses of one server.
struct Endpoint {
  std::string name;
  std::string base;                  // "http://127.0.0.1:8765"
  std::vector<std::string> connect;  // the command for stdio, including the name
};

/// http://127.0.0.1:8765/mcp/NAME or /sse/NAME; for stdio the command, quoted for a shell.
std::string address_of(const Endpoint& endpoint, ClientTransport transport);

/// Whether the client can use a server in this way.
bool speaks(RegisteredClient client, ClientTransport transport);

/// The command, or the text of the configuration file; ends with a line break. An error if the client does
/// not support the transport; it says which one to use.
Result<std::string> registration(RegisteredClient client, const Endpoint& endpoint,
                                 ClientTransport transport);

/// The configuration file for the text of `registration`; empty if that is a command.
std::string file_for(RegisteredClient client);

/// For a list of clients: the command, or the file and what to write into its table of servers, on one line.
std::string stdio_line(RegisteredClient client, const Endpoint& endpoint);

}  // namespace corral::cli
