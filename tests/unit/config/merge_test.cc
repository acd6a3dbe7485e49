#include "config/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "config/configuration.h"

namespace corral::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NewServer server(const std::string& name, const std::string& command) {
  return {name, {{"command", command}, {"args", {"-y", "."}}}};
}

Merge merged(const std::string& text, const std::vector<NewServer>& servers,
             Existing existing = Existing::Keep) {
  Result<Merge> merge = merge_servers(text, "f.json", servers, existing);
  EXPECT_TRUE(merge) << merge.error().message << "\nin " << text;
  return merge ? *merge : Merge{};
}

TEST(Merge, WritesANewFileThatIsEasyToRead) {
  const Merge merge = merged("", {server("a", "x"), server("b", "y")});

  EXPECT_EQ(merge.text, R"({
  "mcpServers": {
    "a": {
      "command": "x",
      "args": ["-y", "."]
    },
    "b": {
      "command": "y",
      "args": ["-y", "."]
    }
  }
}
)");
  EXPECT_THAT(merge.added, ElementsAre("a", "b"));
}

TEST(Merge, KeepsEveryCommentWhereItIs) {
  const Merge merge = merged(R"({
  // mine
  "mcpServers": { // all of them
    "old": {"command": "o"} // about old
    // the end
  },
  "corral": {"drain": "1s"} /* last */
}
)",
                             {server("new", "n")});

  EXPECT_EQ(merge.text, R"({
  // mine
  "mcpServers": { // all of them
    "old": {"command": "o"}, // about old
    // the end
    "new": {
      "command": "n",
      "args": ["-y", "."]
    }
  },
  "corral": {"drain": "1s"} /* last */
}
)");
}

TEST(Merge, MindsATrailingComma) {
  const Merge merge =
      merged("{\"mcpServers\": {\n\t\"old\": {\"command\": \"o\"}, // c\n}}", {server("new", "n")});

  EXPECT_EQ(
      merge.text,
      "{\"mcpServers\": {\n\t\"old\": {\"command\": \"o\"}, // c\n\t\"new\": {\n\t  \"command\": \"n\",\n\t  "
      "\"args\": [\"-y\", \".\"]\n\t}\n}}");
}

TEST(Merge, WorksInOneLineAndInEveryPlace) {
  for (const char* text :
       {R"({"mcpServers":{"old":{"command":"o"}}})", R"({"mcpServers":{}})", "{}", " {\n}\n",
        R"({"servers": {"old": {"command": "o"}}})", R"({"corral": {}})", R"({"corral": {},})",
        "// only\n{ // x\n}", "\xEF\xBB\xBF{}", "{\r\n  \"mcpServers\": {\r\n  }\r\n}\r\n",
        R"({"mcpServers": {"old": {"command": "}"} /* } */ , /* , */ } })"}) {
    const Merge merge = merged(text, {server("new", "n"), server("more", "m")});
    const Result<Configuration> after = parse(merge.text, "f");
    ASSERT_TRUE(after) << merge.text;
    ASSERT_NE(after->find("new"), nullptr) << merge.text;
    EXPECT_THAT(after->find("more")->argv, ElementsAre("m", "-y", ".")) << merge.text;
    EXPECT_EQ(after->find("old") != nullptr, std::string(text).find("old") != std::string::npos)
        << merge.text;
  }
}

TEST(Merge, KeepsTheLineEndsOfTheFile) {
  const Merge merge = merged("{\r\n  \"mcpServers\": {\r\n  }\r\n}\r\n", {server("a", "x")});

  for (std::size_t at = merge.text.find('\n'); at != std::string::npos; at = merge.text.find('\n', at + 1)) {
    EXPECT_EQ(merge.text[at - 1], '\r');
  }
}

TEST(Merge, LeavesExistingServersAlone) {
  const std::string text = R"({"mcpServers": {"a": {"command": "mine"}}})";

  const Merge merge = merged(text, {server("a", "theirs")});

  EXPECT_EQ(merge.text, text);
  EXPECT_THAT(merge.kept, ElementsAre("a"));
  EXPECT_THAT(merge.added, IsEmpty());
}

TEST(Merge, ReplacesOnDemandAndKeepsTheCorralObject) {
  const Merge merge = merged(R"({"mcpServers": {
  "a": {"command": "mine", "corral": {"share": "session"}}, // c
  "b": {"command": "b"}}})",
                             {server("a", "theirs"), server("c", "c")}, Existing::Replace);

  const Result<Configuration> after = parse(merge.text, "f");
  ASSERT_TRUE(after) << merge.text;
  EXPECT_THAT(after->find("a")->argv, ElementsAre("theirs", "-y", "."));
  EXPECT_EQ(after->find("a")->share, Share::Session);
  EXPECT_NE(after->find("b"), nullptr);
  EXPECT_NE(after->find("c"), nullptr);
  EXPECT_THAT(merge.text, HasSubstr("}, // c\n"));
  EXPECT_THAT(merge.replaced, ElementsAre("a"));
}

TEST(Merge, LetsANewOptionReplaceTheOldOneAndKeepsTheOthers) {
  const Merge merge =
      merged(R"({"mcpServers": {"a": {"command": "x", "corral": {"share": "session", "pids": 7}}}})",
             {{"a", {{"command", "y"}, {"corral", {{"share", "root"}}}}}}, Existing::Replace);

  const Result<Configuration> after = parse(merge.text, "f");
  ASSERT_TRUE(after) << merge.text;
  EXPECT_EQ(after->find("a")->argv.front(), "y");
  EXPECT_EQ(after->find("a")->share, Share::Root);
  EXPECT_EQ(after->find("a")->limits.processes, 7U);
}

TEST(Merge, ReplacesTheLastServerBesideANewOne) {
  const Merge merge = merged(R"({"mcpServers": {"a": {"command": "mine"}}})",
                             {server("b", "b"), server("a", "theirs")}, Existing::Replace);

  const Result<Configuration> after = parse(merge.text, "f");
  ASSERT_TRUE(after) << merge.text;
  EXPECT_EQ(after->find("a")->argv.front(), "theirs");
  EXPECT_NE(after->find("b"), nullptr);
}

TEST(Merge, WritesEveryLetterSoThatItIsReadAgain) {
  const std::string hard = "q\" b\\ t\t u\xC3\xBC // ${A}";
  const Merge merge = merged("", {{"näme \"q\"", {{"command", hard}, {"env", {{"A", hard}}}}}});

  const Result<Configuration> after = parse(merge.text, "f");
  ASSERT_TRUE(after) << merge.text;
  EXPECT_EQ(after->find("näme \"q\"")->argv.front(), hard);
  EXPECT_EQ(after->find("näme \"q\"")->env.front().second, hard);
}

TEST(Merge, TouchesNoFileThatIsWrong) {
  const Result<Merge> broken = merge_servers("{", "f.json", {server("a", "x")}, Existing::Keep);
  const Result<Merge> faulty =
      merge_servers(R"({"mcpServers": []})", "f.json", {server("a", "x")}, Existing::Keep);

  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("f.json:1:2"));
  ASSERT_FALSE(faulty);
  EXPECT_THAT(faulty.error().message, HasSubstr("must be an object"));
}

TEST(Merge, RefusesToWriteWhatItCouldNotRead) {
  const Result<Merge> merge = merge_servers("", "f.json", {{"corral", {{"command", "x"}}}}, Existing::Keep);

  ASSERT_FALSE(merge);
  EXPECT_THAT(merge.error().message, HasSubstr("left alone"));
}

}  // namespace
}  // namespace corral::config
