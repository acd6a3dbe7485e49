#include "cli/screen/json_layout.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace corral::cli {
namespace {

TEST(JsonLayout, IndentsEveryLevelAndLeavesEmptyOnesClosed) {
  EXPECT_EQ(laid_out(R"( {"a" : [1,2.50, {"b":null} ] ,
	"c":{ }, "d":[ ],"e":"x, {y} : [z]","f":[[]]} )"),
            R"({
  "a": [
    1,
    2.50,
    {
      "b": null
    }
  ],
  "c": {},
  "d": [],
  "e": "x, {y} : [z]",
  "f": [
    []
  ]
})");
  EXPECT_EQ(laid_out("7"), "7");
  EXPECT_EQ(laid_out(R"("a b")"), R"("a b")");
  EXPECT_EQ(laid_out(""), "");
}

TEST(JsonLayout, GoesNoFurtherToTheRightThanFortyLevels) {
  const std::string text = laid_out(std::string(42, '[') + "1" + std::string(42, ']'));

  EXPECT_NE(text.find("\n" + std::string(78, ' ') + "[\n" + std::string(80, ' ') + "[\n" +
                      std::string(80, ' ') + "[\n" + std::string(80, ' ') + "1\n"),
            std::string::npos)
      << text;
  EXPECT_TRUE(text.ends_with("\n  ]\n]")) << text;
}

TEST(JsonLayout, OneLineKeepsBlanksInStringsAlone) {
  EXPECT_EQ(on_one_line("{ \"a b\" :\t[1 ,\r\n 2] , \"c\\\" d\" : \"\\\\\" }"),
            R"({"a b":[1,2],"c\" d":"\\"})");
  EXPECT_EQ(on_one_line("\"open a"), "\"open a");
  EXPECT_EQ(on_one_line("\"open a\\"), "\"open a\\");
  EXPECT_EQ(on_one_line(" "), "");
}

TEST(JsonLayout, SaysWhyATextIsNoJson) {
  EXPECT_EQ(why_no_json(R"({"a":[1]})"), "");
  EXPECT_NE(why_no_json("{"), "");
  EXPECT_EQ(why_no_json(std::string(512, '[') + std::string(512, ']')), "");
  EXPECT_NE(why_no_json(std::string(513, '[') + std::string(513, ']')), "");
}

struct Steered {
  const char* text;
  const char* shown;
  const char* json;
};

TEST(JsonLayout, NamesEveryKindOfCharacterThatSteersATerminal) {
  const std::vector<Steered> all = {
      {"\x01", "?", "\\u0001"},
      {"\x1f", "?", "\\u001f"},
      {" ", " ", " "},
      {"~", "~", "~"},
      {"\x7f", "?", "\\u007f"},
      {"\u0080", "?", "\\u0080"},
      {"\u009f", "?", "\\u009f"},
      {"\u00a0", "\u00a0", "\u00a0"},
      {"\u061b", "\u061b", "\u061b"},
      {"\u061c", "?", "\\u061c"},
      {"\u061d", "\u061d", "\u061d"},
      {"\u200d", "\u200d", "\u200d"},
      {"\u200e", "?", "\\u200e"},
      {"\u200f", "?", "\\u200f"},
      {"\u2010", "\u2010", "\u2010"},
      {"\u2027", "\u2027", "\u2027"},
      {"\u2028", "?", "\\u2028"},
      {"\u202e", "?", "\\u202e"},
      {"\u202f", "\u202f", "\u202f"},
      {"\u2065", "\u2065", "\u2065"},
      {"\u2066", "?", "\\u2066"},
      {"\u206f", "?", "\\u206f"},
      {"\u2070", "\u2070", "\u2070"},
      {"\U0001f600", "\U0001f600", "\U0001f600"},
      {"\xc2", "\xc2", "\xc2"},     // broken: nothing follows
      {"\xc2x", "\xc2x", "\xc2x"},  // nor this
      {"\xe2\x80x", "\xe2\x80x", "\xe2\x80x"},
      {"\xe2x\xae", "\xe2x\xae", "\xe2x\xae"},
      {"\xc1\x9b", "\xc1\x9b", "\xc1\x9b"},  // longer than it need be: no code point
      {"\xf2\x80\xae", "\xf2\x80\xae", "\xf2\x80\xae"},
  };
  for (const Steered& one : all) {
    EXPECT_EQ(harmless("a" + std::string(one.text) + "b"), "a" + std::string(one.shown) + "b") << one.json;
    EXPECT_EQ(harmless_json("a" + std::string(one.text) + "b"), "a" + std::string(one.json) + "b");
  }
}

TEST(JsonLayout, ALineHasOneBlankBetweenWordsAndNoneAround) {
  EXPECT_EQ(harmless_line(" \t a \n\r\n b\x1b  "), "a ? b?");
  EXPECT_EQ(harmless_line(" a  b\nc "), "a b c");
  EXPECT_EQ(harmless_line(" \n "), "");
}

TEST(JsonLayout, IsNotChangedForAProgram) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);

  EXPECT_EQ(json_for(writer.get(), "\"\x1b\""), "\"\x1b\"");
}

}  // namespace
}  // namespace corral::cli
