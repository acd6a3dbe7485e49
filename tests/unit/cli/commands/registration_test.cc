// What `corral url` prints: the exact words that each client takes.
#include "cli/commands/registration.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <sstream>

#include "cli/direct/direct_options.h"
#include "known/config_text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;

Endpoint files() { return {"files", "http://127.0.0.1:8765", {"corral", "connect", "files"}}; }

std::string told(RegisteredClient client, ClientTransport transport, const Endpoint& endpoint = files()) {
  const Result<std::string> text = registration(client, endpoint, transport);
  EXPECT_TRUE(text);
  return text ? *text : "";
}

json::value entry(RegisteredClient client, ClientTransport transport, const char* table) {
  return json::parse(told(client, transport)).at(table).at("files");
}

TEST(Registration, IsACommandForClientsThatHaveOne) {
  EXPECT_EQ(told(RegisteredClient::Claude, ClientTransport::Http),
            "claude mcp add --transport http files http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(told(RegisteredClient::Claude, ClientTransport::Sse),
            "claude mcp add --transport sse files http://127.0.0.1:8765/sse/files\n");
  EXPECT_EQ(told(RegisteredClient::Claude, ClientTransport::Stdio),
            "claude mcp add --transport stdio files -- corral connect files\n");
  EXPECT_EQ(told(RegisteredClient::Codex, ClientTransport::Http),
            "codex mcp add files --url http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(told(RegisteredClient::Codex, ClientTransport::Stdio),
            "codex mcp add files -- corral connect files\n");
  EXPECT_EQ(told(RegisteredClient::Gemini, ClientTransport::Http),
            "gemini mcp add --transport http files http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(told(RegisteredClient::Gemini, ClientTransport::Stdio),
            "gemini mcp add --transport stdio files corral connect files\n");
}

TEST(Registration, KeepsOurOptionsFromGemini) {
  Endpoint endpoint = files();
  endpoint.connect = {"corral", "connect", "--runtime-dir", "/tmp/x", "files"};

  EXPECT_EQ(told(RegisteredClient::Gemini, ClientTransport::Stdio, endpoint),
            "gemini mcp add --transport stdio files corral -- connect --runtime-dir /tmp/x files\n");
}

TEST(Registration, SaysWhatAClientDoesNotSpeak) {
  const Result<std::string> text = registration(RegisteredClient::Codex, files(), ClientTransport::Sse);

  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("--transport http"), std::string::npos);
}

