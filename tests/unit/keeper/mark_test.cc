#include "keeper/mark.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace corral::keeper {
namespace {

TEST(Marks, OfNoInstanceAreCarriedByEverybody) { EXPECT_TRUE(carries(getpid(), Mark{})); }

TEST(Marks, ThatNobodyGaveUsAreNotCarried) {
  EXPECT_FALSE(carries(getpid(), Mark{"ffffffffffffffffffffffffffffffff", 0}));
  EXPECT_FALSE(carries(getpid(), Mark{"ffffffffffffffffffffffffffffffff", 4711}));
  EXPECT_FALSE(carries(4'194'304, Mark{"", 0})) << "there is no such process";
}

TEST(Marks, AreTheHardLimitOfRealtime) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_RTTIME, &limit), 0);
  ASSERT_NE(limit.rlim_max, 0U);

  EXPECT_TRUE(carries(getpid(), Mark{"ffffffffffffffffffffffffffffffff", limit.rlim_max}));
  EXPECT_FALSE(carries(getpid(), Mark{"ffffffffffffffffffffffffffffffff", limit.rlim_max - 1}));
}

// The kernel shows the environment that a program was started with, so one of its variables is the cookie.
TEST(Marks, AreAVariableOfTheEnvironment) {
  std::ifstream file("/proc/self/environ");
  std::string entry;
  std::getline(file, entry, '\0');
  const std::size_t equals = entry.find('=');
  if (equals == std::string::npos) GTEST_SKIP() << "this program was started without an environment";
  const std::string name = entry.substr(0, std::min<std::size_t>(equals, 30));
  if (name.size() != equals) GTEST_SKIP() << "the first variable has a very long name";
  const std::string value = entry.substr(equals + 1, 20);

  EXPECT_TRUE(carries(getpid(), Mark{value.c_str(), 0, name.c_str()}));
  EXPECT_FALSE(carries(getpid(), Mark{(value + "\x01no").c_str(), 0, name.c_str()}));
}

}  // namespace
}  // namespace corral::keeper
