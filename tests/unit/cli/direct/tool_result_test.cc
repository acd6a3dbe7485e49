#include "cli/direct/tool_result.h"

#include <gtest/gtest.h>

#include "cli/direct/direct_options.h"
#include "cli/direct/tool_catalog.h"
#include "cli/screen/json_layout.h"

namespace corral::cli {
namespace {

TEST(ToolResult, TextIsPrintedAndEverythingElseDescribed) {
  EXPECT_EQ(shown_result(R"({"content":[
    {"type":"text","text":"two\nlines\n"}, {"type":"text","text":"no end"},
    {"type":"image","mimeType":"image/png","data":"AAAA"},
    {"type":"audio","data":"AAA="},
    {"type":"resource","resource":{"uri":"a://b","mimeType":"text/plain","text":"12345"}},
    {"type":"resource","resource":{"uri":"a://c","blob":"AAAAAAAA"}},
    {"type":"resource_link","name":"n","uri":"a://d","size":7},
    {"type":"hologram"}, 7]})"),
            "two\nlines\nno end\n[image image/png, 3 B]\n[audio 2 B]\n[resource a://b: text/plain, 5 B]\n"
            "[resource a://c: 6 B]\n[resource link n: a://d, 7 bytes]\n[hologram, 19 B of JSON]\n"
            "[content without a type, 1 B of JSON]\n");
}

TEST(ToolResult, StructuredContentStandsInForNothing) {
  EXPECT_EQ(shown_result(R"({"content":[],"structuredContent":{"n":12345678901234567890123}})"),
            "{\n  \"n\": 12345678901234567890123\n}\n");
  EXPECT_EQ(shown_result(R"({"content":[{"type":"text","text":"x"}],"structuredContent":{"n":1}})"), "x\n");
  EXPECT_EQ(shown_result("{}"), "");
}

TEST(ToolResult, OnlyTrueIsAnError) {
  EXPECT_TRUE(is_error(R"({"isError":true})"));
  EXPECT_FALSE(is_error(R"({"isError":false})"));
  EXPECT_FALSE(is_error(R"({"isError":"true"})"));
  EXPECT_FALSE(is_error(R"({"content":[{"isError":true}]})"));
}

TEST(ToolResult, NewsAreOneLineWithNothingThatSteersATerminal) {
  EXPECT_EQ(shown_progress(R"({"progress":2,"total":10,"message":"a\u001b[31m\nb"})"),
            "2/10 a\xEF\xBF\xBD[31m b");
  EXPECT_EQ(shown_progress(R"({"progress":"x"})"), "");
  EXPECT_EQ(shown_log(R"({"level":"error","logger":"db","data":{"a": 1}})"), "error db: {\"a\":1}");
}

TEST(JsonLayout, IndentsNoFurtherThanFortyLevels) {
  std::string deep(10000, '[');
  deep.append("1").append(10000, ']');

  const std::string text = laid_out(deep);

  EXPECT_LT(text.size(), std::size_t{20001} * 82);
  EXPECT_EQ(on_one_line(text), deep);
}

TEST(JsonLayout, IndentsWithoutChangingAValue) {
  EXPECT_EQ(laid_out(R"({"a":[1.50,{}],"b":"{,:\"}", "c":[]})"),
            "{\n  \"a\": [\n    1.50,\n    {}\n  ],\n  \"b\": \"{,:\\\"}\",\n  \"c\": []\n}");
}

TEST(DirectOptions, ALineIsCutAsAShellDoesIt) {
  const auto cut = [](const std::string& line) { return split_line(line).value(); };
  using Words = std::vector<std::string>;

  EXPECT_EQ(cut("  npx -y\tserver "), (Words{"npx", "-y", "server"}));
  EXPECT_EQ(cut(R"('a b' "c d"'e' f\ g "" "h\"i\j" 'k\l')"),
            (Words{"a b", "c de", "f g", "", "h\"i\\j", "k\\l"}));
  EXPECT_EQ(cut("$HOME *"), (Words{"$HOME", "*"}));
  EXPECT_EQ(cut(""), Words{});
  EXPECT_FALSE(split_line("'open"));
}

TEST(ToolCatalog, AVendorsSchemaHasATypeAndProperties) {
  EXPECT_EQ(in_format(Tool{"t", "", R"({"name":"t"})"}, Format::Anthropic),
            R"({"name":"t","input_schema":{"properties":{},"type":"object"}})");
  EXPECT_EQ(in_format(Tool{"t", "d\"", R"({"name":"t","inputSchema":{}})"}, Format::OpenAi),
            R"({"type":"function","function":{"name":"t","description":"d\"","parameters":)"
            R"({"type":"object","properties":{}}}})");
  EXPECT_EQ(in_format(std::vector<Tool>{}, Format::Mcp), "[]");
}

TEST(ToolCatalog, AListThatCouldNotBeHadIsNotAnUnknownTool) {
  ToolCatalog catalog;
  catalog.tools = {{"echo", "", R"({"name":"echo"})"}};
  catalog.answer = {Answer::Kind::Result, "{}", "", 0};
  EXPECT_EQ(catalog.why_missing("eco", "'s'").exit_code, kBadArguments);
  EXPECT_EQ(catalog.why_missing("eco", "'s'").message,
            "'s' has no tool 'eco': did you mean echo? `corral tools` lists 1");

  catalog.answer = {Answer::Kind::TimedOut, "", "no answer in time", kTimedOut};
  EXPECT_EQ(catalog.why_missing("eco", "'s'").exit_code, kTimedOut);
  EXPECT_EQ(catalog.why_missing("eco", "'s'").message, "no answer in time");
}

}  // namespace
}  // namespace corral::cli