TEST(Registration, IsAFileForTheOthers) {
  EXPECT_EQ(entry(RegisteredClient::VsCode, ClientTransport::Http, "servers"),
            json::parse(R"({"type": "http", "url": "http://127.0.0.1:8765/mcp/files"})"));
  EXPECT_EQ(entry(RegisteredClient::VsCode, ClientTransport::Stdio, "servers"),
            json::parse(R"({"type": "stdio", "command": "corral", "args": ["connect", "files"]})"));
  EXPECT_EQ(entry(RegisteredClient::Copilot, ClientTransport::Sse, "mcpServers"),
            json::parse(R"({"type": "sse", "url": "http://127.0.0.1:8765/sse/files", "tools": ["*"]})"));
  EXPECT_EQ(
      entry(RegisteredClient::Copilot, ClientTransport::Stdio, "mcpServers"),
      json::parse(R"({"type": "local", "command": "corral", "args": ["connect", "files"], "tools": ["*"]})"));
  EXPECT_EQ(entry(RegisteredClient::Cursor, ClientTransport::Http, "mcpServers"),
            json::parse(R"({"url": "http://127.0.0.1:8765/mcp/files"})"));
  EXPECT_EQ(file_for(RegisteredClient::VsCode), ".vscode/mcp.json");
  EXPECT_EQ(file_for(RegisteredClient::Claude), "");
}

// ---- examples/

struct Example {
  RegisteredClient client;
  const char* file;
  const char* table;
};

constexpr Example kExamples[] = {
    {RegisteredClient::Claude, "claude-code/.mcp.json", "mcpServers"},
    {RegisteredClient::ClaudeDesktop, "claude-desktop/claude_desktop_config.json", "mcpServers"},
    {RegisteredClient::Codex, "codex/config.toml", "mcp_servers"},
    {RegisteredClient::Copilot, "copilot-cli/mcp-config.json", "mcpServers"},
    {RegisteredClient::Cursor, "cursor/.cursor/mcp.json", "mcpServers"},
    {RegisteredClient::Gemini, "gemini/.gemini/settings.json", "mcpServers"},
    {RegisteredClient::VsCode, "vscode/.vscode/mcp.json", "servers"},
    {RegisteredClient::Windsurf, "windsurf/mcp_config.json", "mcpServers"},
    {RegisteredClient::Zed, "zed/settings.json", "context_servers"},
};

json::value content_of(const std::string& name) {
  const std::string file = EXAMPLES_DIR "/" + name;
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const known::ConfigText parsed =
      name.ends_with(".toml") ? known::parse_toml_config(text.str()) : known::parse_json_config(text.str());
  EXPECT_EQ(parsed.error, "") << file;
  return parsed.value;
}

/// The command of an example with its arguments.
std::vector<std::string> words_of(const json::value& entry) {
  std::vector<std::string> words = {std::string(entry.at("command").as_string())};
  for (const json::value& word : entry.at("args").as_array()) words.emplace_back(word.as_string());
  return words;
}

TEST(Registration, OfEveryClientIsWhatItsExampleSays) {
  EXPECT_EQ(std::size(kExamples), client_titles().size()) << "a client has no example";
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.file);
    const json::value content = content_of(example.file);
    const json::value& entry = content.at(example.table).at("files");
    const Endpoint endpoint{"files", "", words_of(entry)};

    const std::string text = told(example.client, ClientTransport::Stdio, endpoint);

    if (!file_for(example.client).empty()) {
      EXPECT_EQ(json::parse(text), content);
      continue;
    }
    // A command: behind the name of the server are the same words, with `--` where the client needs it.
    std::vector<std::string> words = *split_line(text.substr(0, text.size() - 1));
    words.erase(words.begin(), std::find(words.begin(), words.end(), "files") + 1);
    std::vector<std::string> expected = endpoint.connect;
    if (words.front() == "--") words.erase(words.begin());
    if (words.size() > expected.size()) expected.insert(expected.begin() + 1, "--");
    EXPECT_EQ(words, expected);
  }
}

TEST(Registration, KnowsEveryClientByItsFolderAndByAShortWord) {
  for (const ClientTitle& title : client_titles()) {
    EXPECT_EQ(client_by_name(title.word), title.client) << title.word;
    EXPECT_NE(client_words().find(title.word), std::string::npos);
  }
  EXPECT_EQ(client_by_name("claude"), RegisteredClient::Claude);
  EXPECT_EQ(client_by_name("copilot"), RegisteredClient::Copilot);
  EXPECT_EQ(client_by_name("gemini-cli"), RegisteredClient::Gemini);
  EXPECT_EQ(client_by_name(""), std::nullopt);
}

TEST(Registration, OfAUrlHasTheKeyThatTheClientReads) {
  EXPECT_EQ(entry(RegisteredClient::Windsurf, ClientTransport::Sse, "mcpServers"),
            json::parse(R"({"serverUrl": "http://127.0.0.1:8765/sse/files"})"));
  EXPECT_EQ(entry(RegisteredClient::Zed, ClientTransport::Http, "context_servers"),
            json::parse(R"({"url": "http://127.0.0.1:8765/mcp/files"})"));
  EXPECT_FALSE(speaks(RegisteredClient::ClaudeDesktop, ClientTransport::Http));
  EXPECT_TRUE(speaks(RegisteredClient::ClaudeDesktop, ClientTransport::Stdio));
  EXPECT_TRUE(speaks(RegisteredClient::Any, ClientTransport::Sse));
}

TEST(Registration, IsOneLineForAListOfClients) {
  EXPECT_EQ(stdio_line(RegisteredClient::Codex, files()), "codex mcp add files -- corral connect files");
  EXPECT_EQ(stdio_line(RegisteredClient::Cursor, files()),
            R"(~/.cursor/mcp.json: "files": {"command":"corral","args":["connect","files"]})");
}

TEST(Registration, WritesANameAsAUrlAndAsAShellWantIt) {
  const Endpoint odd{"my files/é", "http://[::1]:1", {"/opt/my bin/corral", "connect", "my files/é"}};

  EXPECT_EQ(address_of(odd, ClientTransport::Http), "http://[::1]:1/mcp/my%20files%2F%C3%A9");
  EXPECT_EQ(told(RegisteredClient::Claude, ClientTransport::Stdio, odd),
            "claude mcp add --transport stdio 'my files/é' -- '/opt/my bin/corral' connect 'my files/é'\n");
}

TEST(Registration, KnowsItsWords) {
  for (const ClientTransport transport : kClientTransports)
    EXPECT_EQ(transport_by_name(name_of(transport)), transport);
  EXPECT_EQ(transport_by_name("streamable"), std::nullopt);
  EXPECT_EQ(client_by_name("gemini"), RegisteredClient::Gemini);
  EXPECT_EQ(client_by_name("emacs"), std::nullopt);
}

}  // namespace
}  // namespace corral::cli
