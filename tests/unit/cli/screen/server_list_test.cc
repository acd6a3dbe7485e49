// What `corral list` says about each server, from the configuration, the daemon and the registry.
#include "cli/screen/server_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <sstream>

#include "cli/status_samples.h"
#include "knowledge/manifest_store.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

config::Configuration configured(const std::string& text) {
  const Result<config::Configuration> read = config::parse(text, "/home/me/corral.json");
  EXPECT_TRUE(read) << (read ? "" : read.error().message);
  return read ? *read : config::Configuration{};
}

constexpr const char* kServers = R"({"mcpServers": {
  "files": {"command": "npx", "corral": {"share": "shared"}},
  "search": {"command": "npx", "tools": ["find_*"]},
  "notes": {"command": "npx", "corral": {"share": "root"}},
  "old": {"command": "npx"},
  "off": {"command": "npx", "disabled": true},
  "own": {"command": "npx", "corral": {"share": "session"}},
  "new": {"command": "npx"}}})";

std::string manifest_with(const std::vector<std::string>& names) {
  knowledge::Manifest manifest;
  std::string tools;
  for (const std::string& name : names) tools += (tools.empty() ? "" : ",") + ("{\"name\":\"" + name + "\"}");
  knowledge::Portrait& portrait = manifest.portraits["plain"];
  portrait.handshake = "{}";
  portrait.lists[0] = "{\"tools\":[" + tools + "]}";
  return knowledge::manifest_text("x", manifest);
}

observe::SessionView session_of(const std::string& server, const std::string& client,
                                const std::string& state) {
  observe::SessionView session;
  session.server = server;
  session.client.name = client;
  session.state = state;
  return session;
}

struct Sources {
  config::Configuration configuration = configured(kServers);
  std::optional<observe::Snapshot> status;
  std::map<std::string, registry::KeptServer> kept;

