#include "cli/commands/registration.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>

#include "base/text.h"
#include "cli/screen/json_layout.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

struct ClientFacts {
  std::string_view word;
  RegisteredClient client;
  const char* file;  // null = it has a command for this
};

constexpr std::array<ClientFacts, 6> kClients = {{
    {"claude", RegisteredClient::Claude, nullptr},
    {"codex", RegisteredClient::Codex, nullptr},
    {"copilot", RegisteredClient::Copilot, "~/.copilot/mcp-config.json"},
    {"gemini", RegisteredClient::Gemini, nullptr},
    {"vscode", RegisteredClient::VsCode, ".vscode/mcp.json"},
    {"cursor", RegisteredClient::Cursor, "~/.cursor/mcp.json"},
}};

std::string in_url(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~";
  std::string text;
  for (const char letter : name) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = byte < 0x80 && (isalnum(byte) != 0 || kPlain.find(letter) != std::string_view::npos);
    if (plain) {
      text += letter;
    } else {
      text += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return text;
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string claude_command(const Endpoint& endpoint, ClientTransport transport) {
  return std::string("claude mcp add --transport ") + name_of(transport) + " " + shell_word(endpoint.name) +
         (transport == ClientTransport::Stdio ? " -- " : " ") + address_of(endpoint, transport);
}

/// Arguments that look like options must follow `--`, or Gemini treats them as its own.
std::string gemini_command(const Endpoint& endpoint, ClientTransport transport) {
  const std::string begin =
      std::string("gemini mcp add --transport ") + name_of(transport) + " " + shell_word(endpoint.name) + " ";
  if (transport != ClientTransport::Stdio) return begin + address_of(endpoint, transport);
  const std::vector<std::string> arguments(endpoint.connect.begin() + 1, endpoint.connect.end());
  const bool options = std::any_of(arguments.begin(), arguments.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  return begin + shell_word(endpoint.connect.front()) + (options ? " -- " : " ") + shell_words(arguments);
}

Result<std::string> codex_command(const Endpoint& endpoint, ClientTransport transport) {
  const std::string begin = "codex mcp add " + shell_word(endpoint.name);
  switch (transport) {
    case ClientTransport::Http:
      return {boost::system::in_place_value, begin + " --url " + address_of(endpoint, transport)};
    case ClientTransport::Stdio:
      return {boost::system::in_place_value, begin + " -- " + address_of(endpoint, transport)};
    case ClientTransport::Sse: break;
  }
  return Error{"Codex does not support HTTP+SSE: use --transport http"};
}

json::object stdio_entry(const Endpoint& endpoint) {
  json::array arguments;
  for (std::size_t i = 1; i < endpoint.connect.size(); ++i) arguments.emplace_back(endpoint.connect[i]);
  return {{"command", endpoint.connect.front()}, {"args", std::move(arguments)}};
}

/// {"TABLE": {"NAME": ENTRY}}; the form of an entry differs between clients.
std::string json_file(RegisteredClient client, const Endpoint& endpoint, ClientTransport transport) {
  json::object entry;
  // Cursor detects the transport of a URL itself and accepts no type.
  if (client != RegisteredClient::Cursor) {
    const bool local = client == RegisteredClient::Copilot && transport == ClientTransport::Stdio;
    entry["type"] = local ? "local" : name_of(transport);
  }
  if (transport == ClientTransport::Stdio) {
    for (const auto& [key, value] : stdio_entry(endpoint)) entry[key] = value;
  } else {
    entry["url"] = address_of(endpoint, transport);
  }
  if (client == RegisteredClient::Copilot) entry["tools"] = json::array{"*"};
  const char* const table = client == RegisteredClient::VsCode ? "servers" : "mcpServers";
  const json::object file{{table, json::object{{endpoint.name, std::move(entry)}}}};
  return laid_out(json::serialize(file));
}

}  // namespace

std::optional<ClientTransport> transport_by_name(std::string_view name) {
  for (const ClientTransport transport : kClientTransports) {
    if (name == name_of(transport)) return transport;
  }
  return std::nullopt;
}

const char* name_of(ClientTransport transport) {
  switch (transport) {
    case ClientTransport::Http: return "http";
    case ClientTransport::Sse: return "sse";
    case ClientTransport::Stdio: return "stdio";
  }
  return "?";
}

std::optional<RegisteredClient> client_by_name(std::string_view name) {
  for (const ClientFacts& facts : kClients) {
    if (facts.word == name) return facts.client;
  }
  return std::nullopt;
}

std::string address_of(const Endpoint& endpoint, ClientTransport transport) {
  if (transport == ClientTransport::Stdio) return shell_words(endpoint.connect);
  return endpoint.base + (transport == ClientTransport::Http ? "/mcp/" : "/sse/") + in_url(endpoint.name);
}

Result<std::string> registration(RegisteredClient client, const Endpoint& endpoint,
                                 ClientTransport transport) {
  std::string text;
  switch (client) {
    case RegisteredClient::Any: text = address_of(endpoint, transport); break;
    case RegisteredClient::Claude: text = claude_command(endpoint, transport); break;
    case RegisteredClient::Gemini: text = gemini_command(endpoint, transport); break;
    case RegisteredClient::Codex: {
      const Result<std::string> command = codex_command(endpoint, transport);
      if (!command) return command.error();
      text = *command;
      break;
    }
    case RegisteredClient::Copilot:
    case RegisteredClient::VsCode:
    case RegisteredClient::Cursor: text = json_file(client, endpoint, transport); break;
  }
  if (!text.ends_with('\n')) text += '\n';
  return {boost::system::in_place_value, text};
}

std::string file_for(RegisteredClient client) {
  for (const ClientFacts& facts : kClients) {
    if (facts.client == client && facts.file != nullptr) return facts.file;
  }
  return "";
}

}  // namespace corral::cli
