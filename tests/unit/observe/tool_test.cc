#include "observe/tool.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace corral::observe {
namespace {

namespace json = boost::json;

Tool some_tool() {
  Tool tool;
  tool.name = "tune";
  tool.title = "Tune";
  tool.description = "Tunes it.";
  tool.output_schema = "{}";
  tool.parameters = {{"server", Parameter::Type::Text, "whose", true},
                     {"note", Parameter::Type::Text, "why", false},
                     {"lines", Parameter::Type::Number, "how many", false, -5, 100},
                     {"all", Parameter::Type::Flag, "everything", false}};
  return tool;
}

json::object object(const std::string& text) { return json::parse(text).as_object(); }

/// Empty if the arguments fit.
std::string trouble(const std::string& arguments) {
  const auto checked = check_arguments(some_tool(), object(arguments));
  return checked ? "" : checked.error().message;
}

TEST(ToolArguments, FitTheirParameters) {
  for (const char* more :
       {"", R"(,"note":"")", R"(,"note":7)", R"(,"note":18446744073709551615)", R"(,"lines":-5)",
        R"(,"lines":100)", R"(,"lines":1e2)", R"(,"lines":-5.0)", R"(,"all":true)", R"(,"all":false)"}) {
    EXPECT_EQ(trouble(R"({"server":"a")" + std::string(more) + "}"), "") << more;
  }
  EXPECT_EQ(trouble(R"({"server":")" + std::string(4096, 'x') + "\"}"), "");
}

TEST(ToolArguments, AreRefusedWithASentenceThatHelps) {
  const std::string server = R"({"server":"a",)";
  const std::string lines =
      "tool tune: argument \"lines\" must be a whole number from -5 to 100; it is: how many";
  EXPECT_EQ(trouble("{}"), "tool tune: argument \"server\" is missing; it is: whose");
  EXPECT_EQ(trouble(R"({"server":""})"), "tool tune: argument \"server\" is empty; it is: whose");
  EXPECT_EQ(trouble(R"({"server":1.5})"), "tool tune: argument \"server\" must be a string; it is: whose");
  EXPECT_EQ(trouble(R"({"server":")" + std::string(4097, 'x') + "\"}"),
            "tool tune: argument \"server\" is longer than 4096 bytes; it is: whose");
  for (const char* text : {"\\u0000", "a\\u001f", "\\u007fb"}) {
    EXPECT_EQ(trouble(R"({"server":")" + std::string(text) + "\"}"),
              "tool tune: argument \"server\" contains a control character; it is: whose");
  }
  for (const char* number :
       {"-6", "101", "1.5", "\"7\"", "1e15", "-1e15", "1e300", "-1e300", "true", "18446744073709551615"}) {
    EXPECT_EQ(trouble(server + R"("lines":)" + number + "}"), lines) << number;
  }
  EXPECT_EQ(trouble(server + R"("all":1})"),
            "tool tune: argument \"all\" must be true or false; it is: everything");
  EXPECT_EQ(trouble(server + R"("line":1})"),
            "tool tune has no argument \"line\": did you mean \"lines\"? it takes server, note, lines, all");
  EXPECT_EQ(trouble(server + "\"" + std::string(65, 'q') + "\":1}"),
            "tool tune has no argument \"" + std::string(64, 'q') + "\": it takes server, note, lines, all");
  Tool none = some_tool();
  none.parameters.clear();
  EXPECT_EQ(check_arguments(none, object(R"({"a":1})")).error().message,
            "tool tune has no argument \"a\": it takes no arguments");
}

TEST(ToolArguments, AreReadAsTheirType) {
  const json::object given = object(
      R"({"text":"a","number":7,"large":18446744073709551615,"float":5.0,"half":0.5,"yes":true,"no":false})");
  EXPECT_EQ(text_argument(given, "text"), "a");
  EXPECT_EQ(text_argument(given, "number"), "7");
  EXPECT_EQ(text_argument(given, "large"), "18446744073709551615");
  EXPECT_EQ(text_argument(given, "yes"), "");
  EXPECT_EQ(text_argument(given, "missing"), "");
  EXPECT_TRUE(flag_argument(given, "yes"));
  for (const char* name : {"no", "text", "number", "missing"})
    EXPECT_FALSE(flag_argument(given, name)) << name;
  EXPECT_EQ(number_argument(given, "number", 3), 7);
  EXPECT_EQ(number_argument(given, "float", 3), 5);
  for (const char* name : {"half", "text", "large", "missing"})
    EXPECT_EQ(number_argument(given, name, 3), 3) << name;
}

TEST(ToolEntry, DescribesItsArgumentsAndWhatItDoes) {
  Tool tool = some_tool();
  const std::string schema =
      R"({"type":"object","properties":{"server":{"type":"string","description":"whose","minLength":1},)"
      R"("note":{"type":"string","description":"why"},)"
      R"("lines":{"type":"integer","description":"how many","minimum":-5,"maximum":100},)"
      R"("all":{"type":"boolean","description":"everything","default":false}},"required":["server"],)"
      R"("additionalProperties":false})";
  const std::string head = R"({"name":"tune","title":"Tune","description":"Tunes it.","inputSchema":)" +
                           schema + R"(,"outputSchema":{},"annotations":{"title":"Tune",)";
  EXPECT_EQ(to_json(tool), head + R"("readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,)"
                                  R"("openWorldHint":false}})");
  tool.effect = Tool::Effect::Changes;
  EXPECT_EQ(to_json(tool), head + R"("readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,)"
                                  R"("openWorldHint":false}})");
  tool.effect = Tool::Effect::Ends;
  tool.idempotent = true;
  EXPECT_EQ(to_json(tool), head + R"("readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,)"
                                  R"("openWorldHint":false}})");
  tool.parameters.clear();
  EXPECT_NE(to_json(tool).find(R"("properties":{},"additionalProperties":false})"), std::string::npos);
}

}  // namespace
}  // namespace corral::observe