  std::vector<ListedServer> list() const {
    return list_servers({configuration, status ? &*status : nullptr, kept, 100'000});
  }
  std::map<std::string, ListedServer> by_name() const {
    std::map<std::string, ListedServer> servers;
    for (const ListedServer& server : list()) servers[server.name] = server;
    return servers;
  }
};

std::string shown(const std::vector<ListedServer>& servers, std::size_t width = 80) {
  std::ostringstream out;
  Page page(out, {width, true, false});
  show_server_list(page, servers);
  return out.str();
}

TEST(ServerList, WithoutADaemonSaysWhatIsConfigured) {
  const Sources sources;

  EXPECT_EQ(shown(sources.list()), R"(SERVER  STATE        TOOLS  SHARED      FROM    LAST ERROR
files   not started      -  shared      line 2  -
search  not started      -  auto        line 3  -
notes   not started      -  by project  line 4  -
old     not started      -  auto        line 5  -
off     disabled         -  auto        line 6  -
own     not started      -  private     line 7  -
new     not started      -  auto        line 8  -
)");
}

TEST(ServerList, SaysWhatTheDaemonKnows) {
  Sources sources;
  sources.status = observe::read_status(busy_status());
  sources.status->instances.push_back({.server = "brought", .state = "ready", .share = "session"});
  sources.status->sessions.push_back(session_of("brought", "codex", "ready"));
  sources.status->failures = {{"new", "'nosuch' was not found", std::chrono::milliseconds(3000)}};
  sources.status->servers.push_back({.name = "own", .broken = "it died too often"});

  const auto servers = sources.by_name();

  EXPECT_EQ(servers.at("files").state, "ready");
  EXPECT_EQ(servers.at("search").state, "idle");
  EXPECT_EQ(servers.at("search").share, "private") << "as decided, not as configured";
  EXPECT_EQ(servers.at("notes").state, "parked");
  EXPECT_EQ(servers.at("old").state, "stopped");
  EXPECT_EQ(servers.at("off").state, "disabled");
  EXPECT_EQ(servers.at("own").state, "broken");
  EXPECT_EQ(servers.at("own").error, "it died too often");
  EXPECT_EQ(servers.at("new").state, "failed");
  EXPECT_EQ(servers.at("brought").client, "codex");
  EXPECT_EQ(servers.at("brought").file, "");
  EXPECT_THAT(shown(sources.list()),
              HasSubstr("new      failed        -  auto        line 8  3s ago: 'nosuch'"));
  EXPECT_THAT(shown(sources.list()), HasSubstr("brought  ready         -  private     codex   -"));
}

TEST(ServerList, TakesTheBusiestOfSeveralInstances) {
  Sources sources;
  sources.status.emplace();
  for (const char* const state : {"idle", "ready", "spare"}) {
    sources.status->instances.push_back({.server = "files", .state = state, .share = "shared"});
  }
  EXPECT_EQ(sources.by_name().at("files").state, "ready");
  sources.status->instances.push_back({.server = "files", .state = "unhealthy", .share = "session"});
  EXPECT_EQ(sources.by_name().at("files").state, "unhealthy");
  EXPECT_EQ(sources.by_name().at("files").share, "mixed");
}

TEST(ServerList, DoesNotListCorralItself) {
  Sources sources;
  sources.status.emplace();
  sources.status->instances.push_back({.server = "corral", .state = "ready", .share = "shared"});

  EXPECT_EQ(sources.list().size(), 7U);
}

TEST(ServerList, CountsTheToolsThatClientsSee) {
  Sources sources;
  sources.kept["files"].manifests = {"not a manifest", manifest_with({"a", "b", "c"}), manifest_with({"a"})};
  sources.kept["search"].manifests = {manifest_with({"find_one", "delete_all"})};
  sources.kept["notes"].manifests = {manifest_with({})};

  const auto servers = sources.by_name();

  EXPECT_EQ(servers.at("files").tools, std::optional<std::uint64_t>(3));
  EXPECT_EQ(servers.at("search").tools, std::optional<std::uint64_t>(1)) << "its \"tools\" allow only one";
  EXPECT_EQ(servers.at("notes").tools, std::optional<std::uint64_t>(0));
  EXPECT_EQ(servers.at("new").tools, std::nullopt);
  knowledge::Manifest listless;
  listless.portraits["plain"].handshake = "{}";
  EXPECT_EQ(tools_in(knowledge::manifest_text("x", listless), nullptr), std::nullopt);
}

TEST(ServerList, RemembersTheLastFailureWithoutADaemon) {
  Sources sources;
  sources.kept["files"] = {.failure = "it\nended\x1b[2J", .failure_ms = 40'000};
  sources.kept["new"] = {.failure = "later", .failure_ms = 900'000};

  const auto servers = sources.by_name();

  EXPECT_THAT(servers.at("files").error, Not(HasSubstr("\x1b")));
  EXPECT_THAT(servers.at("files").error, Not(HasSubstr("\n")));
  EXPECT_EQ(servers.at("files").error_age, std::chrono::milliseconds(60'000));
  EXPECT_EQ(servers.at("files").state, "not started");
  EXPECT_EQ(servers.at("new").error_age, std::chrono::milliseconds(0)) << "the clock was set back";
}

TEST(ServerList, DoesNotRepeatTheNameBeforeTheError) {
  Sources sources;
  sources.kept["old"] = {.failure = "server old could not be started: no such command",
                         .failure_ms = 100'000};
  sources.kept["new"] = {.failure = "server new exited with code 1", .failure_ms = 100'000};

  const std::string text = shown(sources.list());

  EXPECT_THAT(text, HasSubstr("line 5  0s ago: no such command\n"));
  EXPECT_THAT(text, HasSubstr("line 8  0s ago: exited with code 1\n"));
  EXPECT_EQ(sources.by_name().at("new").error, "server new exited with code 1");
}

TEST(ServerList, SaysOfACrashHowItEndedAndWhatItWroteLast) {
  Sources sources;
  sources.status.emplace();
  sources.status->failures = {{.server = "old",
                               .text = "instance 1a2b3c4d of server old exited with code 3",
                               .age = std::chrono::milliseconds(3000),
                               .kind = "crash",
                               .error_lines = {"first", "the licence has expired"}}};
  sources.kept["new"] = {.failure = "instance 1a2b3c4d of server new exited with code 4",
                         .failure_ms = 100'000,
                         .error_lines = {"no disk"}};

  const std::string text = shown(sources.list(), 120);

  EXPECT_THAT(text, HasSubstr("3s ago: exited with code 3: the licence has expired\n"));
  EXPECT_THAT(text, HasSubstr("0s ago: exited with code 4: no disk\n"));
  EXPECT_THAT(sources.by_name().at("old").error_lines, ElementsAre("first", "the licence has expired"));
}

TEST(ServerList, SaysThatAClientWasRefused) {
  Sources sources;
  sources.status.emplace();
  sources.status->failures = {{.server = "old",
                               .text = "it uses KEY, which is not set",
                               .age = std::chrono::milliseconds(3000),
                               .kind = "refused"}};

  sources.status->failures.push_back(
      {.server = "nobody", .text = "no server is called that", .kind = "refused"});

  EXPECT_EQ(sources.by_name().at("old").state, "refused");
  EXPECT_FALSE(sources.by_name().contains("nobody")) << "there is no such server";
}

TEST(ServerList, NeverWraps) {
  Sources sources;
  const std::string name(60, 'n');
  sources.configuration = configured(R"({"mcpServers": {")" + name + R"(": {"command": "x"}}})");
  sources.status.emplace();
  sources.status->failures = {{name, std::string(300, 'e'), std::chrono::hours(30)}};
  sources.status->sessions.push_back(session_of("brought", std::string(90, 'c'), "parked"));

  std::istringstream lines(shown(sources.list()));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(width_of(line), 80U) << line;
  EXPECT_EQ(count, 3U);
}

TEST(ServerList, SurvivesAHostileStatus) {
  Sources sources;
  sources.status = observe::read_status(hostile_status());

  const std::string text = shown(sources.list());

  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("files"));
}

TEST(ServerList, IsCompleteAsJson) {
  Sources sources;
  sources.status = observe::read_status(busy_status());
  sources.status->failures = {{"files", "why", std::chrono::milliseconds(7)}};
  sources.kept["files"].manifests = {manifest_with({"a"})};

  const auto list = boost::json::parse(servers_as_json(sources.list())).as_array();

  EXPECT_EQ(list.front(),
            boost::json::parse(R"({"name": "files", "state": "ready", "tools": 1, "share": "shared",
    "error": "why", "error_age_ms": 7, "stderr": [], "file": "/home/me/corral.json", "line": 2, "client": null})"));
  EXPECT_TRUE(list.back().at("tools").is_null());
}

}  // namespace
}  // namespace corral::cli
