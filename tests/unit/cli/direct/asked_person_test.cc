// A server's question to a person, with what they type on a pipe in place of a terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <sstream>

#include "cli/direct/elicitation.h"

namespace corral::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class AskedPerson : public testing::Test {
 protected:
  AskedPerson() { sigprocmask(SIG_BLOCK, nullptr, &mask_); }
  ~AskedPerson() override { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

  /// The result if a person types this and then leaves.
  std::string answer(const std::string& question, const std::string& typed) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 18);
    EXPECT_EQ(write(ends[1], typed.data(), typed.size()), static_cast<ssize_t>(typed.size()));
    close(ends[1]);
    const int stdin_before = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    std::ostringstream shown;
    std::streambuf* const before = std::cerr.rdbuf(shown.rdbuf());
    Interrupts interrupts;
    const std::optional<std::string> result = ask_person(question, interrupts);
    std::cerr.rdbuf(before);
    dup2(stdin_before, STDIN_FILENO);
    close(stdin_before);
    shown_ = shown.str();
    return result.value_or("interrupted");
  }
  /// The content of one field with this schema.
  std::string field(const std::string& schema, const std::string& typed, bool required = true) {
    const std::string result = answer(R"({"message":"m","requestedSchema":{"properties":{"f":)" + schema +
                                          "}" + (required ? R"(,"required":["f"])" : "") + "}}",
                                      "y\n" + typed);
    const std::string head = R"({"action":"accept","content":)";
    return result.starts_with(head) ? result.substr(head.size(), result.size() - head.size() - 1) : result;
  }

  sigset_t mask_{};
  std::string shown_;
};

TEST_F(AskedPerson, AnswersYesNoOrNeither) {
  const std::string question = R"({"message":"May I?\nReally\u001b[2J"})";
  for (const char* const yes : {"y\n", "yes\n", "yes \t\r\n", "what?\n\ny\n"}) {
    EXPECT_EQ(answer(question, yes), R"({"action":"accept","content":{}})") << yes;
  }
  for (const char* const no : {"n\n", "no\n"})
    EXPECT_EQ(answer(question, no), R"({"action":"decline"})") << no;
  for (const char* const neither : {"c\n", "cancel\n", "", "y"}) {
    EXPECT_EQ(answer(question, neither), R"({"action":"cancel"})") << neither;
  }
  answer(question, "n\n");
  EXPECT_EQ(shown_, "The server asks: May I?\nReally�[2J\nAnswer? [y]es, [n]o, [c]ancel: ");
  answer(question, "");
  EXPECT_THAT(shown_, EndsWith("[c]ancel: \n"));
  EXPECT_EQ(answer("{", "y\n"), R"({"action":"cancel"})");
}

TEST_F(AskedPerson, GoesToAnAddressThemselves) {
  const std::string question = R"({"mode":"url","message":"Log in","url":"https://a.example/\u0007x"})";
  EXPECT_EQ(answer(question, "y\n"), R"({"action":"accept"})");
  EXPECT_EQ(shown_, R"(The server asks: Log in
It asks you to visit this address, which corral does not open for you:
  https://a.example/�x
Will you visit it? [y]es, [n]o, [c]ancel: )");
  EXPECT_EQ(answer(question, "n\n"), R"({"action":"decline"})");
}

TEST_F(AskedPerson, IsAskedEachFieldInTurn) {
  const std::string question = R"({"message":"Who?","requestedSchema":{"type":"object","properties":{
    "name":{"type":"string","title":"Your name","description":"as in\nthe passport"},
    "age":{"type":"integer","minimum":18},"nick":{"type":"string"},
    "color":{"type":"string","enum":["r","g"],"default":"g"}},"required":["name","age"]}})";

  EXPECT_EQ(answer(question, "y\nAnn \"A\"\n17\n18\n\n\n"),
            R"({"action":"accept","content":{"name":"Ann \"A\"","age":18,"color":"g"}})");
  EXPECT_EQ(
      shown_,
      "The server asks: Who?\nAnswer? [y]es, [n]o, [c]ancel:   Your name, as in the passport "
      "(string): "
      "  age (integer, from 18):   Invalid value, expected: integer, from 18\n  age (integer, from 18): "
      "  nick (string; optional):   color (one of: r, g) [\"g\"]: ");
  EXPECT_EQ(answer(question, "y\n\nAnn\n20\nA\nr\n"),
            R"({"action":"accept","content":{"name":"Ann","age":20,"nick":"A","color":"r"}})");
  EXPECT_EQ(answer(question, "y\nAnn\n"), R"({"action":"cancel"})");
}

