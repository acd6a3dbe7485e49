#include "adopt/judgement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "known/config_text.h"

namespace corral::adopt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// The judgement of the one server in `entry`, which is a JSON object.
Judgement judged(const std::string& entry, const char* client = "cursor", Through through = Through::Connect,
                 const std::string& name = "files", known::ConfigScope scope = known::ConfigScope::User) {
  const std::string text = "{\"t\": {\"" + name + "\": " + entry + "}}";
  const known::ConfigText parsed = known::parse_json_config(text);
  EXPECT_EQ(parsed.error, "") << text;
  const std::vector<EntryText> entries = find_entries({text, parsed.value, known::ConfigFormat::Json}, "t");
  if (entries.size() != 1) return {};
  return judge(entries.front(), {*known::find_client(client), scope, through});
}

std::string why_refused(const std::string& entry, const char* client = "cursor") {
  const Judgement judgement = judged(entry, client);
  EXPECT_EQ(judgement.verdict, Verdict::Refused) << entry;
  return judgement.why;
}

TEST(AdoptJudgement, WrapsACommandUnderItsName) {
  const Judgement judgement = judged(R"({"command": "npx", "args": ["-y", "x"]})");

  EXPECT_EQ(judgement.verdict, Verdict::Wrap);
  EXPECT_EQ(judgement.why, "");
  EXPECT_THAT(judgement.words, ElementsAre("connect", "--name", "files", "--"));
}

TEST(AdoptJudgement, WrapsAServerThatIsSwitchedOff) {
  EXPECT_EQ(judged(R"({"command": "a", "disabled": true})").verdict, Verdict::Wrap);
  EXPECT_EQ(judged(R"({"command": ["a"], "enabled": false})", "opencode").verdict, Verdict::Wrap);
}

TEST(AdoptJudgement, UsesRunIfThatIsWanted) {
  EXPECT_THAT(judged(R"({"command": "a"})", "cursor", Through::Run).words, ElementsAre("run", "--"));
}

TEST(AdoptJudgement, UsesRunForAVariableThatConnectDoesNotPassOn) {
  const Judgement judgement = judged(R"({"command": "a", "env": {"TERM_SESSION_ID": "x"}})");

  EXPECT_EQ(judgement.through, Through::Run);
  EXPECT_THAT(judgement.words, ElementsAre("run", "--"));
  EXPECT_THAT(judgement.why, HasSubstr("TERM_SESSION_ID"));
}

TEST(AdoptJudgement, TellsWhatGoesThroughCorralAlready) {
  for (const char* const entry :
       {R"({"command": "corral", "args": ["connect", "x"]})", R"({"command": "/opt/c/corral", "args": []})",
        R"({"command": "npx", "args": ["-y", "corral@1.2.3", "run", "--", "x"]})",
        R"({"command": "sh", "args": ["-c", "exec corral run -- x"]})",
        R"({"command": "env", "args": ["A=b", "corral", "run"]})", R"({"command": ["corral", "run"]})",
        R"({"command": {"path": "corral", "args": ["run"]}})"}) {
    EXPECT_EQ(judged(entry).verdict, Verdict::Kept) << entry;
  }
  for (const char* const entry :
       {R"({"command": "npx", "args": ["-y", "corral-mcp"]})", R"({"command": "node", "args": ["corral"]})",
        R"({"command": "sh", "args": ["-c", "echo corral"]})"}) {
    EXPECT_EQ(judged(entry).verdict, Verdict::Wrap) << entry;
  }
}

TEST(AdoptJudgement, TellsUrlsAndSwitchesApart) {
  for (const char* const key : {"url", "httpUrl", "serverUrl"}) {
    EXPECT_EQ(judged("{\"" + std::string(key) + "\": \"https://x\"}").verdict, Verdict::Url);
  }
  EXPECT_EQ(judged(R"({"enabled": false})").verdict, Verdict::Switch);
  EXPECT_EQ(judged(R"({"args": ["no command"]})").verdict, Verdict::Switch);
}

TEST(AdoptJudgement, LeavesFilesOfTheAdministratorAlone) {
  EXPECT_EQ(
      judged(R"({"command": "a"})", "cursor", Through::Connect, "x", known::ConfigScope::Machine).verdict,
      Verdict::Managed);
}

