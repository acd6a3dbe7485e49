#include <gtest/gtest.h>

#include "cli/direct/call_batch.h"
#include "cli/direct/tool_catalog.h"

namespace corral::cli {
namespace {

const Tool kEcho{"echo", "Says \"it\" again",
                 R"({"name":"echo","inputSchema":{"type":"object","properties":{"a":{}}},"x":1})"};
const Tool kBare{"bare", "", R"({"name":"bare"})"};

TEST(ToolFormats, AreTheArraysThatVendorsTake) {
  const std::vector<Tool> both = {kEcho, kBare};

  EXPECT_EQ(in_format(both, Format::Mcp), "[" + kEcho.json + "," + kBare.json + "]");
  EXPECT_EQ(in_format(both, Format::Anthropic),
            R"([{"name":"echo","description":"Says \"it\" again","input_schema":)"
            R"({"type":"object","properties":{"a":{}}}},)"
            R"({"name":"bare","input_schema":{"properties":{},"type":"object"}}])");
  EXPECT_EQ(
      in_format(both, Format::OpenAi),
      R"([{"type":"function","function":{"name":"echo","description":"Says \"it\" again","parameters":)"
      R"({"type":"object","properties":{"a":{}}}}},)"
      R"({"type":"function","function":{"name":"bare","parameters":{"properties":{},"type":"object"}}}])");
  EXPECT_EQ(in_format(std::vector<Tool>{}, Format::Mcp), "[]");
}

TEST(ToolFormats, ASchemaGetsWhatVendorsWantAndItLacks) {
  const auto schema = [](const std::string& text) {
    return in_format(Tool{"t", "", R"({"inputSchema":)" + text + "}"}, Format::Anthropic);
  };
  EXPECT_EQ(schema("{}"), R"({"name":"t","input_schema":{"type":"object","properties":{}}})");
  EXPECT_EQ(schema(R"({"type":"object"})"),
            R"({"name":"t","input_schema":{"properties":{},"type":"object"}})");
  EXPECT_EQ(schema(R"({"properties":{}})"),
            R"({"name":"t","input_schema":{"type":"object","properties":{}}})");
  EXPECT_EQ(schema("true"), R"({"name":"t","input_schema":{"properties":{},"type":"object"}})");
}

TEST(ToolFormats, TheSchemaOfAToolIsItsOwnIfItIsAnObject) {
  EXPECT_EQ(schema_of(kEcho), R"({"type":"object","properties":{"a":{}}})");
  EXPECT_EQ(schema_of(kBare), R"({"type":"object"})");
  EXPECT_EQ(schema_of(Tool{"t", "", R"({"inputSchema":[]})"}), R"({"type":"object"})");
}

ToolCatalog whole_catalog() {
  ToolCatalog catalog;
  catalog.answer = {Answer::Kind::Result, "{}", "", 0};
  catalog.tools = {kEcho, kBare};
  return catalog;
}

TEST(ToolCatalog, FindsAToolByItsWholeName) {
  const ToolCatalog catalog = whole_catalog();

  ASSERT_NE(catalog.find("bare"), nullptr);
  EXPECT_EQ(catalog.find("bare")->name, "bare");
  EXPECT_EQ(catalog.find("echo")->name, "echo");
  EXPECT_EQ(catalog.find("ech"), nullptr);
  EXPECT_EQ(catalog.find("echoo"), nullptr);
}

TEST(ToolCatalog, SaysWhyAToolIsMissing) {
  ToolCatalog catalog = whole_catalog();

  const Answer unknown = catalog.why_missing("ecko", "'files'");
  EXPECT_EQ(unknown.kind, Answer::Kind::Error);
  EXPECT_EQ(unknown.exit_code, kBadArguments);
  EXPECT_EQ(unknown.message, "'files' has no tool 'ecko': did you mean echo? `corral tools` lists 2");
  EXPECT_EQ(catalog.why_missing("qqqqqqqq", "'files'").message,
            "'files' has no tool 'qqqqqqqq': `corral tools` lists 2");
  catalog.answer = {Answer::Kind::TimedOut, "", "no answer in time", kTimedOut};
  EXPECT_EQ(catalog.why_missing("ecko", "'files'").message, "no answer in time");
  EXPECT_EQ(catalog.why_missing("ecko", "'files'").exit_code, kTimedOut);
}

TEST(ToolCatalog, TheExitCodeOfACallIsOneOnlyIfTheToolSaysThatItFailed) {
  const auto code = [](Answer::Kind kind, const char* json, int given) {
    return exit_code_of({kind, json, "", given});
  };
  EXPECT_EQ(code(Answer::Kind::Result, R"({"content":[]})", 0), 0);
  EXPECT_EQ(code(Answer::Kind::Result, R"({"content":[],"isError":true})", 0), kToolFailed);
  EXPECT_EQ(code(Answer::Kind::Result, R"({"content":[],"isError":false})", 0), 0);
  EXPECT_EQ(code(Answer::Kind::Error, R"({"isError":true})", kProtocolError), kProtocolError);
  EXPECT_EQ(code(Answer::Kind::Lost, "", kNotReached), kNotReached);
}

}  // namespace
}  // namespace corral::cli
