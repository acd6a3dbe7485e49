#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/configuration.h"

namespace corral::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using namespace std::chrono_literals;

Configuration good(const std::string& text) {
  Result<Configuration> parsed = parse(text, "f.json");
  EXPECT_TRUE(parsed) << parsed.error().message << "\nin " << text;
  return parsed ? *parsed : Configuration{};
}

std::string wrong(const std::string& text) {
  const Result<Configuration> parsed = parse(text, "f.json");
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().message;
}

/// One server named "a" with the given members behind its command.
std::string entry(const std::string& members) {
  return R"({"mcpServers": {"a": {"command": "x")" + (members.empty() ? "" : ", " + members) + "}}}";
}

TEST(Parse, TakesTheFileOfAClientAsItIs) {
  const Configuration found = good(R"({
    "mcpServers": {
      "files": {"command": "npx", "args": ["-y", "@x/files", "."], "env": {"B": "2", "A": "1"}, "cwd": "/srv"},
      "other": {"type": "local", "command": "y", "tools": ["*"]}
    }
  })");

  EXPECT_EQ(found.file, "f.json");
  EXPECT_THAT(found.warnings, IsEmpty());
  ASSERT_THAT(found.servers, SizeIs(2));
  const Server& files = found.servers[0];
  EXPECT_EQ(files.name, "files");
  EXPECT_THAT(files.argv, ElementsAre("npx", "-y", "@x/files", "."));
  EXPECT_THAT(files.env, ElementsAre(Pair("B", "2"), Pair("A", "1")));
  EXPECT_EQ(files.cwd, "/srv");
  EXPECT_EQ(files.line, 3);
  EXPECT_EQ(found.servers[1].line, 4);
  EXPECT_EQ(found.find("other"), &found.servers[1]);
  EXPECT_EQ(found.find("nobody"), nullptr);
}

TEST(Parse, GivesDefaultsToWhatIsNotWritten) {
  const Configuration found = good(entry(""));

  ASSERT_THAT(found.servers, SizeIs(1));
  const Server& server = found.servers[0];
  EXPECT_EQ(server.share, Share::Auto);
  EXPECT_FALSE(server.disabled);
  EXPECT_FALSE(server.stateless);
  EXPECT_FALSE(server.timeout.has_value());
  EXPECT_EQ(server.cwd, "");
  EXPECT_TRUE(server.restart);
  EXPECT_FALSE(server.park.has_value());
  EXPECT_EQ(server.probe, 60s);
  EXPECT_FALSE(server.modern.has_value());
  EXPECT_FALSE(server.eager);
  EXPECT_EQ(server.warm, 0U);
  EXPECT_EQ(server.on_change, OnChange::Roll);
  EXPECT_EQ(server.stdin_grace, 2s);
  EXPECT_EQ(server.term_grace, 3s);
  EXPECT_EQ(server.containment, proc::Containment::Auto);
  EXPECT_EQ(found.options.line_cap, 64U << 20U);
  EXPECT_EQ(found.options.drain, 5s);
  EXPECT_EQ(found.options.linger, 5min);
  EXPECT_EQ(found.options.max_instances, 256U);
  EXPECT_EQ(found.options.keep, 9U);
}

TEST(Parse, AllowsCommentsTrailingCommasAndAByteOrderMark) {
  const Configuration found = good(
      "\xEF\xBB\xBF// c: {\n{ /* \"x\": { */ \"mcpServers\" : // }\n {\"a\": {\"command\": \"x\", \"args\": "
      "[\"//no\", \"/*no*/\",],},},}");

  ASSERT_THAT(found.servers, SizeIs(1));
  EXPECT_THAT(found.servers[0].argv, ElementsAre("x", "//no", "/*no*/"));
  EXPECT_EQ(found.servers[0].line, 3);
}

TEST(Parse, TakesTheTableThatVsCodeWrites) {
  const Configuration found = good(R"({"inputs": [], "servers": {"a": {"type": "stdio", "command": "x"}}})");

  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_NE(found.find("a"), nullptr);
}

TEST(Parse, SaysThatAFileHasNoServers) {
  for (const char* text : {"", " \n", "{}", R"({"corral": {}})"}) {
    const Configuration found = good(text);
    EXPECT_THAT(found.servers, IsEmpty()) << text;
    EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("there is no \"mcpServers\""))) << text;
  }
  EXPECT_THAT(good(R"({"mcpServers": {}})").warnings, IsEmpty());
}

