#include "config/text_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace corral::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Seen {
  std::vector<std::string> keys;
  std::vector<std::string> values;
  ObjectPlace place;
};

Seen walk(const std::string& text) {
  Seen seen;
  seen.place =
      walk_object(text, skip_blanks(text, 0), [&](const std::string& key, const MemberPlace& member) {
        seen.keys.push_back(key);
        seen.values.push_back(text.substr(member.value, member.end - member.value));
        return true;
      });
  return seen;
}

TEST(TextPlaces, FindsMembersAmongCommentsAndStrings) {
  const std::string text =
      "// {\"no\": 1}\n{ \"a\" /* : */ : {\"x\": [\"}\", \"\\\"{\"]} /* , */ , // \"c\"\n\"b\\u0063\": 12 }";

  const Seen seen = walk(text);

  EXPECT_THAT(seen.keys, ElementsAre("a", "bc"));
  EXPECT_THAT(seen.values, ElementsAre("{\"x\": [\"}\", \"\\\"{\"]}", "12"));
  EXPECT_EQ(text[seen.place.close], '}');
  EXPECT_EQ(seen.place.count, 2U);
  EXPECT_FALSE(seen.place.trailing_comma);
}

TEST(TextPlaces, AnEmptyCommentEndsAtOnceAndASlashBehindItsBeginningDoesNotEndIt) {
  EXPECT_THAT(walk("{/**/ \"a\": 1, /*/ \"no\": 2, */ \"b\": 3}").keys, ElementsAre("a", "b"));
}

TEST(TextPlaces, SeesATrailingComma) {
  EXPECT_TRUE(walk("{\"a\": 1 /* c */ , }").place.trailing_comma);
  EXPECT_FALSE(walk("{\"a\": 1 // ,\n }").place.trailing_comma);
  EXPECT_FALSE(walk("{}").place.trailing_comma);
}

TEST(TextPlaces, StopsWhenToldTo) {
  int visited = 0;
  walk_object("{\"a\": 1, \"b\": 2}", 0,
              [&](const std::string&, const MemberPlace&) { return ++visited < 1; });

  EXPECT_EQ(visited, 1);
}

TEST(TextPlaces, FindsElements) {
  const std::string text = "[ [1, 2], /* , */ \"a,b\" , {\"c\": [,]} ]";

  EXPECT_EQ(text.substr(find_element(text, 0, 0), 6), "[1, 2]");
  EXPECT_EQ(text.substr(find_element(text, 0, 1), 5), "\"a,b\"");
  EXPECT_EQ(text[find_element(text, 0, 2)], '{');
}

TEST(TextPlaces, CountsLinesForwardsAndBackwards) {
  LineCounter lines("ab\nc\n\nd");

  EXPECT_EQ(lines.place_of(6), "4:1");
  EXPECT_EQ(lines.place_of(1), "1:2");
  EXPECT_EQ(lines.place_of(3), "2:1");
  EXPECT_EQ(lines.line_of(5), 3);
  EXPECT_EQ(lines.place_of(1000), "4:2");
}

TEST(TextPlaces, StayInsideATextThatIsNotJson) {
  for (const char* text : {"", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":{", "{\"a\":\"\\", "{/*",
                           "{//", "}", "{\"a\":1,"}) {
    const Seen seen = walk(text);
    EXPECT_LE(seen.place.close, std::string(text).size()) << text;
    EXPECT_LE(skip_value(text, 0), std::string(text).size()) << text;
    EXPECT_LE(find_element(text, 0, 5), std::string(text).size()) << text;
  }
  EXPECT_THAT(walk("[]").keys, IsEmpty());
}

}  // namespace
}  // namespace corral::config
