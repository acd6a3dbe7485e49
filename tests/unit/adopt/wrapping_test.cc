// Where corral's words go in a text, letter by letter, and how they come out of another layout again.
#include "adopt/wrapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "known/config_text.h"

namespace corral::adopt {
namespace {

using known::ConfigFormat;
using ::testing::HasSubstr;

const Front kFront{"/c", {"run", "--"}};

std::vector<EntryText> entries_of(const std::string& text, ConfigFormat format) {
  const known::ConfigText parsed = known::parse_config(text, format);
  EXPECT_EQ(parsed.error, "") << text;
  return find_entries({text, parsed.value, format}, "t");
}

std::string adopted(const std::string& text, ConfigFormat format) {
  const std::vector<EntryText> entries = entries_of(text, format);
  return entries.size() == 1 ? config::applied(text, wrap(text, format, entries.front(), kFront).edits) : "?";
}

std::string json(const std::string& entry) {
  constexpr std::size_t kBefore = 12;  // {"t": {"a":
  const std::string text = adopted("{\"t\": {\"a\": " + entry + "}}", ConfigFormat::Json);
  return text.size() < kBefore + 2 ? text : text.substr(kBefore, text.size() - kBefore - 2);
}

std::string released(const std::string& text, ConfigFormat format, const Undo& undo) {
  const std::vector<EntryText> entries = entries_of(text, format);
  const Result<std::vector<config::Edit>> edits = unwrap(text, entries.front(), undo);
  return edits ? config::applied(text, *edits) : "error: " + edits.error().message;
}

TEST(AdoptWrapping, PutsTheCommandIntoTheListAsItIsWritten) {
  EXPECT_EQ(json(R"({"command": "n\u0070x", "args": ["-y"]})"),
            R"({"command": "/c", "args": ["run", "--", "n\u0070x", "-y"]})");
  EXPECT_EQ(json(R"({"args":[],"command":"a"})"), R"({"args":["run", "--", "a"],"command":"/c"})");
  EXPECT_EQ(json(R"({"command": "a", "args": null})"), R"({"command": "/c", "args": ["run", "--", "a"]})");
  EXPECT_EQ(json(R"({"command": "a"})"), R"({"command": "/c", "args": ["run", "--", "a"]})");
  EXPECT_EQ(json(R"({"command": ["a", "b"]})"), R"({"command": ["/c", "run", "--", "a", "b"]})");
  EXPECT_EQ(json(R"({"command": {"path": "a", "args": ["b"]}})"),
            R"({"command": {"path": "/c", "args": ["run", "--", "a", "b"]}})");
}

TEST(AdoptWrapping, KeepsTheLayoutOfLines) {
  EXPECT_EQ(
      json("{\n\t\"command\": \"a\",\n\t\"args\": [\n\t\t// first\n\t\t\"b\", // second\n\t]\n}"),
      "{\n\t\"command\": \"/c\",\n\t\"args\": [\n\t\t// first\n\t\t\"run\", \"--\", \"a\",\n\t\t\"b\", // "
      "second\n\t]\n}");
  EXPECT_EQ(json("{\r\n  \"command\": \"a\" // why\r\n}"),
            "{\r\n  \"command\": \"/c\",\r\n  \"args\": [\"run\", \"--\", \"a\"] // why\r\n}");
}

TEST(AdoptWrapping, AddsALineToATableOfToml) {
  EXPECT_EQ(adopted("[t.a]\n  command = 'a' # why\n[x]\n", ConfigFormat::Toml),
            "[t.a]\n  command = \"/c\" # why\n  args = [\"run\", \"--\", 'a']\n[x]\n");
  EXPECT_EQ(adopted("[t.a]\r\ncommand = 'a'", ConfigFormat::Toml),
            "[t.a]\r\ncommand = \"/c\"\r\nargs = [\"run\", \"--\", 'a']");
  EXPECT_EQ(adopted("[t]\na = { command = 'a' }\n", ConfigFormat::Toml),
            "[t]\na = { command = \"/c\", args = [\"run\", \"--\", 'a'] }\n");
}

TEST(AdoptWrapping, ComesOutOfTheLayoutOfAnotherProgram) {
  const Undo list{2, Arguments::List, LastLine::Whole};
  const Undo absent{2, Arguments::Absent, LastLine::Whole};
  EXPECT_EQ(released("{\"t\":{\"a\":{\"command\":\"/c\",\"args\":[\"run\",\"--\",\"a\",\"b\"]}}}",
                     ConfigFormat::Json, list),
            R"({"t":{"a":{"command":"a","args":["b"]}}})");
  EXPECT_EQ(released("{\"t\":{\"a\":{\"command\":\"/c\",\"args\":[\n\"run\",\n\"--\",\n\"a\",\n]}}}",
                     ConfigFormat::Json, list),
            "{\"t\":{\"a\":{\"command\":\"a\",\"args\":[\n\n]}}}");
  EXPECT_EQ(released(R"({"t":{"a":{"args":["run","--","a"],"command":"/c"}}})", ConfigFormat::Json, absent),
            R"({"t":{"a":{"command":"a"}}})");
  EXPECT_EQ(released(R"({"t":{"a":{"command":"/c","type":"stdio","args":["run","--","a"]}}})",
                     ConfigFormat::Json, absent),
            R"({"t":{"a":{"command":"a","type":"stdio"}}})");
  EXPECT_EQ(released("[t.a]\nargs = [\n  \"run\",\n  \"--\",\n  \"a\",\n]\ncommand = \"/c\"\n",
                     ConfigFormat::Toml, absent),
            "[t.a]\ncommand = \"a\"\n");
  EXPECT_EQ(released("[t]\na = { args = ['run', '--', 'a'], command = '/c' }\n", ConfigFormat::Toml, absent),
            "[t]\na = { command = 'a' }\n");
}

TEST(AdoptWrapping, DoesNotDeleteAComment) {
  const Undo list{2, Arguments::List, LastLine::Whole};
  const Undo absent{2, Arguments::Absent, LastLine::Whole};
  EXPECT_THAT(
      released("{\"t\":{\"a\":{\"command\":\"/c\",\"args\":[\"run\", /* mine */ \"--\",\"a\",\"b\"]}}}",
               ConfigFormat::Json, list),
      HasSubstr("a comment is among the words"));
  EXPECT_THAT(
      released("[t.a]\ncommand = '/c'\nargs = ['run', '--', 'a'] # mine\n", ConfigFormat::Toml, absent),
      HasSubstr("a comment is among the words"));
}

TEST(AdoptWrapping, NoticesAChangeThatIsNotIntended) {
  const std::string text = R"({"t": {"a": {"command": "a"}}, "other": 1})";
  const known::ConfigText before = known::parse_json_config(text);
  const EntryText entry = entries_of(text, ConfigFormat::Json).front();
  const std::vector<Expected> expected = {{entry.keys, wrapped_value(entry, kFront)}};
  const auto check = [&](const std::string& now) {
    return static_cast<bool>(check_change(before.value, expected, now, ConfigFormat::Json));
  };

  EXPECT_TRUE(check(R"({"t": {"a": {"command": "/c", "args": ["run", "--", "a"]}}, "other": 1})"));
  EXPECT_FALSE(check(R"({"t": {"a": {"command": "/c", "args": ["run", "--", "a"]}}, "other": 2})"));
  EXPECT_FALSE(check(R"({"t": {"a": {"command": "/c", "args": ["run", "--", "b"]}}, "other": 1})"));
  EXPECT_FALSE(check(R"({"t": {"a": {"command": "/c", "args": ["run", "--", "a"]}}, "other": 1)"));
}

}  // namespace
}  // namespace corral::adopt