TEST(Parse, ReadsUnattendedOfAServerAndOfTheDaemon) {
  const Configuration found = good(R"({"corral": {"unattended": "5m"}, "mcpServers": {
      "never": {"command": "x", "corral": {"unattended": "0"}}, "unsaid": {"command": "y"}}})");
  EXPECT_EQ(found.options.unattended, 5min);
  EXPECT_EQ(found.find("never")->unattended, 0min);
  EXPECT_FALSE(found.find("unsaid")->unattended.has_value());
  EXPECT_FALSE(good("{}").options.unattended.has_value());
}

TEST(Parse, ReadsEveryOptionOfAServer) {
  const Configuration found = good(entry(R"("corral": {"share": "shared", "containment": "strict",
      "memory": "512M", "pids": 64, "cpu": 0.5, "stdin_grace": "1s", "term_grace": 250, "idle": "90s", "on_stop": "echo gone",
      "stateless": true, "restart": false, "park": true, "probe": "0s", "timeout": "30s",
      "era": "legacy", "eager": true, "warm": 64, "on_change": "ignore", "roots": ["/srv/a"]})"));

  EXPECT_THAT(found.warnings, IsEmpty());
  ASSERT_THAT(found.servers, SizeIs(1));
  const Server& server = found.servers[0];
  EXPECT_EQ(server.share, Share::Shared);
  EXPECT_EQ(server.containment, proc::Containment::Strict);
  EXPECT_EQ(server.limits.memory_bytes, 512U << 20U);
  EXPECT_EQ(server.limits.processes, 64U);
  EXPECT_EQ(server.limits.cpu_thousandths, 500U);
  EXPECT_EQ(server.stdin_grace, 1s);
  EXPECT_EQ(server.term_grace, 250ms);
  EXPECT_EQ(server.idle, 90s);
  EXPECT_EQ(server.on_stop, "echo gone");
  EXPECT_TRUE(server.stateless);
  EXPECT_FALSE(server.restart);
  EXPECT_EQ(server.park, true);
  EXPECT_EQ(server.probe, 0s);
  EXPECT_EQ(server.modern, false);
  EXPECT_TRUE(server.eager);
  EXPECT_EQ(server.warm, 64U);
  EXPECT_EQ(server.on_change, OnChange::Ignore);
  EXPECT_THAT(server.roots, ElementsAre("/srv/a"));
  EXPECT_EQ(server.timeout, 30s);
}

TEST(Parse, ReadsEveryWordForEraAndChange) {
  const auto of = [](const std::string& options) {
    return good(entry("\"corral\": {" + options + "}")).servers.at(0);
  };
  EXPECT_EQ(of(R"("era": "auto")").modern, std::nullopt);
  EXPECT_EQ(of(R"("era": "modern")").modern, true);
  EXPECT_EQ(of(R"("on_change": "roll")").on_change, OnChange::Roll);
  EXPECT_EQ(of(R"("on_change": "warn")").on_change, OnChange::Warn);
}

TEST(Parse, KnowsWhatAMisspeltKeyMeant) {
  EXPECT_THAT(good(entry(R"("corral": {"eagre": true})")).warnings, ElementsAre(HasSubstr("\"eager\"")));
  EXPECT_THAT(good(entry(R"("corral": {"onchange": "warn"})")).warnings,
              ElementsAre(HasSubstr("\"on_change\"")));
}

TEST(Parse, ReadsTheOptionsOfTheDaemon) {
  const Configuration found = good(R"({"mcpServers": {}, "corral": {"line_cap": "8M", "drain": "0s",
      "linger": 60000, "max_instances": 12, "keep": 0, "watch": {"interval": 0, "foreign": "report"},
      "min_version": "0.2", "history": 30}})");

  EXPECT_EQ(found.options.line_cap, 8U << 20U);
  EXPECT_EQ(found.options.drain, 0s);
  EXPECT_EQ(found.options.linger, 60s);
  EXPECT_EQ(found.options.max_instances, 12U);
  EXPECT_EQ(found.options.keep, 0U);
  EXPECT_EQ(found.options.watch, (WatchRules{0ms, Foreign::Report}));
  EXPECT_EQ(found.options.min_version, "0.2");
  EXPECT_EQ(found.options.history, 30 * 24h);
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST(Parse, ReadsTheHttpListener) {
  const Http http = good(R"({"mcpServers": {}, "corral": {"http": {"port": 8765, "bind": "::1",
      "hosts": ["dev.example", "[fe80::1]"], "origins": ["https://app.example", "http://localhost:5173"],
      "idle": "10m"}}})")
                        .options.http;

  EXPECT_EQ(http.port, 8765);
  EXPECT_EQ(http.bind, "::1");
  EXPECT_THAT(http.hosts, ElementsAre("dev.example", "[fe80::1]"));
  EXPECT_THAT(http.origins, ElementsAre("https://app.example", "http://localhost:5173"));
  EXPECT_EQ(http.idle, 10min);
}

