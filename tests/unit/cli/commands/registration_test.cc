// What `corral url` prints: the exact words that each client takes.
#include "cli/commands/registration.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace corral::cli {
namespace {

namespace json = boost::json;

Endpoint files() { return {"files", "http://127.0.0.1:8765", {"corral", "connect", "files"}}; }

std::string told(RegisteredClient client, Way way, const Endpoint& endpoint = files()) {
  const Result<std::string> text = registration(client, endpoint, way);
  EXPECT_TRUE(text);
  return text ? *text : "";
}

json::value entry(RegisteredClient client, Way way, const char* table) {
  return json::parse(told(client, way)).at(table).at("files");
}

TEST(Registration, IsACommandForClientsThatHaveOne) {
  EXPECT_EQ(told(RegisteredClient::Claude, Way::Http),
            "claude mcp add --transport http files http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(told(RegisteredClient::Claude, Way::Sse),
            "claude mcp add --transport sse files http://127.0.0.1:8765/sse/files\n");
  EXPECT_EQ(told(RegisteredClient::Claude, Way::Stdio),
            "claude mcp add --transport stdio files -- corral connect files\n");
  EXPECT_EQ(told(RegisteredClient::Codex, Way::Http),
            "codex mcp add files --url http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(told(RegisteredClient::Codex, Way::Stdio), "codex mcp add files -- corral connect files\n");
  EXPECT_EQ(told(RegisteredClient::Gemini, Way::Http),
            "gemini mcp add --transport http files http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(told(RegisteredClient::Gemini, Way::Stdio),
            "gemini mcp add --transport stdio files corral connect files\n");
}

TEST(Registration, KeepsOurOptionsFromGemini) {
  Endpoint endpoint = files();
  endpoint.connect = {"corral", "connect", "--runtime-dir", "/tmp/x", "files"};

  EXPECT_EQ(told(RegisteredClient::Gemini, Way::Stdio, endpoint),
            "gemini mcp add --transport stdio files corral -- connect --runtime-dir /tmp/x files\n");
}

TEST(Registration, SaysWhatAClientDoesNotSpeak) {
  const Result<std::string> text = registration(RegisteredClient::Codex, files(), Way::Sse);

  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("--transport http"), std::string::npos);
}

TEST(Registration, IsAFileForTheOthers) {
  EXPECT_EQ(entry(RegisteredClient::VsCode, Way::Http, "servers"),
            json::parse(R"({"type": "http", "url": "http://127.0.0.1:8765/mcp/files"})"));
  EXPECT_EQ(entry(RegisteredClient::VsCode, Way::Stdio, "servers"),
            json::parse(R"({"type": "stdio", "command": "corral", "args": ["connect", "files"]})"));
  EXPECT_EQ(entry(RegisteredClient::Copilot, Way::Sse, "mcpServers"),
            json::parse(R"({"type": "sse", "url": "http://127.0.0.1:8765/sse/files", "tools": ["*"]})"));
  EXPECT_EQ(
      entry(RegisteredClient::Copilot, Way::Stdio, "mcpServers"),
      json::parse(R"({"type": "local", "command": "corral", "args": ["connect", "files"], "tools": ["*"]})"));
  EXPECT_EQ(entry(RegisteredClient::Cursor, Way::Http, "mcpServers"),
            json::parse(R"({"url": "http://127.0.0.1:8765/mcp/files"})"));
  EXPECT_EQ(file_for(RegisteredClient::VsCode), ".vscode/mcp.json");
  EXPECT_EQ(file_for(RegisteredClient::Claude), "");
}

TEST(Registration, WritesANameAsAUrlAndAsAShellWantIt) {
  const Endpoint odd{"my files/é", "http://[::1]:1", {"/opt/my bin/corral", "connect", "my files/é"}};

  EXPECT_EQ(address_of(odd, Way::Http), "http://[::1]:1/mcp/my%20files%2F%C3%A9");
  EXPECT_EQ(told(RegisteredClient::Claude, Way::Stdio, odd),
            "claude mcp add --transport stdio 'my files/é' -- '/opt/my bin/corral' connect 'my files/é'\n");
}

TEST(Registration, KnowsItsWords) {
  for (const Way way : kWays) EXPECT_EQ(way_by_name(name_of(way)), way);
  EXPECT_EQ(way_by_name("streamable"), std::nullopt);
  EXPECT_EQ(client_by_name("gemini"), RegisteredClient::Gemini);
  EXPECT_EQ(client_by_name("emacs"), std::nullopt);
}

}  // namespace
}  // namespace corral::cli
