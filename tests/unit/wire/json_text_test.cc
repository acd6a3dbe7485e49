#include "wire/json_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/envelope.h"

namespace corral::wire {
namespace {

using namespace std::string_literals;

std::string without(std::string object, std::string_view key) {
  const Span cut = member_with_comma(object, key);
  if (cut.present()) object.erase(cut.begin, cut.end - cut.begin);
  return object;
}

TEST(Quoted, EscapesOnlyWhatItMust) {
  EXPECT_EQ(wire::quoted(""), R"("")");
  EXPECT_EQ(wire::quoted("größe 🐎 / \x7f"), "\"größe 🐎 / \x7f\"");
  EXPECT_EQ(wire::quoted("a\"b\\c\nd\re\tf"), R"("a\"b\\c\nd\re\tf")");
  EXPECT_EQ(wire::quoted("\x01\x1f\0x"s), R"("\u0001\u001f\u0000x")"s);
}

TEST(Quoted, ReplacesBrokenUtf8) {
  EXPECT_EQ(wire::quoted("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(wire::quoted("\xE6\x95"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(wire::quoted("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Quoted, ComesBackAsItWas) {
  std::string all;
  for (int c = 0; c < 0x80; ++c) all.push_back(static_cast<char>(c));
  all.append(100, 'x').append("数\xF0\x9F\x90\x8E");

  EXPECT_EQ(string_value(wire::quoted(all)), all);
}

TEST(StringValue, DecodesEscapes) {
  EXPECT_EQ(string_value(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_value(R"("\u0041\u00e9\u6570\ud83d\udc0e")"), "Aé数🐎");
  EXPECT_EQ(string_value(R"("\u0000")"), "\0"s);
  EXPECT_EQ(string_value(" \"a\" "), "a");
}

TEST(StringValue, DecodesEscapesBetweenLongRuns) {
  const std::string run(1000, 'x');
  EXPECT_EQ(string_value("\"" + run + "\\n" + run + "\\u00e9\\\\" + run + "\""),
            run + "\n" + run + "\xC3\xA9\\" + run);
  EXPECT_EQ(string_value("\"\\n\\n\""), "\n\n");
}

TEST(StringValue, GivesNothingForAnythingElse) {
  for (const char* text : {"", "1", "null", "\"", "\"a", "a\"", "\"a\"b", "[\"a\"]", "\"\xFF\""}) {
    EXPECT_FALSE(string_value(text)) << text;
  }
}

TEST(Member, FindsADirectMemberOnly) {
  const std::string object = R"( { "a" : {"b":1} , "b" : [2, 3] , "c":"b" } )";

  EXPECT_EQ(member(object, "a").in(object), R"({"b":1})");
  EXPECT_EQ(member(object, "b").in(object), "[2, 3]");
  EXPECT_EQ(member(object, "c").in(object), "\"b\"");
  EXPECT_FALSE(member(object, "d").present());
  EXPECT_FALSE(member(object, "").present());
}

TEST(Member, ReadsKeysWithEscapesAndTakesTheLastOfTwo) {
  const std::string escaped = R"({"\u0061\/":1})";
  const std::string twice = R"({"a":1,"a":2})";

  EXPECT_EQ(member(escaped, "a/").in(escaped), "1");
  EXPECT_EQ(member(twice, "a").in(twice), "2");
}

TEST(Member, GivesNothingForTextThatIsNotAnObject) {
  for (const char* text :
       {"", "[]", "[\"a\"]", "1", "\"a\"", "{\"a\":1", "{\"a\":}", "{\"a\":1,}", "{\"a\":01}"}) {
    EXPECT_FALSE(member(text, "a").present()) << text;
    EXPECT_FALSE(member_with_comma(text, "a").present()) << text;
  }
}

TEST(MemberWithComma, LeavesValidJsonBehind) {
  EXPECT_EQ(without(R"({"a":1})", "a"), "{}");
  EXPECT_EQ(without(R"({"a":1,"b":2})", "a"), R"({"b":2})");
  EXPECT_EQ(without(R"({"a":1,"b":2})", "b"), R"({"a":1})");
  EXPECT_EQ(without(R"({"a":1,"b":2,"c":3})", "b"), R"({"a":1,"c":3})");
  EXPECT_EQ(without("{ \"a\" : 1\t, \"b\" : 2 }", "a"), "{  \"b\" : 2 }");
  EXPECT_EQ(without("{ \"a\" : 1 ,\r \"b\" : 2 }", "b"), "{ \"a\" : 1  }");
  EXPECT_EQ(without(R"({"a,":",","b":2})", "b"), R"({"a,":","})");
  EXPECT_EQ(without(R"({"a":1})", "b"), R"({"a":1})");
}

TEST(ErrorMessage, IsAResponse) {
  const std::string plain = error_message("\"x\"", -32600, "bad \"id\"\n");
  const std::string full = error_message("", -32700, "no JSON", R"({"at":3})");

  EXPECT_EQ(plain, R"({"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"bad \"id\"\n"}})");
  EXPECT_EQ(full,
            R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no JSON","data":{"at":3}}})");
  EXPECT_EQ(scan(plain).kind, Kind::Response);
  EXPECT_EQ(scan(full).kind, Kind::Response);
}

TEST(ResultMessage, IsAResponse) {
  EXPECT_EQ(result_message("7", "{}"), R"({"jsonrpc":"2.0","id":7,"result":{}})");
  EXPECT_EQ(scan(result_message("7", "{}")).kind, Kind::Response);
}

TEST(IsObject, CountsTheLevelsAround) {
  const auto nested = [](std::size_t levels) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) text += R"({"a":)";
    return text + "1" + std::string(levels, '}');
  };

  EXPECT_TRUE(is_strict_object(" {} "));
  EXPECT_FALSE(is_strict_object("{} {}"));
  EXPECT_FALSE(is_strict_object("[]"));
  EXPECT_FALSE(is_strict_object(""));
  EXPECT_TRUE(is_strict_object(nested(512)));
  EXPECT_FALSE(is_strict_object(nested(513)));
  EXPECT_TRUE(is_strict_object(nested(508), 4));
  EXPECT_FALSE(is_strict_object(nested(509), 4));
}

}  // namespace
}  // namespace corral::wire