TEST(Parse, HasNoHttpListenerUnlessAPortIsGiven) {
  for (const char* text : {R"({"mcpServers": {}})", R"({"mcpServers": {}, "corral": {"http": {}}})"}) {
    const Configuration found = good(text);
    EXPECT_EQ(found.options.http.port, std::nullopt) << text;
    EXPECT_EQ(found.options.http.bind, "127.0.0.1") << text;
    EXPECT_EQ(found.options.http.idle, 30min) << text;
    EXPECT_THAT(found.warnings, IsEmpty()) << text;
  }
  EXPECT_EQ(good(R"({"mcpServers": {}, "corral": {"http": {"port": 0}}})").options.http.port, 0);
}

TEST(Parse, WarnsOfAMisspeltKeyOfTheHttpListener) {
  EXPECT_THAT(good(R"({"mcpServers": {}, "corral": {"http": {"origin": []}}})").warnings,
              ElementsAre(AllOf(StartsWith("f.json:1:40: "), HasSubstr("\"origin\" of \"http\""),
                                HasSubstr("\"origins\""))));
}

TEST(Parse, KnowsEveryWayToShare) {
  const auto share = [](const std::string& word) {
    return good(entry(R"("corral": {"share": ")" + word + "\"}")).servers.at(0).share;
  };

  EXPECT_EQ(share("auto"), Share::Auto);
  EXPECT_EQ(share("shared"), Share::Shared);
  EXPECT_EQ(share("session"), Share::Session);
  EXPECT_EQ(share("root"), Share::Root);
}

TEST(Parse, LetsTheCorralObjectHaveTheLastWordOnTheTimeout) {
  const Configuration before = good(entry(R"("corral": {"timeout": "3s"}, "timeout": 60000)"));
  const Configuration after = good(entry(R"("timeout": 60000, "corral": {"timeout": "3s"})"));

  EXPECT_EQ(before.servers.at(0).timeout, 3s);
  EXPECT_EQ(after.servers.at(0).timeout, 3s);
  EXPECT_EQ(good(entry(R"("timeout": 60000)")).servers.at(0).timeout, 60s);
}

TEST(Parse, SwitchesAServerOffByEitherKey) {
  EXPECT_TRUE(good(entry(R"("disabled": true)")).servers.at(0).disabled);
  EXPECT_TRUE(good(entry(R"("enabled": false)")).servers.at(0).disabled);
  EXPECT_TRUE(good(entry(R"("disabled": true, "enabled": true)")).servers.at(0).disabled);
  EXPECT_FALSE(good(entry(R"("disabled": false, "enabled": true)")).servers.at(0).disabled);
}

TEST(Parse, LeavesOutWhatIsReachedByAnAddress) {
  for (const char* members :
       {R"("url": "https://x")", R"("type": "http", "url": "u")", R"("type": "sse")", R"("httpUrl": "u")",
        R"("type": "streamable-http", "command": "x", "headers": {"K": 1})", R"("transport": "sse")"}) {
    const Configuration found = good(R"({"mcpServers": {"far": {)" + std::string(members) + "}}}");
    EXPECT_THAT(found.servers, IsEmpty()) << members;
    EXPECT_THAT(found.warnings, ElementsAre(AllOf(StartsWith("f.json:1:17: "), HasSubstr("server 'far'"),
                                                  HasSubstr("remote server"))))
        << members;
  }
}

TEST(Parse, DoesNotGuessBetweenACommandAndAnAddress) {
  EXPECT_THAT(wrong(entry(R"("url": "u")")), HasSubstr("both"));
  EXPECT_THAT(good(entry(R"("type": "stdio", "url": "u")")).servers, SizeIs(1));
}

