#include "keeper/proc_fs.h"

#include <gtest/gtest.h>

#include <string>

namespace corral::keeper {
namespace {

bool parse(const std::string& text, StatLine& line) { return parse_stat(text.data(), text.size(), line); }

TEST(ParseStat, ReadsStateAndParent) {
  StatLine line;
  ASSERT_TRUE(parse("12 (node) S 34 12 12 0 -1", line));
  EXPECT_EQ(line.state, 'S');
  EXPECT_EQ(line.parent, 34);
}

TEST(ParseStat, IsNotFooledByHostileNames) {
  for (const char* name : {"a b", ") R 1 (", "(", ")", ") Z 99", "x\ny", ""}) {
    StatLine line;
    ASSERT_TRUE(parse("12 (" + std::string(name) + ") D 34 1 1", line)) << name;
    EXPECT_EQ(line.state, 'D') << name;
    EXPECT_EQ(line.parent, 34) << name;
  }
}

TEST(ParseStat, RefusesWhatIsCutOff) {
  for (const char* text :
       {"", "12", "12 (node", "12 (node)", "12 (node) S", "12 (node) S ", "12 (node) S x"}) {
    StatLine line;
    EXPECT_FALSE(parse(text, line)) << text;
  }
}

}  // namespace
}  // namespace corral::keeper
