#include "reap/last_look.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace corral::reap {
namespace {

TEST(LastLook, ReadsOwnerDebuggerAndState) {
  const LastLook look = parse_status(
      "Name:\tnode\nUmask:\t0022\nState:\tD (disk "
      "sleep)\nTgid:\t7\nTracerPid:\t12\nUid:\t1000\t0\t0\t0\nGid:\t1\n");

  EXPECT_TRUE(look.there);
  EXPECT_EQ(look.state, 'D');
  EXPECT_EQ(look.real, 1000U);
  EXPECT_EQ(look.effective, 0U) << "it runs with the rights of root";
  EXPECT_EQ(look.tracer, 12);
}

TEST(LastLook, ANameCannotPretendToBeAnotherLine) {
  // The kernel writes a newline in a name as \n, two characters.
  const LastLook look = parse_status(
      "Name:\ta\\nUid:\t0\t0\nState:\tS (sleeping)\nTracerPid:\t0\nUid:\t1000\t1000\t1000\t1000\n");

  EXPECT_EQ(look.real, 1000U);
  EXPECT_EQ(look.effective, 1000U);
}

TEST(LastLook, WithoutTheLinesNothingIsThere) {
  EXPECT_FALSE(parse_status("").there);
  EXPECT_FALSE(parse_status("Name:\tx\nState:\tS\n").there);
  EXPECT_FALSE(parse_status("Name:\tx\nState:\tS\nTracerPid:\tno\nUid:\t1\t1\n").there);
}

TEST(LastLook, SeesThisProcess) {
  const LastLook self = look(getpid());
  EXPECT_TRUE(self.there);
  EXPECT_EQ(self.real, getuid());
  EXPECT_EQ(self.effective, geteuid());
}

TEST(OwnLine, BeginsWithThisProcessAndItsParent) {
  const std::vector<pid_t> line = own_line();
  ASSERT_GE(line.size(), 2U);
  EXPECT_EQ(line[0], getpid());
  EXPECT_EQ(line[1], getppid());
}

}  // namespace
}  // namespace corral::reap
