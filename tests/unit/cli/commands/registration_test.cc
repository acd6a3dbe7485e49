// What `corral url` prints: the exact words that each client takes.
#include "cli/commands/registration.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

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
