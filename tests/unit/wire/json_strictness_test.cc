// What is JSON and what is not: the rows on which parsers disagree.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "wire/envelope.h"
#include "wire/json_text.h"

namespace corral::wire {
namespace {

using namespace std::string_literals;

bool is_json(std::string_view text) { return scan(text).kind != Kind::NotJson; }

std::string nested(std::size_t depth, std::string_view open, std::string_view inside, char close) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += open;
  text += inside;
  text.append(depth, close);
  return text;
}

TEST(JsonStrictness, TakesEveryKindOfValue) {
  for (const char* text : {"{}", "[]", "\"\"", "0", "true", "false", "null", " \t\r\n[ ] ", R"({"":{"":[]}})",
                           R"([1,"a",{"b":null},[[]]])", R"({"a":1,"a":2})"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
}

TEST(JsonStrictness, RefusesWhatIsNoneOrMoreThanOne) {
  for (const char* text : {"", " ", "{} {}", "{}{}", "1 2", "[1],", "tru", "nullx", "True", "NaN", "Infinity",
                           "undefined", "// x\n1", "/**/1", "'a'", "{a:1}", "\f1", "\v1",
                           "\xC2\xA0"
                           "1"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(JsonStrictness, RefusesBrokenStructureInAValueThatNobodyLooksAt) {
  for (const char* value :
       {"[1,]", "{\"a\":1,}", "[,1]", "{,}", "[1 2]", "{\"a\" 1}", "{\"a\":}", "{\"a\"}", "[}", "{]", "[[1}]",
        "{\"a\":[}]}", "{1:2}", "[", "{", "{\"a\":1", "[NaN]", "[\"\\x\"]"}) {
    const std::string line = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"x":)"s + value + "}}";

    EXPECT_FALSE(is_json(line)) << line;
    EXPECT_FALSE(is_json(value)) << value;
  }
}

TEST(JsonStrictness, KnowsANumberWhenItSeesOne) {
  for (const char* text : {"0", "-0", "10", "-1", "0.0", "1.25", "1e5", "1E+05", "1e-0", "-0.1e1", "1e999",
                           "-1e999", "1e99999999999999999999", "123456789012345678901234567890"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
  for (const char* text : {"01", "-01", "00", "+1", ".5", "1.", "1.e1", "-", "--1", "1e", "1e+", "1e1.5",
                           "0x10", "1_0", "-a", "1a", "e1"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(JsonStrictness, TakesTheEscapesOfTheRfcAndNoOthers) {
  EXPECT_TRUE(is_json(R"("\"\\\/\b\f\n\r\t\u00e9\uABCD\u0000")"));
  for (const char* text : {R"("\x41")", R"("\'")", R"("\U0041")", R"("\a")", R"("\u12")", R"("\u123g")",
                           R"("\u")", R"("\")", R"("\)", "\"\\\n\"", "\"\\\x01\""}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(JsonStrictness, TakesHalfASurrogatePair) {
  for (const char* text : {R"("\ud83d\ude00")", R"("\uDBFF\uDFFF\ud7ff\ue000")", R"("\ud800")", R"("\udc00")",
                           R"("\ud800x")", R"("\ud800\n")", R"("\ud800\u0041")", R"("\ud800\ud800")",
                           R"("\udc00\ud800")", R"("\ud83d\\ude00")"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
  EXPECT_FALSE(is_json(R"("\ud83d\ude0")"));
  EXPECT_EQ(string_value(R"("\ud83d\ude00")"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(string_value(R"("a\ud83dz")"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(string_value(R"("\ude00\ud83d\u0041")"),
            "\xEF\xBF\xBD\xEF\xBF\xBD"
            "A");
}

TEST(JsonStrictness, RefusesRawControlCharactersAndNul) {
  for (char c = 0; c < 0x20; ++c) {
    EXPECT_FALSE(is_json("\"a"s + c + "b\"")) << int{c};
  }
  EXPECT_TRUE(is_json("\"\x7f\"")) << "DEL is none by the RFC";
  EXPECT_FALSE(is_json("{}\0"s));
  EXPECT_FALSE(is_json("\0{}"s));
  EXPECT_FALSE(is_json("[1\0]"s));
}

TEST(JsonStrictness, RefusesAByteOrderMark) { EXPECT_FALSE(is_json("\xEF\xBB\xBF{}")); }

TEST(JsonStrictness, ChecksUtf8ToTheLetter) {
  for (const char* text : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "数字 größe 🐎"}) {
    EXPECT_TRUE(is_json("\""s + text + "\"")) << text;
  }
  for (const char* text : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF",
                           "\xE1\x80", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xE6\x95\xE6"}) {
    EXPECT_FALSE(is_json("\""s + text + "\"")) << text;
    EXPECT_FALSE(is_json("\""s + text)) << text;
    EXPECT_FALSE(is_json("\""s + text + std::string(40, 'x') + "\"")) << text;
  }
}

TEST(JsonStrictness, EndsAt512Levels) {
  EXPECT_TRUE(is_json(nested(512, "[", "", ']')));
  EXPECT_TRUE(is_json(nested(512, "[", "1", ']')));
  EXPECT_FALSE(is_json(nested(513, "[", "", ']')));
  EXPECT_TRUE(is_json(nested(512, "{\"a\":", "1", '}')));
  EXPECT_FALSE(is_json(nested(513, "{\"a\":", "1", '}')));
  EXPECT_STREQ(scan(std::string(100000, '[')).fault, "nested too deeply");
}

TEST(JsonStrictness, CountsTheLevelsAroundParamsAndMeta) {
  const auto message = [](std::size_t levels) {
    return R"({"jsonrpc":"2.0","method":"m","params":{"_meta":{"a":)" + nested(levels, "[", "", ']') + "}}}";
  };

  EXPECT_EQ(scan(message(509)).kind, Kind::Notification);
  EXPECT_EQ(scan(message(510)).kind, Kind::NotJson);
}

TEST(JsonStrictness, RemembersWhichBracketIsOpenAtEveryLevel) {
  // Alternating, with more than one word of bits: a lost one shows as a wrong bracket.
  std::string open;
  std::string close;
  for (int i = 0; i < 200; ++i) {
    const bool object = i % 3 == 0;
    open += object ? "{\"k\":" : "[";
    close.insert(0, object ? "}" : "]");
  }

  EXPECT_TRUE(is_json(open + "0" + close));
  for (std::size_t i = 0; i < close.size(); ++i) {
    std::string wrong = close;
    wrong[i] = wrong[i] == '}' ? ']' : '}';
    EXPECT_FALSE(is_json(open + "0" + wrong)) << i;
  }
}

TEST(JsonStrictness, FindsTheOddByteWhereverItStandsInALongString) {
  for (std::size_t length : {0U, 1U, 15U, 16U, 17U, 63U, 64U, 65U, 79U, 80U, 81U, 127U, 128U, 200U}) {
    for (std::size_t place = 0; place < length; ++place) {
      std::string body(length, 'a');
      body[place] = '\x01';
      ASSERT_FALSE(is_json("\"" + body + "\"")) << length << " " << place;
      EXPECT_EQ(scan("\"" + body + "\"").fault_at, place + 1);
      body[place] = '"';
      ASSERT_FALSE(is_json("\"" + body + "\"")) << length << " " << place;
      body[place] = '\xC3';
      ASSERT_FALSE(is_json("\"" + body + "\"")) << length << " " << place;
      body.replace(place, 1, "\xC3\xBC");
      ASSERT_TRUE(is_json("\"" + body + "\"")) << length << " " << place;
      body.replace(place, 2, "\\n");
      ASSERT_TRUE(is_json("\"" + body + "\"")) << length << " " << place;
    }
  }
}

TEST(JsonStrictness, SaysWhereAndWhy) {
  const Envelope envelope = scan("{\"a\":\"\xFF\"}");

  EXPECT_STREQ(envelope.fault, "invalid UTF-8");
  EXPECT_EQ(envelope.fault_at, 6U);
  EXPECT_STREQ(scan("{\"a\":1").fault, "the text ends early");
  EXPECT_EQ(scan("{\"a\":1").fault_at, 6U);
  EXPECT_STREQ(scan("{} x").fault, "more text after the value");
  EXPECT_EQ(scan("{} x").fault_at, 3U);
}

TEST(JsonStrictness, RefusesEveryBeginningOfAMessage) {
  const std::string line =
      R"( {"jsonrpc":"2.0","id":-1.5e3,"method":"a\u0041","params":{"x":[true,{"b":"ü"}],"_meta":{}}})";
  ASSERT_TRUE(is_json(line));

  for (std::size_t end = 0; end < line.size(); ++end) EXPECT_FALSE(is_json(line.substr(0, end))) << end;
}

}  // namespace
}  // namespace corral::wire
