#include "reap/last_look.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "keeper/proc_fs.h"

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

TEST(LastLook, EveryLineIsNeeded) {
  EXPECT_FALSE(parse_status("Name:\tx\nTracerPid:\t0\nUid:\t1\t1\n").there);
  EXPECT_FALSE(parse_status("Name:\tx\nState:\tS\nUid:\t1\t1\n").there);
  EXPECT_FALSE(parse_status("Name:\tx\nState:\tS\nTracerPid:\t0\n").there);
  EXPECT_FALSE(parse_status("Name:\tx\nState:\tS\nTracerPid:\t0\nUid:\t1\n").there);
  EXPECT_TRUE(parse_status("Name:\tx\nState:\tS\nTracerPid:\t0\nUid:\t1\t1").there);
}

TEST(LastLook, SeesNobodyWhereNobodyIs) {
  const LastLook nobody = look(4'194'304);  // the kernel gives out smaller numbers only
  EXPECT_FALSE(nobody.there);
}

TEST(OwnLine, IsTheParentsUpToTheFirstProcess) {
  const std::vector<pid_t> line = own_line();

  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    keeper::StatLine stat;
    ASSERT_TRUE(keeper::read_stat(line[i], stat));
    EXPECT_EQ(line[i + 1], stat.parent);
  }
  keeper::StatLine last;
  if (keeper::read_stat(line.back(), last)) {  // else it is hidden from us
    EXPECT_EQ(last.parent, 0);
  }
  EXPECT_GT(line.back(), 0);
}

}  // namespace
}  // namespace corral::reap