struct Given {
  const char* schema;
  const char* typed;
  const char* content;
};

TEST_F(AskedPerson, IsAskedUntilTheAnswerFitsTheField) {
  const std::vector<Given> all = {
      {R"({"type":"string"})", "a b\n", R"({"f":"a b"})"},
      {R"({})", "x\n", R"({"f":"x"})"},
      {R"({"type":"boolean"})", "y\n", R"({"f":true})"},
      {R"({"type":"boolean"})", "yes\n", R"({"f":true})"},
      {R"({"type":"boolean"})", "true\n", R"({"f":true})"},
      {R"({"type":"boolean"})", "maybe\nn\n", R"({"f":false})"},
      {R"({"type":"boolean"})", "no\n", R"({"f":false})"},
      {R"({"type":"boolean"})", "false\n", R"({"f":false})"},
      {R"({"type":"integer"})", "1.5\nx\n-3\n", R"({"f":-3})"},
      {R"({"type":"integer"})", "\"3\"\n12345678901234567890\n", R"({"f":12345678901234567890})"},
      {R"({"type":"number"})", "1.50\n", R"({"f":1.50})"},
      {R"({"type":"number","minimum":1,"maximum":2})", "0.9\n2.1\n1\n", R"({"f":1})"},
      {R"({"type":"number","minimum":1,"maximum":2})", "2\n", R"({"f":2})"},
      {R"({"type":"number","minimum":"1"})", "0\n", R"({"f":0})"},
      {R"({"type":"string","enum":["a",7,"b"],"enumNames":["Ay",8]})", "c\n7\nAy\n", R"({"f":"a"})"},
      {R"({"type":"string","enum":["a","b"],"enumNames":["Ay"]})", "b\n", R"({"f":"b"})"},
      {R"({"oneOf":[{"const":"a","title":"Ay"},{"title":"No"},{"const":"b"}]})", "No\nAy\n", R"({"f":"a"})"},
      {R"({"anyOf":[{"const":"a"},{"const":"b","title":"Bee"}]})", "Bee\n", R"({"f":"b"})"},
      {R"({"type":"array"})", "a, b c,,d \n", R"({"f":["a","b c","d"]})"},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "a,c\nb, a\n", R"({"f":["b","a"]})"},
      {R"({"type":"array","items":{"enum":["a","b"]}})", ",a\n", R"({"f":["a"]})"},
      {R"({"type":"string","default":"d"})", "\n", R"({"f":"d"})"},
      {R"({"type":"integer","default":7})", "8\n", R"({"f":8})"},
      {R"({"type":"string"})", "\n\nx\n", R"({"f":"x"})"},
  };
  for (const Given& one : all)
    EXPECT_EQ(field(one.schema, one.typed), one.content) << one.schema << one.typed;
  EXPECT_EQ(field(R"({"type":"string"})", "\n", false), "{}");
  EXPECT_EQ(field(R"({"type":"string"})", "x\n", false), R"({"f":"x"})");
  EXPECT_EQ(field(R"({"type":"integer"})", "1.5\n"), R"({"action":"cancel"})");
}

TEST_F(AskedPerson, TypesNoEndlessLine) {
  const auto typed = [this](std::size_t length) {
    return answer(R"({"message":"m"})", std::string(length, 'x') + "\ny\n");
  };
  EXPECT_EQ(typed(65536), R"({"action":"accept","content":{}})");
  EXPECT_EQ(typed(65537), R"({"action":"cancel"})");
}

TEST_F(AskedPerson, IsNotThereIfStdinIsNotATerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  EXPECT_FALSE(has_person());
  dup2(before, STDIN_FILENO);
  for (const int fd : {ends[0], ends[1], before}) close(fd);
}

TEST_F(AskedPerson, IsToldWhatFitsInWords) {
  field(R"({"type":"array","items":{"oneOf":[{"const":"a","title":"Ay"},{"const":"b"}]}})", "a\n");
  EXPECT_THAT(shown_, HasSubstr("  f (some of: a (Ay), b): "));
  field(R"({"type":"array"})", "a\n", false);
  EXPECT_THAT(shown_, HasSubstr("  f (separated by commas; optional): "));
  field(R"({"type":"number","maximum":2.5,"default":1})", "\n", false);
  EXPECT_THAT(shown_, HasSubstr("  f (number, to 2.5E0) [1]: "));
  EXPECT_THAT(shown_, Not(HasSubstr("left empty")));
}

}  // namespace
}  // namespace corral::cli
