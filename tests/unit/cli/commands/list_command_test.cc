// `corral list` as a user types it: which file, which daemon, and what to do if there is nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ListCommand : public FileCommands {
 protected:
  Seen list(std::vector<std::string> options = {}) {
    options.insert(options.begin(), {"list", "--runtime-dir", folder_ + "/nowhere"});
    return run(options);
  }
};

TEST_F(ListCommand, WithoutAFileSaysWhatToDoNext) {
  const Seen seen = list();

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.errors, "");
  EXPECT_EQ(seen.out, R"(No server is configured: ~/corral/config.json does not exist.
Next: `corral import FILE` copies the servers of a client, as in `corral import ~/.cursor/mcp.json`;
`corral add NAME -- COMMAND` adds one.
)");
  write("corral/config.json", "{}");
  EXPECT_THAT(list().out, StartsWith("No server is configured: ~/corral/config.json names none.\nNext: "));
}

TEST_F(ListCommand, SaysOnceThatNoDaemonRuns) {
  write("corral/config.json", R"({"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}})");

  EXPECT_EQ(list().out, R"(~/corral/config.json: 2 servers; no daemon is running

SERVER  STATE        TOOLS  SHARED  FROM    LAST ERROR
a       not started      -  auto    line 1  -
b       not started      -  auto    line 1  -
)");
}

TEST_F(ListCommand, AsksTheDaemonAndReadsItsFile) {
  ToldDaemon daemon;
  write("other.json", R"({"mcpServers": {"a": {"command": "x"}}})");
  daemon.status(R"({"daemon": {"pid": 7, "config": ")" + folder_ +
                R"(/other.json"}, "servers": [{"name": "a"}],
    "instances": [{"server": "a", "state": "ready", "share": "shared"}]})");

  const Seen seen = ask(daemon, {"list"});
  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_THAT(seen.out, StartsWith("~/other.json: 1 server\n"));
  EXPECT_THAT(seen.out, HasSubstr("\na       ready      -  shared  line 1  -\n"));

  const auto json = boost::json::parse(ask(daemon, {"list", "--json"}).out);
  EXPECT_EQ(json.at("daemon").as_int64(), 7);
  EXPECT_EQ(json.at("servers").as_array().size(), 1U);
  EXPECT_EQ(json.at("servers").as_array().front().at("state").as_string(), "ready");
}

TEST_F(ListCommand, OfADaemonThatServesOneCommandListsThatAndNotTheUsersFile) {
  ToldDaemon daemon;
  daemon.status(R"({"daemon": {"pid": 7}, "servers": [{"name": "some-server"}]})");
  write("corral/config.json", R"({"mcpServers": {"a": {"command": "x"}}})");

  EXPECT_EQ(ask(daemon, {"list"}).out,
            R"(The running daemon serves one command (`corral serve -- COMMAND`) and reads no file.

SERVER       STATE        TOOLS  SHARED  FROM          LAST ERROR
some-server  not started      -  -       corral serve  -
)");
}

TEST_F(ListCommand, SaysNothingAboutADaemonWithAnotherFile) {
  ToldDaemon daemon;
  daemon.status(R"({"daemon": {"config": "/etc/other.json"},
    "instances": [{"server": "a", "state": "ready", "share": "shared"}]})");
  write("mine.json", R"({"mcpServers": {"a": {"command": "x"}}})");

  const Seen seen = ask(daemon, {"list", "--config", folder_ + "/mine.json"});

  EXPECT_THAT(seen.errors, HasSubstr("the running daemon uses /etc/other.json"));
  EXPECT_THAT(seen.out, HasSubstr("not started"));
}

TEST_F(ListCommand, GoesOnIfTheDaemonDoesNotAnswer) {
  ToldDaemon daemon;
  daemon.refuses(control::Verb::Status, "busy");
  write("corral/config.json", R"({"mcpServers": {"a": {"command": "x"}}})");

  const Seen seen = ask(daemon, {"list"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.errors, EndsWith("the daemon refuses: busy; the list is made without it\n"));
  EXPECT_THAT(seen.out, HasSubstr("a       not started"));
}

TEST_F(ListCommand, RefusesAFileThatCannotBeUsed) {
  write("bad.json", R"({"mcpServers": [})");

  const Seen bad = list({"--config", folder_ + "/bad.json"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.errors, StartsWith("corral list: ~/bad.json:1:"));
  const Seen json = list({"--json", "--config", folder_ + "/bad.json"});
  EXPECT_EQ(json.code, 1);
  EXPECT_THAT(json.out, StartsWith("{\"file\":\"~/bad.json\",\"error\":\""));
  EXPECT_EQ(list({"--config", folder_ + "/none.json"}).code, 1);
  EXPECT_EQ(list({"files"}).code, kOwnFailure);
  EXPECT_EQ(list({"--config", ""}).code, kOwnFailure);
}

TEST_F(ListCommand, NamesADamagedRegistryAndGoesOn) {
  write("nowhere/state/registry.db", std::string(5000, 'x'));
  write("state/corral/registry.db", std::string(5000, 'x'));
  write("corral/config.json", R"({"mcpServers": {"a": {"command": "x"}}})");

  const Seen seen = list();

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.errors, HasSubstr("the registry "));
  EXPECT_THAT(seen.out, HasSubstr("a       not started"));
  EXPECT_THAT(seen.out, Not(HasSubstr("xxx")));
}

}  // namespace
}  // namespace corral::cli
