#include "config/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "config/configuration.h"
#include "known/known_programs.h"

namespace corral::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace json = boost::json;

Import imported(const std::string& text, const std::string& file = "mcp.json") {
  Result<Import> result = import_servers(text, file);
  EXPECT_TRUE(result) << result.error().message << "\nin " << text;
  return result ? *result : Import{};
}

/// The one server of a Cursor-like file, as JSON; empty if it was left out.
std::string entry(const std::string& written, const std::string& file = "mcp.json") {
  const Import result = imported(R"({"mcpServers": {"a": )" + written + "}}", file);
  return result.servers.empty() ? "" : json::serialize(result.servers[0].entry);
}

std::vector<std::string> texts(const std::vector<ImportNote>& notes) {
  std::vector<std::string> texts;
  for (const ImportNote& note : notes) texts.push_back(note.text);
  return texts;
}

std::vector<std::string> notes(const std::string& written) {
  return texts(imported(R"({"mcpServers": {"a": )" + written + "}}").notes);
}

TEST(Import, NamesTheKeysThatOnlyTheClientUses) {
  EXPECT_THAT(
      notes(R"({"command": "x", "alwaysAllow": ["a"], "trust": true, "name": "x", "type": "stdio"})"),
      ElementsAre(
          "'a' is added without \"alwaysAllow\", \"trust\": only the client uses that, so leave it in "
          "the client's file"));
  EXPECT_THAT(notes(R"({"command": "x", "disabledTools": ["a"], "disabled": true})"), IsEmpty());
  std::string many = R"({"command": "x")";
  for (int i = 0; i < 500; ++i) many += ", \"k\\u001b" + std::to_string(i) + std::string(300, 'k') + "\": 1";
  const std::vector<std::string> said = notes(many + "}");
  ASSERT_THAT(said, SizeIs(1));
  EXPECT_THAT(said[0], HasSubstr(" and 490 more: "));
  EXPECT_LT(said[0].size(), 2000U);
  EXPECT_EQ(said[0].find('\x1b'), std::string::npos);
}

TEST(Import, FindsCredentialsOfEveryServerButShowsNone) {
  const Import result = imported(R"({"mcpServers": {
    "a": {"command": {"path": "x", "args": ["--token", "hush"], "env": {"MY_KEY": "hush"}}},
    "b": {"url": "https://x", "headers": {"Authorization": "Bearer hush"}},
    "c": {"command": ["x", "--password=hush"], "env": {"KEY": "${KEY}"}}}})");
  std::vector<std::string> places;
  for (const auto& [name, credential] : result.credentials) places.push_back(name + ": " + credential.place);
  EXPECT_THAT(places, ElementsAre("a: MY_KEY", "a: the argument after --token", "b: header Authorization",
                                  "c: --password in the arguments"));
}

TEST(Import, FindsTheServersOfEveryKnownClient) {
  for (const known::KnownClient& client : known::known_clients()) {
    for (const known::ConfigFile& place : client.configs) {
      std::string keys(place.servers);
      if (keys.find('*') != std::string::npos) continue;
      std::string text = R"({"files": {"command": "npx", "args": ["-y"]}})";
      for (std::size_t slash = keys.rfind('/'); !keys.empty(); slash = keys.rfind('/')) {
        const std::string key = slash == std::string::npos ? keys : keys.substr(slash + 1);
        text = "{\"" + key + "\": " + text + "}";
        keys.resize(slash == std::string::npos ? 0 : slash);
      }
      const bool toml = place.format == known::ConfigFormat::Toml;
      if (toml) text = "[" + std::string(place.servers) + ".files]\ncommand = \"npx\"\nargs = [\"-y\"]\n";

      const Import result = imported(text, toml ? "c.toml" : "c.json");

      ASSERT_THAT(result.servers, SizeIs(1)) << client.id << " " << place.path;
      EXPECT_EQ(result.servers[0].name, "files");
      EXPECT_EQ(json::serialize(result.servers[0].entry), R"({"command":"npx","args":["-y"]})");
      EXPECT_THAT(result.notes, IsEmpty());
    }
  }
}

TEST(Import, KnowsTheFormatByTheTextIfTheNameDoesNotSay) {
  EXPECT_THAT(imported("[mcp_servers.a]\ncommand = \"x\"\n", "config").servers, SizeIs(1));
  EXPECT_THAT(imported("// c\n{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", "config").servers, SizeIs(1));
}

