#include "wire/json_text.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace corral::wire {
namespace {

TEST(EachMember, GivesDirectMembersInOrderWithTheirKeysDecoded) {
  const std::string object = R"( { "a" : {"b":1} , "\u0062" : [2, 3],"":"" } )";
  std::vector<std::pair<std::string, std::string>> seen;
  std::vector<std::string> keys;

  EXPECT_TRUE(each_member(object, [&](std::string_view key, Member member) {
    seen.emplace_back(key, member.value.in(object));
    keys.emplace_back(member.key.in(object));
  }));

  EXPECT_EQ(seen, (std::vector<std::pair<std::string, std::string>>{
                      {"a", R"({"b":1})"}, {"b", "[2, 3]"}, {"", "\"\""}}));
  EXPECT_EQ(keys, (std::vector<std::string>{"\"a\"", R"("\u0062")", "\"\""}));
}

TEST(EachMember, RefusesTextThatIsNotAnObject) {
  for (const char* text : {"", "[]", "1", "\"{}\"", "{", R"({"a":})"}) {
    EXPECT_FALSE(each_member(text, [](std::string_view, Member) {})) << text;
  }
}

/// The object without members whose key begins with "x".
std::string without_x(std::string_view object) {
  std::string out;
  std::size_t at = 0;
  for (const Span cut : cuts(object, [](std::string_view key, Member) { return key.starts_with("x"); })) {
    out.append(object.substr(at, cut.begin - at));
    at = cut.end;
  }
  return out.append(object.substr(at));
}

TEST(Cuts, LeaveValidJson) {
  EXPECT_EQ(without_x(R"({"x":1})"), "{}");
  EXPECT_EQ(without_x(R"({"x":1,"x2":2})"), "{}");
  EXPECT_EQ(without_x(R"({"x":1,"a":2})"), R"({"a":2})");
  EXPECT_EQ(without_x(R"({"a":2,"x":1})"), R"({"a":2})");
  EXPECT_EQ(without_x(R"({"x":1,"x":1,"a":2,"x":1,"b":3,"x":1,"\u0078":1})"), R"({"a":2,"b":3})");
  EXPECT_EQ(without_x(R"({ "a" : 2 , "x" : 1 , "b" : 3 })"), R"({ "a" : 2 , "b" : 3 })");
  EXPECT_EQ(without_x(R"({"a":{"x":1}})"), R"({"a":{"x":1}})");
  EXPECT_EQ(without_x("[1]"), "[1]");
}

TEST(KeptMembers, LeavesValidJsonWhateverIsTaken) {
  const std::string object = R"({ "a":1.50 , "b":2, "c":{} })";
  const auto without = [&](std::string_view out) {
    return kept_members(object, [out](std::string_view key) { return key != out; });
  };

  EXPECT_EQ(without("a"), R"({"b":2,"c":{}})");
  EXPECT_EQ(without("b"), R"({"a":1.50,"c":{}})");
  EXPECT_EQ(without("c"), R"({"a":1.50,"b":2})");
  EXPECT_EQ(kept_members(object, [](std::string_view) { return false; }), "{}");
}

TEST(WithoutSpace, LeavesStringsAlone) {
  EXPECT_EQ(without_space(" { \"a b\" :\t[ 1 , \"\\\" \\\\\" , \" \" ]\n} "), R"({"a b":[1,"\" \\"," "]})");
}

}  // namespace
}  // namespace corral::wire