TEST(Parse, IsSilentAboutKeysThatClientsKeepForThemselves) {
  const Configuration found =
      good(R"({"$schema": "s", "mcpServers": {"a": {"command": "x", "description": "d",
      "alwaysAllow": [], "autoApprove": [], "trust": true, "gallery": true, "version": "1"}}})");

  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST(Parse, WarnsOfUnknownKeysWithTheirPlaceAndTheNearestOne) {
  const Configuration found = good(
      "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n  \"arg\": [],\n \"corral\": {\"sahre\": 1}}},\n"
      "\"corral\": {\"line_cup\": 1}, \"qqqq\": 1}");

  EXPECT_THAT(found.warnings,
              ElementsAre(AllOf(StartsWith("f.json:2:3: \"arg\" of server 'a'"), HasSubstr("\"args\"")),
                          AllOf(StartsWith("f.json:3:13: "), HasSubstr("\"share\"")),
                          AllOf(StartsWith("f.json:4:12: "), HasSubstr("\"line_cap\"")),
                          AllOf(StartsWith("f.json:4:28: \"qqqq\""), Not(HasSubstr("Did you mean")))));
}

TEST(Parse, SaysThatKeysOfOtherClientsDoNothing) {
  const Configuration found = good(entry(R"("env_vars": ["x"], "envFile": "f")"));

  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("\"env\""), HasSubstr("\"env\"")));
}

TEST(Parse, TakesTheWordsOfOtherClientsForListsOfTools) {
  const auto first = [](const std::string& members) { return good(entry(members)).servers.front(); };
  for (const char* key : {"tools", "includeTools", "enabled_tools"}) {
    const Server server = first("\"" + std::string(key) + R"(": ["read_*"])");
    EXPECT_TRUE(allows_tool(server, "read_x")) << key;
    EXPECT_FALSE(allows_tool(server, "write_x")) << key;
  }
  for (const char* key : {"deny", "excludeTools", "disabled_tools", "disabledTools"}) {
    const Server server = first("\"" + std::string(key) + R"(": ["write_*"])");
    EXPECT_TRUE(allows_tool(server, "read_x")) << key;
    EXPECT_FALSE(allows_tool(server, "write_x")) << key;
  }
  const Server both =
      first(R"("tools": ["*"], "includeTools": ["a", "b"], "excludeTools": ["b"], "deny": ["c"])");
  EXPECT_EQ(both.tools, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(both.deny, (std::vector<std::string>{"b", "c"}));
  EXPECT_THAT(good(entry(R"("includeTools": [], "deny": [])")).warnings, IsEmpty());
}

TEST(Parse, RefusesTwoListsOfAllowedTools) {
  const Result<Configuration> found = parse(entry(R"("tools": ["a"], "enabled_tools": ["b"])"), "f.json");

  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("\"enabled_tools\""), HasSubstr("second list")));
}

TEST(Parse, TakesAnEmptyListOfToolsForNone) {
  const Configuration found = good(entry(R"("tools": [])"));

  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_FALSE(allows_tool(found.servers.front(), "any"));
}

TEST(Parse, RefusesAListOfToolsWhereItWouldGuardNothing) {
  for (const char* key : {"tools", "deny", "includeTools", "disabledTools"}) {
    const std::string why = wrong(entry(R"("corral": {")" + std::string(key) + R"(": ["a"]})"));

    EXPECT_THAT(why, HasSubstr("\"" + std::string(key) + "\""));
    EXPECT_THAT(why, HasSubstr("next to \"command\""));
  }
}

TEST(Parse, ShowsAtMostFiftyWarnings) {
  std::string members;
  for (int i = 0; i < 1000; ++i) members += "\"unheard-of-" + std::to_string(i) + "\": 1,";

  const Configuration found = good("{" + members + R"("mcpServers": {}})");

  ASSERT_THAT(found.warnings, SizeIs(51));
  EXPECT_THAT(found.warnings.back(), HasSubstr("950 more"));
}

TEST(Parse, WarnsOfWhatIsProbablyAMistake) {
  EXPECT_THAT(good(R"({"mcpServers": {"a": {"command": "npx -y files"}}})").warnings,
              ElementsAre(HasSubstr("contains spaces")));
  EXPECT_THAT(good(R"({"mcpServers": {"a": {"command": "~/bin/x"}}})").warnings,
              ElementsAre(HasSubstr("${HOME}")));
  EXPECT_THAT(good(entry(R"("timeout": 30)")).warnings, ElementsAre(HasSubstr("milliseconds")));
  EXPECT_THAT(good(entry(R"("corral": {"probe": 30})")).warnings, ElementsAre(HasSubstr("milliseconds")));
  EXPECT_THAT(good(entry(R"("corral": {"probe": 0})")).warnings, IsEmpty());
  EXPECT_THAT(good(entry(R"("corral": {"restrat": true})")).warnings, ElementsAre(HasSubstr("\"restart\"")));
}