TEST(Import, TakesTheFormsOfACommand) {
  EXPECT_EQ(entry(R"({"command": "x", "args": ["a", 1, true]})"),
            R"({"command":"x","args":["a","1","true"]})");
  EXPECT_EQ(entry(R"({"command": ["x", "a"]})"), R"({"command":"x","args":["a"]})");
  EXPECT_EQ(entry(R"({"command": {"path": "x", "args": ["a"], "env": {"A": "1"}}})"),
            R"({"command":"x","args":["a"],"env":{"A":"1"}})");
  EXPECT_EQ(entry(R"({"command": "~/x"})"), R"({"command":"${HOME}/x"})");
}

TEST(Import, TakesOnlyWhatMattersToTheServer) {
  EXPECT_EQ(
      entry(R"({"type": "stdio", "command": "x", "env": {"A": "${A}", "N": 1, "U": null}, "cwd": "/d",
                      "tools": ["t*"], "disabled": true, "timeout": 60000, "alwaysAllow": ["t"], "trust": true})"),
      R"({"command":"x","env":{"A":"${A}","N":"1"},"cwd":"/d","tools":["t*"],"timeout":60000,"disabled":true})");
  EXPECT_EQ(entry(R"({"command": "x", "environment": {"A": "1"}, "enabled": false})"),
            R"({"command":"x","env":{"A":"1"},"disabled":true})");
}

TEST(Import, TakesAllowedToolsUnderTheirOtherNames) {
  EXPECT_EQ(entry(R"({"command": "x", "includeTools": ["t"]})"), R"({"command":"x","tools":["t"]})");
  EXPECT_EQ(entry(R"({"command": "x", "enabled_tools": ["t"]})"), R"({"command":"x","tools":["t"]})");
  EXPECT_EQ(entry(R"({"command": "x", "tools": ["*"]})"), R"({"command":"x"})");
  EXPECT_EQ(entry(R"({"command": "x", "tools": []})"), R"({"command":"x","tools":[]})");
  EXPECT_EQ(entry(R"({"command": "x", "tools": ["*"], "includeTools": ["t"]})"),
            R"({"command":"x","tools":["t"]})");
  EXPECT_EQ(entry(R"({"command": "x", "tools": ["a", "b"], "enabled_tools": ["b", "c"]})"),
            R"({"command":"x","tools":["b"]})");
  EXPECT_EQ(entry(R"({"command": "x", "excludeTools": ["t"], "disabledTools": ["u"], "deny": ["v*"]})"),
            R"({"command":"x","deny":["v*","t","u"]})");
  EXPECT_THAT(notes(R"({"command": "x", "excludeTools": ["t"]})"), IsEmpty());
  EXPECT_THAT(notes(R"({"command": "x", "tools": "t"})"), ElementsAre(HasSubstr("is left out")));
  EXPECT_THAT(notes(R"({"command": "x", "disabled_tools": {"t": true}})"),
              ElementsAre(HasSubstr("is left out")));
}

TEST(Import, TakesATimeoutOnlyInAUnitThatIsKnown) {
  EXPECT_EQ(entry(R"({"command": "x", "timeout": 60})", "/d/cline_mcp_settings.json"),
            R"({"command":"x","timeout":"60s"})");
  EXPECT_EQ(entry(R"({"command": "x", "tool_timeout_sec": 5})"), R"({"command":"x","timeout":"5s"})");
  EXPECT_EQ(entry(R"({"command": "x", "tool_timeout_sec": 1})"), R"({"command":"x","timeout":"1s"})");
  EXPECT_EQ(entry(R"({"command": "x", "tool_timeout_sec": 86400})"), R"({"command":"x","timeout":"86400s"})");
  EXPECT_EQ(entry(R"({"command": "x", "tool_timeout_sec": 86401})"), R"({"command":"x"})");
  EXPECT_EQ(entry(R"({"command": "x", "timeout": 1000})"), R"({"command":"x","timeout":1000})");
  EXPECT_EQ(entry(R"({"command": "x", "timeout": 999})"), R"({"command":"x"})");
  EXPECT_EQ(entry(R"({"command": "x", "timeout": 60})"), R"({"command":"x"})");
  EXPECT_THAT(notes(R"({"command": "x", "timeout": 60})"), ElementsAre(HasSubstr("unit is not clear")));
}