TEST(AdoptJudgement, RefusesWhatItWouldHaveToGuess) {
  EXPECT_THAT(why_refused(R"({"command": ""})"), HasSubstr("is empty"));
  EXPECT_THAT(why_refused(R"({"command": []})"), HasSubstr("is empty"));
  EXPECT_THAT(why_refused(R"({"command": 1})"), HasSubstr("not text"));
  EXPECT_THAT(why_refused(R"({"command": "a", "args": "b"})"), HasSubstr("not text"));
  EXPECT_THAT(why_refused(R"({"command": "a", "args": [{}]})"), HasSubstr("not text"));
  EXPECT_THAT(why_refused(R"({"command": ["a", []]})"), HasSubstr("not text"));
  EXPECT_THAT(why_refused(R"({"command": {"args": []}})"), HasSubstr("not text"));
  EXPECT_THAT(why_refused(R"({"command": "~/a"})"), HasSubstr("begins with ~"));
  EXPECT_THAT(why_refused(R"({"command": "npx -y x"})"), HasSubstr("spaces"));
  EXPECT_THAT(why_refused(R"({"command": "a", "url": "https://x"})"), HasSubstr("a command and a URL"));
  EXPECT_THAT(why_refused(R"({"command": "a", "dev": {}})", "vscode"), HasSubstr("watch and debug"));
  EXPECT_THAT(why_refused(R"({"command": "a", "command": "b"})"), HasSubstr("\"command\" twice"));
  EXPECT_THAT(why_refused(R"({"command": "a", "args": [], "args": []})"), HasSubstr("\"args\" twice"));
}

TEST(AdoptJudgement, RefusesAVariableThatTheClientDoesNotReplaceInArguments) {
  for (const char* const client : {"codex", "zed", "claude-desktop", "kiro"}) {
    EXPECT_THAT(why_refused(R"({"command": "${HOME}/a"})", client), HasSubstr("no variables"));
  }
  EXPECT_EQ(judged(R"({"command": "${userHome}/a"})", "vscode").verdict, Verdict::Wrap);
  EXPECT_EQ(judged(R"({"command": "a", "args": ["${HOME}"]})", "codex").verdict, Verdict::Wrap);
}

TEST(AdoptJudgement, GivesANameThatConnectTakes) {
  const auto words = [](const char* name) {
    return judged(R"({"command": "a"})", "cursor", Through::Connect, name).words;
  };
  EXPECT_THAT(words("@x/y"), ElementsAre("connect", "--name", "x-y", "--"));
  EXPECT_THAT(words("My Server"), ElementsAre("connect", "--name", "My-Server", "--"));
  EXPECT_THAT(words("corral"), ElementsAre("connect", "--"));
  EXPECT_THAT(words("\xC3\xA9"), ElementsAre("connect", "--"));
}

TEST(AdoptJudgement, SeesTheSameNameTwice) {
  const std::string text = R"({"t": {"a": {"command": "x"}, "b": {"command": "x"}, "a": {"command": "y"}}})";
  const known::ConfigText parsed = known::parse_json_config(text);
  for (const EntryText& entry : find_entries({text, parsed.value, known::ConfigFormat::Json}, "t")) {
    EXPECT_EQ(entry.refusal.empty(), entry.name == "b") << entry.name << entry.refusal;
  }
  const std::string table = R"({"t": {"a": {"command": "x"}}, "t": {"a": {"command": "y"}}})";
  const known::ConfigText again = known::parse_json_config(table);
  const std::vector<EntryText> entries = find_entries({table, again.value, known::ConfigFormat::Json}, "t");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(entries.front().refusal, HasSubstr("\"t\" is in the file twice"));
}

TEST(AdoptJudgement, HashesWhatIsRunAndNothingElse) {
  const auto hash = [](const char* entry) { return hash_of(boost::json::parse(entry).get_object()); };
  const std::string one = hash(R"({"command": "a", "args": ["b"], "env": {}})");
  EXPECT_EQ(hash(R"({"args": ["b"], "timeout": 1, "command": "a"})"), one);
  EXPECT_NE(hash(R"({"command": "a", "args": ["c"]})"), one);
  EXPECT_NE(hash(R"({"command": "b", "args": ["b"]})"), one);
  EXPECT_NE(hash(R"({"command": "a"})"), hash(R"({"command": "a", "args": []})"));
  EXPECT_NE(hash(R"({"command": "a", "args": null})"), hash(R"({"command": "a", "args": []})"));
  EXPECT_EQ(one.size(), 16U);
}

}  // namespace
}  // namespace corral::adopt
