#include "config/removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/configuration.h"
#include "config/merge.h"

namespace corral::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string without(const std::string& name, const std::string& text) {
  const Result<std::string> changed = remove_server(text, "f.json", name);
  EXPECT_TRUE(changed) << changed.error().message << "\nin " << text;
  return changed ? *changed : "";
}

std::string refusal(const std::string& name, const std::string& text) {
  const Result<std::string> changed = remove_server(text, "f.json", name);
  EXPECT_FALSE(changed) << *changed;
  return changed ? "" : changed.error().message;
}

constexpr const char* kThree = R"({
  // all of them
  "mcpServers": { // here

    // about a
    /* and more
       of it */
    "a": {
      "command": "x" // inside
    }, // behind a

    // a section

    "b": {"command": "}"} /* b */ , // behind b
    // about c
    "c": {"command": "z"} // behind c
    // the end
  },
  "corral": {"drain": "1s"} /* last */
}
)";

TEST(Removal, TakesTheCommentsOfTheFirstServerAndNoOthers) {
  EXPECT_EQ(without("a", kThree), R"({
  // all of them
  "mcpServers": { // here


    // a section

    "b": {"command": "}"} /* b */ , // behind b
    // about c
    "c": {"command": "z"} // behind c
    // the end
  },
  "corral": {"drain": "1s"} /* last */
}
)");
}

TEST(Removal, LeavesACommentThatABlankLinePartsFromTheServer) {
  EXPECT_EQ(without("b", kThree), R"({
  // all of them
  "mcpServers": { // here

    // about a
    /* and more
       of it */
    "a": {
      "command": "x" // inside
    }, // behind a

    // a section

    // about c
    "c": {"command": "z"} // behind c
    // the end
  },
  "corral": {"drain": "1s"} /* last */
}
)");
}

TEST(Removal, TakesTheCommaBeforeTheLastServer) {
  EXPECT_EQ(without("c", kThree), R"({
  // all of them
  "mcpServers": { // here

    // about a
    /* and more
       of it */
    "a": {
      "command": "x" // inside
    }, // behind a

    // a section

    "b": {"command": "}"} /* b */  // behind b
    // the end
  },
  "corral": {"drain": "1s"} /* last */
}
)");
}

TEST(Removal, KeepsATrailingCommaIfThereWasOne) {
  EXPECT_EQ(
      without("b", "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n  \"b\": {\"command\": \"y\"},\n}}"),
      "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"},\n}}");
}

TEST(Removal, WorksInOneLine) {
  const std::string both = R"({"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}})";

  EXPECT_EQ(without("a", both), R"({"mcpServers": {"b": {"command": "y"}}})");
  EXPECT_EQ(without("b", both), R"({"mcpServers": {"a": {"command": "x"}}})");
  EXPECT_EQ(without("a", R"({"mcpServers": {"a": {"command": "x"}}})"), R"({"mcpServers": {}})");
  EXPECT_EQ(without("a", R"({"mcpServers":{"a":{"command":"x"} /* a */ , /* b */ "b":{"command":"y"}}})"),
            R"({"mcpServers":{/* b */ "b":{"command":"y"}}})");
}

TEST(Removal, LeavesALineThatTwoServersShareWithItsComments) {
  EXPECT_EQ(without("a",
                    "{\"mcpServers\": {\n  // both\n  \"a\": {\"command\": \"x\"}, \"b\": {\"command\": "
                    "\"y\"} // too\n}}"),
            "{\"mcpServers\": {\n  // both\n  \"b\": {\"command\": \"y\"} // too\n}}");
  EXPECT_EQ(without("b",
                    "{\"mcpServers\": {\n  // both\n  \"a\": {\"command\": \"x\"}, \"b\": {\"command\": "
                    "\"y\"} // too\n}}"),
            "{\"mcpServers\": {\n  // both\n  \"a\": {\"command\": \"x\"} // too\n}}");
}

TEST(Removal, MindsCommasAtTheBeginningOfLines) {
  const std::string text =
      "{\"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  , \"b\": {\"command\": \"y\"}\n  , \"c\": "
      "{\"command\": \"z\"}\n}}";

  EXPECT_EQ(without("b", text),
            "{\"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  , \"c\": {\"command\": \"z\"}\n}}");
  for (const char* name : {"a", "b", "c"}) {
    const Result<Configuration> after = parse(without(name, text), "f");
    ASSERT_TRUE(after) << name;
    EXPECT_EQ(after->servers.size(), 2U);
    EXPECT_EQ(after->find(name), nullptr);
  }
}

TEST(Removal, FindsAServerInEitherTableByWhatItsNameMeans) {
  const std::string text =
      R"({"servers": {"a": {"command": "x"}}, "mcpServers": {"\u0062": {"command": "y"}, "far": {"url": "u"}}})";

  EXPECT_EQ(parse(without("a", text), "f")->find("a"), nullptr);
  EXPECT_EQ(parse(without("b", text), "f")->find("b"), nullptr);
  EXPECT_THAT(without("far", text), AllOf(HasSubstr("\\u0062"), Not(HasSubstr("far"))));
}

TEST(Removal, KeepsByteOrderMarkAndLineEnds) {
  EXPECT_EQ(
      without(
          "b",
          "\xEF\xBB\xBF{\r\n \"mcpServers\": {\r\n  \"a\": {\"command\": \"x\"},\r\n  \"b\": {\"command\": "
          "\"y\"} // b\r\n }\r\n}\r\n"),
      "\xEF\xBB\xBF{\r\n \"mcpServers\": {\r\n  \"a\": {\"command\": \"x\"}\r\n }\r\n}\r\n");
}

TEST(Removal, UndoesWhatMergeDid) {
  for (const char* text :
       {"{\n  \"mcpServers\": {\n    \"old\": {\"command\": \"o\"} // c\n    // end\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"old\": {\"command\": \"o\"}\n  }\n}\n"}) {
    const Result<Merge> merge = merge_servers(text, "f", {{"new", {{"command", "n"}}}}, Existing::Keep);
    ASSERT_TRUE(merge);

    const Result<Configuration> after = parse(without("new", merge->text), "f");

    ASSERT_TRUE(after);
    EXPECT_NE(after->find("old"), nullptr);
    EXPECT_EQ(after->servers.size(), 1U);
  }
  const std::string plain = "{\n  \"mcpServers\": {\n    \"old\": {\"command\": \"o\"}\n  }\n}\n";
  const Result<Merge> merge = merge_servers(plain, "f", {{"new", {{"command", "n"}}}}, Existing::Keep);
  ASSERT_TRUE(merge);
  EXPECT_EQ(without("new", merge->text), plain);
}

TEST(Removal, NamesTheNearestServerIfThereIsNoneOfThatName) {
  const std::string text = R"({"mcpServers": {"files": {"command": "x"}}})";

  EXPECT_EQ(refusal("fiels", text), "no server in 'f.json' is called 'fiels'. Did you mean 'files'?");
  EXPECT_THAT(refusal("quite else", text), HasSubstr("`corral list`"));
  EXPECT_EQ(remove_server(text, "f.json", "x").error().kind, Error::Kind::NotFound);
}

TEST(Removal, TouchesNoFileThatIsWrong) {
  EXPECT_THAT(refusal("a", "{"), HasSubstr("f.json:1:2"));
  EXPECT_THAT(refusal("a", R"({"mcpServers": {"a": {"command": "x"}, "b": 1}})"), HasSubstr("server 'b'"));
}

}  // namespace
}  // namespace corral::config
