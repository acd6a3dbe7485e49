// What `corral url` prints with a daemon, without one, and without a port.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class UrlOutput : public FileCommands {
 protected:
  /// No daemon runs.
  Seen alone(std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"url", "--config", config_, "--runtime-dir", folder_ + "/nowhere", "files"});
    return run(options);
  }
};

TEST_F(UrlOutput, IsTheAddressAtWhichTheDaemonListens) {
  ToldDaemon daemon;
  daemon.status(
      R"({"daemon":{"config":"/etc/corral.json"},"http":{"url":"http://127.0.0.1:8765","unix":"/run/h.sock"},
    "servers":[{"name":"files"}]})");

  const Seen seen = ask(daemon, {"url", "files"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.errors, "");
  EXPECT_THAT(
      seen.out,
      HasSubstr("# http\nhttp://127.0.0.1:8765/mcp/files\n# sse (for clients that speak only HTTP+SSE)\n"));
  EXPECT_THAT(
      seen.out,
      HasSubstr("# http, by local socket\ncurl --unix-socket /run/h.sock http://localhost/mcp/files\n"));
  EXPECT_EQ(ask(daemon, {"url", "files", "--transport", "http"}).out, "http://127.0.0.1:8765/mcp/files\n");
  EXPECT_EQ(ask(daemon, {"url", "corral", "--transport", "http"}).code, 0);
  const Seen none = ask(daemon, {"url", "file"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.errors, HasSubstr("no server is called 'file' (perhaps 'files')"));
  EXPECT_THAT(ask(daemon, {"url"}).errors, HasSubstr("give the name of one server: `corral url NAME`"));
}

TEST_F(UrlOutput, KnowsTheServersOfTheDaemonAndNotThoseOfAnotherFile) {
  ToldDaemon daemon;
  daemon.status(R"({"http":{"url":"http://127.0.0.1:8765"},"servers":[{"name":"files"}]})");
  write("corral/config.json", R"({"mcpServers": {"mine": {"command": "true"}}})");

  EXPECT_EQ(ask(daemon, {"url", "mine", "--transport", "http"}).code, 1);
  EXPECT_EQ(ask(daemon, {"url", "files", "--transport", "http"}).code, 0);
}

TEST_F(UrlOutput, OfAClientIsWhatItReads) {
  ToldDaemon daemon;
  daemon.status(R"({"http":{"url":"http://127.0.0.1:8765"},"servers":[{"name":"files"}]})");

  const std::string text = ask(daemon, {"url", "files", "--client", "vscode"}).out;

  EXPECT_THAT(text, StartsWith("One of these, in "));
  EXPECT_THAT(text, Not(HasSubstr("by local socket")));
  EXPECT_THAT(ask(daemon, {"url", "files", "--client", "vscode", "--transport", "http"}).out,
              StartsWith("{"));
  EXPECT_THAT(
      ask(daemon, {"url", "files", "--client", "emacs"}).errors,
      AllOf(HasSubstr("'emacs' is not known: write one of claude-code (claude), claude-desktop, codex, "
                      "copilot-cli (copilot), cursor, gemini (gemini-cli), vscode (code), windsurf, zed")));
  EXPECT_THAT(ask(daemon, {"url", "files", "--transport", "udp"}).errors,
              HasSubstr("'udp': use http, sse or stdio"));
}

TEST_F(UrlOutput, WithoutAListenerSaysHowToOpenOne) {
  ToldDaemon daemon;
  daemon.status(R"({"http":{"url":""},"servers":[{"name":"files"}]})");
  const Seen http = ask(daemon, {"url", "files", "--transport", "http"});
  EXPECT_THAT(http.errors, HasSubstr("`corral serve --port 8765 --replace`"));
  EXPECT_EQ(http.code, 1);
  EXPECT_EQ(http.out, "");
  EXPECT_EQ(ask(daemon, {"url", "files", "--transport", "stdio"}).code, 0);

  write("corral.json", R"({"mcpServers":{"files":{"command":"true"}}})");
  EXPECT_THAT(alone({"--transport", "http"}).errors, HasSubstr("`corral serve --port 8765`"));
  write("corral.json", R"({"corral":{"http":{"port":0}},"mcpServers":{"files":{"command":"true"}}})");
  EXPECT_THAT(alone({"--transport", "http"}).errors,
              HasSubstr("the daemon chooses the port when it starts, and none is running"));
  write("corral.json", R"({"corral":{"http":{"port":99}},"mcpServers":{"files":{"command":"true"}}})");
  EXPECT_EQ(alone({"--transport", "http"}).out, "http://127.0.0.1:99/mcp/files\n");
  EXPECT_THAT(alone({"--transport", "http"}).errors, HasSubstr("no daemon is running"));
  EXPECT_EQ(alone({"--transport", "stdio"}).errors, "");
  EXPECT_THAT(alone({"--transport", "stdio"}).out,
              HasSubstr(" connect --runtime-dir ~/nowhere --config ~/corral.json files\n"));
}

TEST_F(UrlOutput, WithoutAPortIsTheFormForStdio) {
  write("corral.json", R"({"mcpServers":{"files":{"command":"true"}}})");

  const Seen plain = alone({});
  EXPECT_EQ(plain.code, 0);
  EXPECT_THAT(plain.out, HasSubstr(" connect --runtime-dir ~/nowhere --config ~/corral.json files\n"));
  EXPECT_THAT(plain.out, Not(HasSubstr("http")));
  EXPECT_THAT(plain.errors, AllOf(StartsWith("corral url: this is the form for stdio; no port is open"),
                                  HasSubstr("`corral serve --port 8765`")));

  const Seen zed = alone({"--client", "zed"});
  EXPECT_EQ(zed.code, 0);
  EXPECT_TRUE(boost::json::parse(zed.out).at("context_servers").at("files").as_object().contains("command"));
  EXPECT_THAT(zed.errors, HasSubstr("write it into ~/.config/zed/settings.json"));
}

TEST_F(UrlOutput, OfAClientWithoutUrlsIsItsCommand) {
  write("corral.json", R"({"corral":{"http":{"port":99}},"mcpServers":{"files":{"command":"true"}}})");

  const Seen refused = alone({"--client", "claude-desktop", "--transport", "http"});
  EXPECT_EQ(refused.code, kOwnFailure);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.errors, HasSubstr("accepts no URL: use --transport stdio"));
  EXPECT_THAT(alone({"--client", "zed", "--transport", "sse"}).errors, HasSubstr("use --transport http"));
  EXPECT_EQ(alone({"--client", "claude-desktop", "--transport", "stdio"}).errors, "");
  const Seen all = alone({"--client", "claude-desktop"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.errors, "");
  EXPECT_THAT(all.out, HasSubstr("# Claude Desktop starts its servers as commands"));

  write("corral.json", R"({"mcpServers":{"files":{"command":"true"}}})");
  EXPECT_EQ(alone({"--client", "claude-desktop"}).errors,
            "corral url: write it into ~/.config/Claude/claude_desktop_config.json\n")
      << "a port would not help this client";
}

TEST_F(UrlOutput, ForStdioDoesNotDependOnTheDaemon) {
  ToldDaemon daemon;
  daemon.refuses(control::Verb::Status, "busy");
  write("corral/config.json", R"({"mcpServers":{"files":{"command":"true"}}})");

  EXPECT_EQ(ask(daemon, {"url", "files", "--transport", "stdio"}).code, 0);
  EXPECT_THAT(ask(daemon, {"url", "files", "--transport", "http"}).errors, HasSubstr("busy"));
  EXPECT_EQ(ask(daemon, {"url", "other", "--transport", "stdio"}).code, 1);
}

}  // namespace
}  // namespace corral::cli
