#include "base/nearest.h"

#include <gtest/gtest.h>

namespace corral {
namespace {

TEST(NearestWord, IsTheOneThatDiffersLeast) {
  EXPECT_EQ(nearest_word("comand", {"args", "command", "commend-it"}), "command");
  EXPECT_EQ(nearest_word("arg", {"command", "args"}), "args");
  EXPECT_EQ(nearest_word("argss", {"command", "args"}), "args");
}

TEST(NearestWord, IsNoneIfAllAreFarAway) {
  EXPECT_EQ(nearest_word("qqqq", {"args", "command"}), "");
  EXPECT_EQ(nearest_word("", {"args"}), "");
  EXPECT_EQ(nearest_word(std::string(10'000'000, 'x'), {"args"}), "");
}

}  // namespace
}  // namespace corral