struct Fault {
  const char* text;
  const char* place;
  const char* part;
};

class Faults : public ::testing::TestWithParam<Fault> {};

TEST_P(Faults, AreNamedWithTheirPlace) {
  const Fault& fault = GetParam();

  const std::string message = wrong(fault.text);

  EXPECT_THAT(message, StartsWith(std::string("f.json:") + fault.place + ": ")) << fault.text;
  EXPECT_THAT(message, HasSubstr(fault.part)) << fault.text;
  EXPECT_TRUE(message.ends_with(".")) << message;
}

INSTANTIATE_TEST_SUITE_P(
    All, Faults,
    ::testing::Values(
        Fault{"[]", "1:1", "must contain an object"},
        Fault{"\n {\"mcpServers\": 1}", "2:17", "must be an object"},
        Fault{"{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}", "3:9", "missing comma"},
        Fault{R"({"mcpServers": {"a": 1}})", "1:22", "server 'a' must be an object"},
        Fault{R"({"mcpServers": {"a": {}}})", "1:17", "no \"command\""},
        Fault{R"({"mcpServers": {"a": {"command": ""}}})", "1:34", "is empty"},
        Fault{R"({"mcpServers": {"a": {"command": ["x"]}}})", "1:34", "in \"args\""},
        Fault{R"({"mcpServers": {"a": {"command": 1}}})", "1:34", "must be a string"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "args": "y"}}})", "1:47", "list of strings"},
        Fault{"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"y\", // [,\n  8080]}}}", "2:3",
              "in quotes"},
        Fault{R"({"mcpServers": {"a": {"command": "x\u0000y"}}})", "1:34", "NUL"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "env": []}}})", "1:46", "must be an object"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "env": {"P": 80}}}})", "1:52", "in quotes"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "env": {"A=B": "1"}}}})", "1:47",
              "not a valid variable name"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "cwd": "sub"}}})", "1:46", "absolute path"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "type": "carrier"}}})", "1:47",
              "\"stdio\" or \"local\""},
        Fault{R"({"mcpServers": {"a": {"command": "x", "disabled": "no"}}})", "1:51", "true or false"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "timeout": "soon"}}})", "1:50", "not a duration"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "timeout": -1}}})", "1:50", "not a duration"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "timeout": 1e300}}})", "1:50", "not a duration"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "timeout": 0}}})", "1:50", "is zero"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": true}}})", "1:49", "must be an object"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"share": "all"}}}})", "1:59",
              "\"auto\", \"shared\", \"session\" or \"root\""},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"restart": "always"}}}})", "1:61",
              "true or false"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"park": 1}}}})", "1:58", "true or false"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"probe": true}}}})", "1:59",
              "not a duration"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"probe": -1}}}})", "1:59",
              "not a duration"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"era": "2026-07-28"}}}})", "1:57",
              "\"auto\", \"legacy\" or \"modern\""},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"era": true}}}})", "1:57", "unknown value"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"eager": 1}}}})", "1:59", "true or false"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"warm": -1}}}})", "1:58", "from 0 to 64"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"warm": 65}}}})", "1:58", "from 0 to 64"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"warm": true}}}})", "1:58", "from 0 to 64"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"on_change": "restart"}}}})", "1:63",
              "\"roll\", \"warn\" or \"ignore\""},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"pids": 0}}}})", "1:58", "whole number"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"memory": "lots"}}}})", "1:60",
              "not a size"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "corral": {"cpu": "-1"}}}})", "1:57", "cores"},
        Fault{R"({"mcpServers": {"a": {"command": "x", "command": "y"}}})", "1:39", "occurs twice"},
        Fault{R"({"mcpServers": {"a": {"command": "x"}, "a": {"command": "x"}}})", "1:40", "occurs twice"},
        Fault{R"({"mcpServers": {"a": {"command": "x"}, "\u0061": {"command": "x"}}})", "1:40",
              "occurs twice"},
        Fault{R"({"mcpServers": {"a": {"command": "x"}}, "servers": {"a": {"command": "x"}}})", "1:53",
              "twice"},
        Fault{R"({"mcpServers": {"corral": {"command": "x"}}})", "1:17", "reserved"},
        Fault{R"({"mcpServers": {"a/b": {"command": "x"}}})", "1:17", "'/'"},
        Fault{R"({"mcpServers": {"a\nb": {"command": "x"}}})", "1:17", "cannot be shown"},
        Fault{R"({"mcpServers": {"": {"command": "x"}}})", "1:17", "is empty"},
        Fault{R"({"mcpServers": {"-v": {"command": "x"}}})", "1:17", "looks like an option"},
        Fault{R"({"mcpServers": {"a": {"command": "/bin/corral", "args": ["connect", "a"]}}})", "1:17",
              "connect to corral itself"},
        Fault{R"({"corral": {"line_cap": 1}})", "1:25", "out of range"},
        Fault{R"({"corral": {"drain": "long"}})", "1:22", "not a duration"},
        Fault{R"({"corral": {"max_instances": 0}})", "1:30", "whole number from 1"},
        Fault{R"({"corral": {"max_instances": -4}})", "1:30", "whole number from 1"},
        Fault{R"({"corral": {"max_instances": "4"}})", "1:30", "without quotes"},
        Fault{R"({"corral": {"max_instances": 1e3}})", "1:30", "whole number from 1"},
        Fault{R"({"corral": {"max_instances": 4194305}})", "1:30", "to 4194304"},
        Fault{R"({"corral": {"watch": "60s"}})", "1:22", R"(Write "watch": {)"},
        Fault{R"({"corral": {"watch": {"interval": 10}}})", "1:35", "less than a second"},
        Fault{R"({"corral": {"watch": {"foreign": "kill"}}})", "1:34", R"("off", "report")"},
        Fault{R"({"corral": {"min_version": "new"}})", "1:28", "is not a version"},
        Fault{R"({"corral": {"history": 4000}})", "1:24", "to 3650"},
        Fault{R"({"corral": {"keep": -1}})", "1:21", "whole number from 0"},
        Fault{R"({"corral": {"keep": null}})", "1:21", "whole number from 0"},
        Fault{R"({"corral": {"http": 8765}})", "1:21", R"(Write "http": {"port": 8765})"},
        Fault{R"({"corral": {"http": {"port": 65536}}})", "1:30", "from 0 to 65535"},
        Fault{R"({"corral": {"http": {"port": "80"}}})", "1:30", "without quotes"},
        Fault{R"({"corral": {"http": {"bind": "example.org"}}})", "1:30", "is not an IP address"},
        Fault{R"({"corral": {"http": {"bind": ""}}})", "1:30", "is empty"},
        Fault{R"({"corral": {"http": {"hosts": ["a", "a:80"]}}})", "1:31", "without port or scheme"},
        Fault{R"({"corral": {"http": {"hosts": ["*"]}}})", "1:31", "without port or scheme"},
        Fault{"{\"corral\": {\"http\": {\"hosts\": [\"caf\xC3\xA9\"]}}}", "1:31", "without port or scheme"},
        Fault{R"({"corral": {"http": {"hosts": "a"}}})", "1:31", "list of strings"},
        Fault{R"({"corral": {"http": {"origins": ["*"]}}})", "1:33", "\"*\" is not supported"},
        Fault{R"({"corral": {"http": {"origins": ["null"]}}})", "1:33", "scheme and host"},
        Fault{R"({"corral": {"http": {"origins": ["https://a/b"]}}})", "1:33", "scheme and host"},
        Fault{R"({"corral": {"http": {"idle": 0}}})", "1:30", "no session would last"},
        Fault{R"({"corral": []})", "1:12", "must be an object"}));

TEST(Parse, NeverRepeatsAValueThatMayBeASecret) {
  for (const char* text : {R"({"mcpServers": {"a": {"command": "x", "env": {"K": ["hush"]}}}})",
                           R"({"mcpServers": {"a": {"command": "x", "args": [{"t": "hush"}]}}})",
                           R"({"mcpServers": {"a": {"command": "x", "timeout": "hush"}}})"}) {
    EXPECT_THAT(wrong(text), Not(HasSubstr("hush")));
  }
}

TEST(Parse, RefusesWhatIsNestedTooDeep) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');

  EXPECT_THAT(wrong("{\"x\": " + deep + "}"), StartsWith("f.json:1:"));
}

TEST(Parse, RefusesAFileThatIsTooLarge) {
  EXPECT_THAT(wrong(std::string((64U << 20U) + 1, ' ')), HasSubstr("64 MiB"));
}

}  // namespace
}  // namespace corral::config
