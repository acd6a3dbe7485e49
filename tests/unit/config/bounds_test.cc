// The last value that fits and the first that does not, and whole sentences about what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/configuration.h"
#include "config/entry.h"

namespace corral::config {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// What is said of a file with these options of the daemon, or of one server.
std::string said_of(const std::string& text) {
  const Result<Configuration> parsed = parse(text, "f");
  if (!parsed) return parsed.error().message;
  std::string warnings;
  for (const std::string& warning : parsed->warnings) warnings += warning;
  return warnings;
}
std::string of_daemon(const std::string& options) {
  return said_of(R"({"mcpServers":{},"corral":{)" + options + "}}");
}
std::string of_server(const std::string& members) {
  return said_of(R"({"mcpServers":{"a":{"command":"x",)" + members + "}}}");
}
std::string of_options(const std::string& options) { return of_server(R"("corral":{)" + options + "}"); }

struct Bound {
  const char* before;  // the value
  std::vector<const char*> good;
  std::vector<const char*> bad;
  const char* why;
};

TEST(ConfigBounds, OfTheDaemonsOptions) {
  const std::vector<Bound> bounds = {
      {R"("line_cap":)", {"65536", "\"64K\"", "1073741824"}, {"65535", "1073741825"}, "\" is out of range"},
      {R"("max_instances":)",
       {"1", "4194304"},
       {"0", "4194305", "1.5"},
       "must be a whole number from 1 to 4194304"},
      {R"("keep":)",
       {"0", "4194304"},
       {"-1", "4194305", "\"1\""},
       "must be a whole number from 0 to 4194304"},
      {R"("history":)",
       {"0", "3650"},
       {"-1", "3651"},
       "must be a whole number from 0 to 3650. Write a number such as 64"},
      {R"("drain":)",
       {"0", "\"24h\"", "1500", "0.5e3"},
       {"true", "\"25h\"", "[]"},
       "is not a duration. Write a string such"},
      {R"("linger":)", {"\"0s\""}, {"\"\""}, "is not a duration"},
      {R"("watch":{"interval":)", {"0}", "1000}", "\"1s\"}"}, {"999}", "1}"}, "is less than a second"},
      {R"("watch":{"foreign":)",
       {"\"off\"}", "\"report\"}", "\"end\"}"},
       {"\"on\"}", "true}"},
       R"(has an unknown value. Write "off", "report" or "end".)"},
      {R"("min_version":)",
       {"\"1\"", "\"1.2.3\""},
       {"\"x\"", "1", "\"\""},
       "\"min_version\" of the top-level"},
      {R"("http":{"port":)", {"0}", "65535}"}, {"-1}", "65536}"}, "from 0 to 65535"},
      {R"("http":{"bind":)", {"\"127.0.0.1\"}", "\"::1\"}"}, {"\"a.example\"}"}, "is not an IP address"},
      {R"("http":{"idle":)", {"1}", "\"30m\"}"}, {"0}"}, "no session would last"},
      {R"("http":{"hosts":[)",
       {"]}", "\"a.example\"]}", "\"[::1]\"]}", "\"!\"]}"},
       {"\"\"]}", "\"a b\"]}", "\"a:1\"]}", "\"a/\"]}", "\"a@b\"]}", "\"*\"]}", "\"a,b\"]}", "\"a\\\"\"]}",
        "\"\\u007f\"]}", "\"[::1\"]}", "\"::1]\"]}", "\"a?\"]}", "\"a#\"]}"},
       "contains an invalid value. Write names without port or scheme"},
      {R"("http":{"origins":[)",
       {"\"https://a\"]}", "\"https://a:1\"]}", "\"x://[::1]\"]}"},
       {"\"\"]}", "\"a\"]}", "\"://a\"]}", "\"https://\"]}", "\"https://a/\"]}", "\"https://a@b\"]}",
        "\"https://*\"]}", "\"https://a b\"]}"},
       "contains an invalid value. Write each web page's scheme and host"},
  };
  for (const Bound& bound : bounds) {
    for (const char* const value : bound.good) {
      EXPECT_EQ(of_daemon(bound.before + std::string(value)), "") << bound.before << value;
    }
    for (const char* const value : bound.bad) {
      EXPECT_THAT(of_daemon(bound.before + std::string(value)), HasSubstr(bound.why))
          << bound.before << value;
    }
  }
}

TEST(ConfigBounds, OfAServersOptions) {
  const std::vector<Bound> bounds = {
      {R"("pids":)", {"1", "4194304"}, {"0", "4194305", "1.0"}, "must be a whole number from 1 to 4194304"},
      {R"("warm":)", {"0", "64"}, {"-1", "65"}, "must be a whole number from 0 to 64"},
      {R"("memory":)",
       {"\"1M\"", "1048576"},
       {"true", "\"\""},
       "is not a size. Write a string such as \"512M\" or \"2G\"."},
      {R"("recycle":)", {"\"1G\""}, {"[]"}, "is not a size"},
      {R"("cpu":)",
       {"0.5", "2", "\"150%\""},
       {"0", "true", "\"x\""},
       "is not a number of cores. Write 0.5, 2 or \"150%\"."},
      {R"("share":)",
       {"\"auto\"", "\"root\""},
       {"\"all\"", "1"},
       R"(Write "auto", "shared", "session" or "root".)"},
      {R"("containment":)",
       {"\"basic\"", "\"strict\"", "\"auto\""},
       {"\"none\""},
       R"(Write "auto", "strict" or "basic".)"},
      {R"("roots":)",
       {"[]", "[\"/a\",\"/b\"]"},
       {"[\"/a\",\"b\"]", "[\"\"]"},
       "must contain only absolute paths. Write \"roots\": ["},
      {R"("roots":)", {}, {"\"/a\"", "7"}, "must be a list of strings. Write \"roots\": [\"one\", \"two\"]."},
      {R"("on_stop":)", {"\"x\""}, {"\"\""}, "is empty. Write a value or remove the key."},
      {R"("on_stop":)", {}, {"7"}, "must be a string. Put the value in quotes."},
      {R"("on_stop":)",
       {},
       {"\"a\\u0000\""},
       "contains a NUL character, which cannot be passed to a program. Remove \\u0000."},
      {R"("restart":)", {"true", "false"}, {"1", "null"}, "must be true or false. Write it without quotes."},
      {R"("timeout":)", {"1000", "\"1s\""}, {"0", "\"0s\""}, "is zero, so every call would time out"},
      {R"("timeout":)",
       {"\"999ms\""},
       {"999", "1"},
       "is less than a second, because a number means milliseconds"},
      {R"("probe":)", {"0", "1000", "\"500ms\""}, {"999", "1"}, "is less than a second"},
      {R"("tools":)",
       {},
       {"[]"},
       R"("tools" of "corral" of server 'a' has no effect in this object. Write "tools" next to "command".)"},
      {R"("disabledTools":)", {}, {"[]"}, "has no effect in this object"},
      {R"("shrae":)", {}, {"1"}, R"(is unknown and has no effect. Did you mean "share"? Correct it.)"},
      {R"("qqqqqqqq":)", {}, {"1"}, "is unknown and has no effect. Remove it if it was meant for corral."},
  };
  for (const Bound& bound : bounds) {
    for (const char* const value : bound.good) {
      EXPECT_EQ(of_options(bound.before + std::string(value)), "") << bound.before << value;
    }
    for (const char* const value : bound.bad) {
      EXPECT_THAT(of_options(bound.before + std::string(value)), HasSubstr(bound.why))
          << bound.before << value;
    }
  }
}

TEST(ConfigBounds, OfAServersOwnKeys) {
  const std::vector<Bound> bounds = {
      {R"("env":)",
       {"{}", "{\"A\":\"\"}"},
       {"{\"\":\"1\"}", "{\"A=\":\"1\"}", "{\"A\\u0000\":\"1\"}"},
       "is not a valid variable name. Write a name without '='."},
      {R"("env":)",
       {},
       {"{\"A\":1}"},
       "\"A\" of \"env\" of server 'a' must be a string. Put the value in quotes."},
      {R"("env":)", {}, {"{\"A\":\"\\u0000\"}"}, "contains a NUL character"},
      {R"("env":)", {}, {"[]"}, "must be an object. Write \"env\": {\"NAME\": \"value\"}."},
      {R"("cwd":)",
       {"\"/a\"", "\"${HOME}/a\""},
       {"\"a\"", "\"$HOME\"", "\"~/a\""},
       "must be an absolute path."},
      {R"("args":)", {"[]", "[\"\"]"}, {"[1]", "[\"a\",null]"}, "must contain only strings"},
      {R"("args":)", {}, {"[\"a\\u0000\"]"}, "contains a NUL character"},
      {R"("type":)", {"\"stdio\"", "\"local\""}, {"\"x\"", "1"}, R"(Write "stdio" or "local".)"},
      {R"("type":)",
       {},
       {"\"http\"", "\"sse\"", "\"ws\"", "\"remote\"", "\"streamable-http\"", "\"streamableHttp\""},
       "server 'a' is a remote server and is left out: corral manages local processes"},
      {R"("url":)", {"\"x\",\"type\":\"stdio\""}, {"\"x\"", "1"}, "has both a \"command\" and a URL"},
      {R"("tools":["a"],"includeTools":)",
       {"[\"*\"]"},
       {"[\"b\"]", "[]"},
       "is a second list of allowed tools."},
      {R"("tools":["*"],"enabled_tools":)", {"[\"b\"]", "[]"}, {"1"}, "must be a list of strings"},
      {R"("envFile":)",
       {},
       {"1"},
       "is a key of another client and has no effect here. Write each variable in \"env\";"},
      {R"("trust":)", {"1", "true"}, {}, ""},
      {R"("argss":)", {}, {"[]"}, "Did you mean \"args\"?"},
      {R"("trsut":)", {}, {"1"}, "Remove it if it was meant for corral"},
  };
  for (const Bound& bound : bounds) {
    for (const char* const value : bound.good) {
      EXPECT_EQ(of_server(bound.before + std::string(value)), "") << bound.before << value;
    }
    for (const char* const value : bound.bad) {
      EXPECT_THAT(of_server(bound.before + std::string(value)), HasSubstr(bound.why))
          << bound.before << value;
    }
  }
}

TEST(ConfigBounds, OfNamesAndCommands) {
  EXPECT_EQ(objection_to_name(std::string(200, 'a')), "");
  EXPECT_EQ(objection_to_name(std::string(201, 'a')), "a server's name is longer than 200 bytes");
  EXPECT_EQ(objection_to_name("a-"), "");
  EXPECT_EQ(objection_to_name("corral2"), "");
  const auto command = [](const std::string& members) {
    return said_of(R"({"mcpServers":{"a":{)" + members + "}}}");
  };
  EXPECT_THAT(command(R"("command":"npx -y x")"),
              HasSubstr("contains spaces and is treated as the name of one program"));
  EXPECT_EQ(command(R"("command":"npx -y x","args":[])"), "");
  EXPECT_EQ(command(R"("command":"/opt/my server")"), "");
  EXPECT_THAT(command(R"("command":"~/x")"), HasSubstr("begins with '~', which only a shell understands"));
  EXPECT_THAT(command(R"("command":"corral","args":["connect"])"),
              HasSubstr("would connect to corral itself"));
  EXPECT_EQ(command(R"("command":"corral","args":["run"])"), "");
  EXPECT_EQ(command(R"("command":"corral")"), "");
  EXPECT_THAT(command(R"("url":"x")"), HasSubstr("is a remote server"));
  EXPECT_THAT(command(R"("type":7,"command":"x")"),
              StartsWith("f:1:28: \"type\" of server 'a' has an unknown value"));
}

TEST(ConfigBounds, OfLongKeysAndManyWarnings) {
  const std::string key(61, 'k');
  EXPECT_THAT(of_server("\"" + key + "\":1"), HasSubstr("\"" + key.substr(0, 60) + "…\" of server 'a'"));
  EXPECT_THAT(of_server("\"" + key.substr(1) + "\":1"), HasSubstr("\"" + key.substr(1) + "\" of server 'a'"));
  const auto warnings = [](int count) {
    std::string text = R"({"mcpServers":{})";
    for (int i = 0; i < count; ++i) text += ",\"key" + std::to_string(i) + "\":1";
    return parse(text + "}", "f")->warnings;
  };
  EXPECT_EQ(warnings(50).size(), 50U);
  ASSERT_EQ(warnings(52).size(), 51U);
  EXPECT_EQ(warnings(52).back(), "f: 2 more warnings are not shown.");
}

TEST(ConfigBounds, OfTheTopLevel) {
  for (const char* const harmless : {"$schema", "inputs", "imports", "version", "$comment", "_comment"}) {
    EXPECT_EQ(said_of(R"({"mcpServers":{},")" + std::string(harmless) + "\":1}"), "") << harmless;
  }
  EXPECT_EQ(said_of(R"({"mcpServer":{}})").substr(0, 102),
            "f:1:2: \"mcpServer\" of the file is unknown and has no effect. Did you mean \"mcpServers\"? "
            "Correct it.f:1");
  EXPECT_THAT(of_daemon(R"("lingre":1)"), HasSubstr("Did you mean \"linger\"?"));
  EXPECT_THAT(of_daemon(R"("http":{"ports":1})"), HasSubstr("Did you mean \"port\"?"));
  EXPECT_THAT(of_daemon(R"("watch":{"intreval":1})"), HasSubstr("Did you mean \"interval\"?"));
  EXPECT_EQ(said_of("{\"mcpServers\":{}"),
            "f:1:17: incomplete JSON. Look for a missing comma, quote or brace just before this place.");
}

}  // namespace
}  // namespace corral::config
