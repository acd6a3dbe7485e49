#include "cli/commands/registration.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>

#include "base/text.h"
#include "cli/screen/json_layout.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

/// What is special about the file of a client that has no command for this.
struct ClientFile {
  const char* path = nullptr;  // null = it has a command
  const char* table = "mcpServers";
  const char* address = "url";  // the key of a URL
  bool types = false;           // an entry says its transport
};

struct ClientFacts {
  ClientTitle title;
  std::string_view short_word;  // empty = none
  ClientFile file;
  bool http = true;
  bool sse = true;
};

// Claude Desktop accepts only commands in its file; Zed's manual names no HTTP+SSE. Cursor detects the
// transport of a URL itself and accepts no type.
constexpr std::array<ClientFacts, 9> kClients = {{
    {{RegisteredClient::Claude, "claude-code", "Claude Code", "claude-code"}, "claude", {}},
    {{RegisteredClient::ClaudeDesktop, "claude-desktop", "Claude Desktop", "claude-desktop"},
     "",
     {"~/.config/Claude/claude_desktop_config.json"},
     false,
     false},
    {{RegisteredClient::Codex, "codex", "Codex", "codex"}, "", {}, true, false},
    {{RegisteredClient::Copilot, "copilot-cli", "Copilot CLI", "copilot-cli"},
     "copilot",
     {"~/.copilot/mcp-config.json", "mcpServers", "url", true}},
    {{RegisteredClient::Cursor, "cursor", "Cursor", "cursor"}, "", {"~/.cursor/mcp.json"}},
    {{RegisteredClient::Gemini, "gemini", "Gemini CLI", "gemini-cli"}, "gemini-cli", {}},
    {{RegisteredClient::VsCode, "vscode", "VS Code", "vscode"},
     "code",
     {".vscode/mcp.json", "servers", "url", true}},
    {{RegisteredClient::Windsurf, "windsurf", "Windsurf", "windsurf"},
     "",
     {"~/.codeium/windsurf/mcp_config.json", "mcpServers", "serverUrl"}},
    {{RegisteredClient::Zed, "zed", "Zed", "zed"},
     "",
     {"~/.config/zed/settings.json", "context_servers"},
     true,
     false},
}};

const ClientFacts* facts_of(RegisteredClient client) {
  const auto found = std::find_if(kClients.begin(), kClients.end(), [client](const ClientFacts& facts) {
    return facts.title.client == client;
  });
  return found == kClients.end() ? nullptr : &*found;
}

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

std::string codex_command(const Endpoint& endpoint, ClientTransport transport) {
  return "codex mcp add " + shell_word(endpoint.name) +
         (transport == ClientTransport::Stdio ? " -- " : " --url ") + address_of(endpoint, transport);
}

json::object stdio_entry(const Endpoint& endpoint) {
  json::array arguments;
  for (std::size_t i = 1; i < endpoint.connect.size(); ++i) arguments.emplace_back(endpoint.connect[i]);
  return {{"command", endpoint.connect.front()}, {"args", std::move(arguments)}};
}

/// {"command": …, "args": …} or {"url": …}, as the file of the client wants it.
json::object entry_for(const ClientFacts& facts, const Endpoint& endpoint, ClientTransport transport) {
  const RegisteredClient client = facts.title.client;
  const bool stdio = transport == ClientTransport::Stdio;
  json::object entry;
  if (facts.file.types) {
    entry["type"] = client == RegisteredClient::Copilot && stdio ? "local" : name_of(transport);
  }
  if (stdio) {
    for (const auto& [key, value] : stdio_entry(endpoint)) entry[key] = value;
  } else {
    entry[facts.file.address] = address_of(endpoint, transport);
  }
  if (client == RegisteredClient::Copilot) entry["tools"] = json::array{"*"};
  if (client == RegisteredClient::Zed && stdio) entry["env"] = json::object();
  return entry;
}

/// {"TABLE": {"NAME": ENTRY}}; the form of an entry differs between clients.
std::string json_file(const ClientFacts& facts, const Endpoint& endpoint, ClientTransport transport) {
  const json::object file{
      {facts.file.table, json::object{{endpoint.name, entry_for(facts, endpoint, transport)}}}};
  return laid_out(json::serialize(file));
}

std::string command_for(RegisteredClient client, const Endpoint& endpoint, ClientTransport transport) {
  switch (client) {
    case RegisteredClient::Claude: return claude_command(endpoint, transport);
    case RegisteredClient::Gemini: return gemini_command(endpoint, transport);
    case RegisteredClient::Codex: return codex_command(endpoint, transport);
    default: return address_of(endpoint, transport);
  }
}

Error not_spoken(const ClientFacts& facts, ClientTransport transport) {
  const std::string title(facts.title.title);
  if (!facts.http) {
    return Error{title + " starts its servers as commands and accepts no URL: use --transport stdio"};
  }
  return Error{title + " does not support " +
               (transport == ClientTransport::Sse ? "HTTP+SSE" : std::string(name_of(transport))) +
               ": use --transport http"};
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
    if (!name.empty() && (facts.title.word == name || facts.short_word == name)) return facts.title.client;
  }
  return std::nullopt;
}

std::string client_words() {
  std::string words;
  for (const ClientFacts& facts : kClients) {
    words.append(words.empty() ? "" : ", ").append(facts.title.word);
    if (!facts.short_word.empty()) words.append(" (").append(facts.short_word).append(")");
  }
  return words;
}

std::vector<ClientTitle> client_titles() {
  std::vector<ClientTitle> titles;
  titles.reserve(kClients.size());
  for (const ClientFacts& facts : kClients) titles.push_back(facts.title);
  return titles;
}

bool speaks(RegisteredClient client, ClientTransport transport) {
  const ClientFacts* const facts = facts_of(client);
  if (facts == nullptr || transport == ClientTransport::Stdio) return true;
  return transport == ClientTransport::Http ? facts->http : facts->sse;
}

std::string address_of(const Endpoint& endpoint, ClientTransport transport) {
  if (transport == ClientTransport::Stdio) return shell_words(endpoint.connect);
  return endpoint.base + (transport == ClientTransport::Http ? "/mcp/" : "/sse/") + in_url(endpoint.name);
}

Result<std::string> registration(RegisteredClient client, const Endpoint& endpoint,
                                 ClientTransport transport) {
  const ClientFacts* const facts = facts_of(client);
  if (facts != nullptr && !speaks(client, transport)) return not_spoken(*facts, transport);
  const bool in_file = facts != nullptr && facts->file.path != nullptr;
  std::string text =
      in_file ? json_file(*facts, endpoint, transport) : command_for(client, endpoint, transport);
  if (!text.ends_with('\n')) text += '\n';
  return {boost::system::in_place_value, text};
}

std::string file_for(RegisteredClient client) {
  const ClientFacts* const facts = facts_of(client);
  return facts == nullptr || facts->file.path == nullptr ? "" : facts->file.path;
}

std::string stdio_line(RegisteredClient client, const Endpoint& endpoint) {
  const ClientFacts* const facts = facts_of(client);
  if (facts == nullptr || facts->file.path == nullptr) {
    return command_for(client, endpoint, ClientTransport::Stdio);
  }
  const json::object entry = entry_for(*facts, endpoint, ClientTransport::Stdio);
  return std::string(facts->file.path) + ": " + json::serialize(json::string(endpoint.name)) + ": " +
         json::serialize(entry);
}

}  // namespace corral::cli