TEST(Import, TakesAllOfAnEntryOfOurOwn) {
  EXPECT_EQ(entry(R"({"command": "x", "timeout": "1m", "corral": {"share": "shared"}})"),
            R"({"command":"x","timeout":"1m","corral":{"share":"shared"}})");
}

TEST(Import, TakesTheCommandOutOfACorralThatIsThereAlready) {
  EXPECT_EQ(entry(R"({"command": "corral", "args": ["run", "--", "x", "y"]})"),
            R"({"command":"x","args":["y"]})");
  EXPECT_EQ(entry(R"({"command": "/opt/corral", "args": ["connect", "--", "x"]})"), R"({"command":"x"})");
  EXPECT_THAT(notes(R"({"command": "corral", "args": ["run", "--memory", "1G", "--", "x"]})"),
              ElementsAre(HasSubstr("options")));
  EXPECT_EQ(entry(R"({"command": "corral", "args": ["connect", "a"]})"), "");
}

TEST(Import, SaysWhatItLeavesOut) {
  EXPECT_THAT(notes(R"({"url": "https://x"})"), ElementsAre(HasSubstr("a remote server")));
  EXPECT_THAT(notes(R"({"command": 1})"), ElementsAre(HasSubstr("\"command\"")));
  EXPECT_THAT(notes(R"({"command": "x", "args": [[]]})"), ElementsAre(HasSubstr("\"args\"")));
  EXPECT_THAT(notes(R"({"command": "x", "env": {"A": []}})"), ElementsAre(HasSubstr("\"env\"")));
  EXPECT_THAT(notes(R"({"command": "x", "cwd": "sub"})"), ElementsAre(HasSubstr("\"cwd\"")));
  EXPECT_THAT(notes(R"({"command": "x\u0000"})"), ElementsAre(HasSubstr("NUL")));
  EXPECT_THAT(
      texts(imported(R"({"mcpServers": {"a/b": {"command": "x"}, "corral": {"command": "x"}}})").notes),
      ElementsAre(HasSubstr("'/'"), HasSubstr("reserved")));
}

TEST(Import, SaysWhichServerANoteChanges) {
  const Import result = imported(
      R"({"mcpServers": {"a": {"command": "x", "trust": true}, "b": {"url": "https://x", "trust": true}}})");

  ASSERT_THAT(result.notes, SizeIs(2));
  EXPECT_EQ(result.notes[0].server, "a");
  EXPECT_EQ(result.notes[1].server, "") << "it is left out";
}

TEST(Import, OneBadServerDoesNotSpoilTheOthers) {
  const Import result =
      imported(R"({"mcpServers": {"bad": {"command": "\u0000"}, "good": {"command": "x"}}})");

  ASSERT_THAT(result.servers, SizeIs(1));
  EXPECT_EQ(result.servers[0].name, "good");
}

TEST(Import, CountsTheServersOfSingleProjects) {
  const Import result = imported(
      R"({"mcpServers": {"a": {"command": "x"}}, "projects": {"/p": {"mcpServers": {"b": {"command": "y"}}}}})",
      ".claude.json");

  EXPECT_THAT(result.servers, SizeIs(1));
  EXPECT_THAT(texts(result.notes), ElementsAre(HasSubstr("1 server of single projects")));
}

TEST(Import, RefusesAFileThatNoClientWouldHave) {
  EXPECT_THAT(import_servers(R"({"other": {}})", "f.json").error().message, HasSubstr("mcpServers"));
  EXPECT_THAT(import_servers("{\n\"mcpServers\" 1}", "f.json").error().message, HasSubstr("f.json:2:14: "));
  EXPECT_THAT(import_servers("a = ", "f.toml").error().message, HasSubstr("f.toml:1:"));
}

TEST(Import, NeverRepeatsAValueThatMayBeASecret) {
  for (const char* written : {R"({"command": "x", "env": {"A": ["hush"]}})", R"({"command": "hush\u0000"})",
                              R"({"command": "x", "args": ["--token", "hush\u0000"]})"}) {
    for (const std::string& note : notes(written)) EXPECT_THAT(note, Not(HasSubstr("hush")));
  }
}

}  // namespace
}  // namespace corral::config
