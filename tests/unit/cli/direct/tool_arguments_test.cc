#include "cli/direct/tool_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSchema = R"({
  "type": "object",
  "properties": {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "ratio": {"type": "number"},
    "deep": {"type": "boolean"},
    "tags": {"type": "array"},
    "options": {"type": "object"},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "either": {"type": ["integer", "string"]},
    "untyped": {},
    "colour": {"enum": ["red", "green"]},
    "named": {"$ref": "#/$defs/Number"},
    "loop": {"$ref": "#/properties/loop"}
  },
  "required": ["text", "count"],
  "$defs": {"Number": {"type": "number"}}
})";

std::string made(const std::vector<std::string>& words, std::string_view schema = kSchema) {
  const Result<std::string> object = arguments_from_pairs(schema, words);
  return object ? *object : "error: " + object.error().message;
}

std::string checked(std::string_view arguments, std::string_view schema = kSchema) {
  const Result<void> result = check_arguments(schema, arguments);
  return result ? "" : result.error().message;
}

TEST(ToolArguments, ATextStaysAsItIs) {
  EXPECT_EQ(made({"text=42"}), R"({"text":"42"})");
  EXPECT_EQ(made({"text="}), R"({"text":""})");
  EXPECT_EQ(made({"text=a=b \"c\"\n"}), R"({"text":"a=b \"c\"\n"})");
  EXPECT_EQ(made({"either=42", "untyped=true"}), R"({"either":"42","untyped":"true"})");
}

TEST(ToolArguments, OtherTypesAreJsonAndKeepTheirDigits) {
  EXPECT_EQ(made({"count=123456789012345678901234567890", "ratio=0.10", "deep=true"}),
            R"({"count":123456789012345678901234567890,"ratio":0.10,"deep":true})");
  EXPECT_EQ(made({"tags=[1, \"two words\"]", "options={\"a\": {}}"}),
            R"({"tags":[1,"two words"],"options":{"a":{}}})");
}

TEST(ToolArguments, TypesAreFoundBehindChoicesAndReferences) {
  EXPECT_EQ(made({"maybe=null"}), R"({"maybe":null})");
  EXPECT_EQ(made({"maybe=7"}), R"({"maybe":7})");
  EXPECT_EQ(made({"named=1e3"}), R"({"named":1e3})");
  EXPECT_EQ(made({"loop=x"}), R"({"loop":"x"})");
  EXPECT_THAT(made({"maybe=x"}), HasSubstr("'maybe' must be an integer or a null, not 'x'"));
}

TEST(ToolArguments, AReferenceToItselfManyTimesDoesNotGrowWithoutEnd) {
  std::string choices = R"({"$ref":"#/properties/x"})";  // 50^4 visits if nobody counts
  for (int i = 1; i < 50; ++i) choices += R"(,{"$ref":"#/properties/x"})";
  EXPECT_EQ(made({"x=1"}, R"({"properties":{"x":{"anyOf":[)" + choices + "]}}}"), R"({"x":"1"})");
  EXPECT_EQ(made({"x=1"}, R"({"properties":{"x":{"anyOf":[{"type":"integer"},)" + choices + "]}}}"),
            R"({"x":1})");
}

TEST(ToolArguments, AValueOfAnotherTypeIsRefused) {
  for (const char* const word : {"count=1.5", "count=1e3", "count=", "count=\"1\"", "count=1 2", "deep=yes",
                                 "deep=1", "ratio=.5", "tags={}", "options=[]"}) {
    EXPECT_THAT(made({word}), HasSubstr("error: the argument '")) << word;
  }
}

TEST(ToolArguments, ATypeThatSteersATerminalIsNotRepeated) {
  EXPECT_THAT(made({"a=1"}, R"({"properties":{"a":{"type":"x\u001b]0;owned\u0007\r\ny"}}})"),
              HasSubstr("'a' must be a x�]0;owned�"));
}

TEST(ToolArguments, AColonMeansJsonWhateverTheSchemaSays) {
  EXPECT_EQ(made({"text:=[1]", "count:=\"x\""}), R"({"text":[1],"count":"x"})");
  EXPECT_THAT(made({"text:=hello"}), HasSubstr("the value of 'text' is not valid JSON"));
}

TEST(ToolArguments, OneOfTheChoicesIsWanted) {
  EXPECT_EQ(made({"colour=red"}), R"({"colour":"red"})");
  EXPECT_EQ(made({"colour=gren"}),
            "error: invalid value 'gren' for 'colour': did you mean green? use one of red, green");
}

TEST(ToolArguments, UnknownKeysAreRefusedUnlessTheSchemaIsOpen) {
  EXPECT_THAT(made({"txt=x"}), HasSubstr("no argument 'txt': did you mean text? it takes text, count"));
  EXPECT_EQ(made({"any=x"}, R"({"type":"object"})"), R"({"any":"x"})");
  EXPECT_EQ(made({"any=x"}, R"({"properties":{"a":{}},"additionalProperties":{"type":"string"}})"),
            R"({"any":"x"})");
  EXPECT_EQ(made({"any=x"}, "no JSON at all"), R"({"any":"x"})");
}

TEST(ToolArguments, WordsThatAreNoArgumentsAreNamed) {
  EXPECT_THAT(made({"text"}), HasSubstr("'text' is not an argument"));
  EXPECT_THAT(made({"=x"}), HasSubstr("is not an argument"));
  EXPECT_THAT(made({":=1"}), HasSubstr("is not an argument"));
  EXPECT_THAT(made({"text=a", "text:=1"}), HasSubstr("'text' is given twice"));
}

TEST(ToolArguments, JsonIsPutOnOneLineAndNotChanged) {
  const Result<std::string> object =
      arguments_from_json("{\n \"a\" : 1.50,\r\n \"b\": \"x  y\\n\" }\n", "of --json");

  ASSERT_TRUE(object);
  EXPECT_EQ(*object, R"({"a":1.50,"b":"x  y\n"})");
}

TEST(ToolArguments, JsonMustBeAnObject) {
  EXPECT_EQ(arguments_from_json("[1]", "on stdin").error().message,
            "the arguments on stdin are not a JSON object");
  EXPECT_THAT(arguments_from_json("", "on stdin").error().message, HasSubstr("are not valid JSON: "));
  EXPECT_THAT(arguments_from_json("{\"a\":\"\xff\"}", "on stdin").error().message,
              HasSubstr("are not valid JSON: "));
  EXPECT_THAT(arguments_from_json(std::string(600, '[') + std::string(600, ']'), "on stdin").error().message,
              HasSubstr("are not valid JSON: "));
}

TEST(ToolArguments, WhatIsMissingIsNamed) {
  EXPECT_EQ(checked("{}"), "the arguments text, count are missing");
  EXPECT_EQ(checked(R"({"text":1})"), "the argument count is missing");
  EXPECT_EQ(checked(R"({"text":1,"count":2,"more":3})"), "") << "open by the rules of JSON Schema";
  EXPECT_THAT(checked(R"({"b":1})", R"({"properties":{"a":{}},"additionalProperties":false})"),
              HasSubstr("no argument 'b'"));
}

}  // namespace
}  // namespace corral::cli
