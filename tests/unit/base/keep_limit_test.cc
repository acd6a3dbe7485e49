#include "base/keep_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace corral {
namespace {

class KeepFromEnvironment : public ::testing::Test {
 protected:
  ~KeepFromEnvironment() override { unsetenv("MAX_KEEP_PROCESSES"); }
};

TEST_F(KeepFromEnvironment, IsNineUnlessTheVariableSaysOtherwise) {
  unsetenv("MAX_KEEP_PROCESSES");
  EXPECT_EQ(keep_from_environment().value(), 9U);
  setenv("MAX_KEEP_PROCESSES", "", 1);
  EXPECT_EQ(keep_from_environment().value(), 9U);
  setenv("MAX_KEEP_PROCESSES", "2", 1);
  EXPECT_EQ(keep_from_environment().value(), 2U);
}

TEST_F(KeepFromEnvironment, RefusesWhatIsNotANumber) {
  for (const char* text : {"nine", "-1", "3 ", "0x9", "99999999999999999999999"}) {
    setenv("MAX_KEEP_PROCESSES", text, 1);
    ASSERT_FALSE(keep_from_environment()) << text;
    EXPECT_NE(keep_from_environment().error().message.find("MAX_KEEP_PROCESSES"), std::string::npos);
    EXPECT_EQ(keep_from_environment_or_default(), kDefaultKeep) << text;
  }
}

TEST(KeepInUse, IsAtLeastOne) {
  EXPECT_EQ(keep_in_use(0), 1U);
  EXPECT_EQ(keep_in_use(1), 1U);
  EXPECT_EQ(keep_in_use(12), 12U);
}

}  // namespace
}  // namespace corral
