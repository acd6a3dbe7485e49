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

TEST(JsonLayout, SaysWhyATextIsNotJson) {
  EXPECT_EQ(why_no_json(R"({"a":[1]})"), "");
  EXPECT_NE(why_no_json("{"), "");
  EXPECT_EQ(why_no_json(std::string(512, '[') + std::string(512, ']')), "");
  EXPECT_NE(why_no_json(std::string(513, '[') + std::string(513, ']')), "");
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
