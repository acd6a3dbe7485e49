// The two parsers below the table of clients, at the edges of what they take.
#include "known/config_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace corral::known {
namespace {

namespace json = boost::json;

std::string dotted_lines(int lines, std::size_t dots) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "#" + std::string(dots, '.') + "\n";
  return text;
}

TEST(TomlText, HasStringsFlagsNumbersListsAndTables) {
  const ConfigText text =
      parse_toml_config("a = 'x'\nb = true\nc = 7\nd = ['y', 8]\ne = 1.5\nf = 1979-05-27\n[g]\nh = false\n");

  EXPECT_EQ(text.error, "");
  EXPECT_EQ(json::serialize(text.value),
            R"({"a":"x","b":true,"c":7,"d":["y",8],"e":null,"f":null,"g":{"h":false}})");
}

TEST(TomlText, HasItsListOfServersByName) {
  const auto servers = [](const std::string& text) {
    return json::serialize(parse_toml_config(text).value.at("mcp_servers"));
  };
  EXPECT_EQ(servers("[[mcp_servers]]\nname = 'a'\n[[mcp_servers]]\nname = 'b'\n[mcp_servers.env]\nK = 'v'\n"),
            R"({"a":{"name":"a"},"b":{"env":{"K":"v"},"name":"b"}})");
  EXPECT_EQ(servers("[[mcp_servers]]\nname = 'a'\n[[mcp_servers]]\nname = 'a'\n[[mcp_servers]]\nx = 1\n"),
            R"x({"a":{"name":"a"},"a (number 2)":{"name":"a"},"number 3":{"x":1}})x");
  EXPECT_EQ(servers("mcp_servers = ['x']"), R"({"number 1":"x"})");
  EXPECT_EQ(servers("mcp_servers = 'x'"), R"("x")");
}

TEST(TomlText, IsRefusedWithMoreThanFourThousandDotsInLinesThatHaveMany) {
  EXPECT_EQ(parse_toml_config(dotted_lines(50, 80)).error, "");
  EXPECT_EQ(parse_toml_config(dotted_lines(49, 80) + dotted_lines(1, 81)).error,
            "its keys have too many parts");
  EXPECT_EQ(parse_toml_config(dotted_lines(49, 80) + "#" + std::string(81, '.')).error,
            "its keys have too many parts")
      << "the last line may lack its end";
}

TEST(TomlText, MayHaveAnyNumberOfDotsInLinesThatHaveFew) {
  EXPECT_EQ(parse_toml_config(dotted_lines(100, 64)).error, "");
  EXPECT_EQ(parse_toml_config(dotted_lines(61, 65)).error, "");
  EXPECT_EQ(parse_toml_config(dotted_lines(62, 65)).error, "its keys have too many parts");
}

TEST(TomlText, ThatIsBrokenSaysWhere) {
  EXPECT_TRUE(parse_toml_config("a = 1\nb = = 2\n").error.starts_with("line 2, column 5: "));
}

std::string place_in(const std::string& text) {
  const std::string error = parse_json_config(text).error;
  return error.substr(0, error.find(':'));
}

TEST(JsonText, ThatIsBrokenSaysWhere) {
  EXPECT_EQ(place_in("}"), "line 1, column 1");
  EXPECT_EQ(place_in("{\n}"), "");
  EXPECT_EQ(place_in("{\n  x}"), "line 2, column 3");
  EXPECT_EQ(place_in("{\nx}"), "line 2, column 1");
  EXPECT_EQ(place_in("{} x"), "line 1, column 4");
  EXPECT_EQ(place_in("{\"a\": "), "line 1, column 7") << "cut off";
  EXPECT_EQ(place_in("\xEF\xBB\xBF}"), "line 1, column 4") << "bytes, with the mark at its beginning";
}

TEST(JsonText, OfNothingButBlanksIsEmpty) {
  for (const char* blank : {"", " \t\r\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF \n"}) {
    const ConfigText text = parse_json_config(blank);
    EXPECT_EQ(text.error, "");
    EXPECT_EQ(text.value, json::object());
  }
}

TEST(JsonText, MayNestAHundredAndTwentyEightLevels) {
  const auto nested = [](std::size_t levels) {
    return parse_json_config(std::string(levels, '[') + std::string(levels, ']')).error;
  };
  EXPECT_EQ(nested(128), "");
  EXPECT_NE(nested(129), "");
}

TEST(JsonText, MayHaveCommentsTrailingCommasAndBrokenLetters) {
  EXPECT_EQ(parse_json_config("{\"a\": [1,], // why\n}").error, "");
  EXPECT_EQ(parse_json_config("{\"a\": \"\xff\"}").error, "");
}

}  // namespace
}  // namespace corral::known
