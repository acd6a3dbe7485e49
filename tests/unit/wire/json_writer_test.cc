// JSON that is written member by member.
#include "wire/json_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace corral::wire {
namespace {

TEST(JsonObject, HasItsMembersInTheOrderOfTheCalls) {
  const std::string json = JsonObject()
                               .text("name", "a \"b\"")
                               .number("pid", 4711)
                               .flag("shared", false)
                               .text_or_null("root", "")
                               .decimal("cpu", 0.25)
                               .raw("list", "[1]")
                               .json();

  EXPECT_EQ(json, R"({"name":"a \"b\"","pid":4711,"shared":false,"root":null,"cpu":0.25,"list":[1]})");
}

TEST(JsonObject, TakesTheMembersOfAnother) {
  JsonObject first;
  first.number("a", 1).text("b", "2");

  EXPECT_EQ(JsonObject().members(first.bare()).number("c", 3).json(), R"({"a":1,"b":"2","c":3})");
  EXPECT_EQ(JsonObject().number("c", 3).members(first.bare()).json(), R"({"c":3,"a":1,"b":"2"})");
  EXPECT_EQ(JsonObject().number("c", 3).members(JsonObject().bare()).json(), R"({"c":3})");
}

TEST(JsonObject, KnowsItsSizeBeforeItEnds) {
  JsonObject object;
  object.text("a", "b");

  const std::size_t size = object.size();

  EXPECT_EQ(object.json().size(), size + 1);
}

TEST(JsonObject, MayBeEmpty) {
  EXPECT_EQ(JsonObject().json(), "{}");
  EXPECT_EQ(array_of_texts(std::vector<std::string>()), "[]");
}

TEST(DecimalJson, IsANumberInEveryCase) {
  EXPECT_EQ(decimal_json(1.5), "1.5");
  EXPECT_EQ(decimal_json(-0.0001), "0");
  EXPECT_EQ(decimal_json(std::numeric_limits<double>::infinity()), "0");
}

}  // namespace
}  // namespace corral::wire
