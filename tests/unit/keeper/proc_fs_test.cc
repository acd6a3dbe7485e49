#include "keeper/proc_fs.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
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

TEST(ParseStat, TakesTheShortestLineAndTheLargestNumber) {
  StatLine line;
  ASSERT_TRUE(parse("1 (a) S 0", line));
  EXPECT_EQ(line.parent, 0);
  ASSERT_TRUE(parse("1 (a) S 9", line));
  EXPECT_EQ(line.parent, 9);
  ASSERT_TRUE(parse("1 (a) S 4194304 1", line));
  EXPECT_EQ(line.parent, 4'194'304);
  ASSERT_TRUE(parse("1 (a) S 99999999999999999999 1", line));
  EXPECT_GT(line.parent, 4'194'304) << "nobody's number, and no overflow";
}

TEST(ParseStat, RefusesWhatIsCutOff) {
  for (const char* text : {"", "12", "12 (node", "12 (node)", "12 (node) S", "12 (node) S ", "12 (node) S x",
                           "12 (node)xS 34", "12 (node) Sx34", "12 (node) S :4"}) {
    StatLine line;
    EXPECT_FALSE(parse(text, line)) << text;
  }
}

constexpr pid_t kNobody = 4'194'304;  // the kernel gives out smaller ones only

/// The test program is the process that is read.
class OwnProcess : public testing::Test {
 protected:
  OwnProcess() { prctl(PR_GET_NAME, before_); }
  ~OwnProcess() override { prctl(PR_SET_NAME, before_); }

 private:
  char before_[16] = "";
};

TEST_F(OwnProcess, IsBelowItsParentAndRuns) {
  StatLine line;
  ASSERT_TRUE(read_stat(getpid(), line));
  EXPECT_EQ(line.parent, getppid());
  EXPECT_EQ(line.state, 'R');
  EXPECT_EQ(read_uid(getpid()), geteuid());
}

TEST_F(OwnProcess, IsCalledAsItCallsItself) {
  for (const char* name : {"x", "a (b) c", "fifteen-letters"}) {
    prctl(PR_SET_NAME, name);
    char comm[16];
    EXPECT_TRUE(read_comm(getpid(), comm));
    EXPECT_STREQ(comm, name);
  }
}

TEST_F(OwnProcess, HoldsMemoryInWholeKilobytes) {
  const std::uint64_t held = memory_of(getpid());
  EXPECT_GT(held, 256U * 1024);
  EXPECT_LT(held, 64ULL << 30);
  EXPECT_EQ(held % 1024, 0U);
}

TEST_F(OwnProcess, IsAmongWhatIsBelowItsParent) {
  pid_t below[4096];
  const std::size_t count = descendants(getppid(), below);
  EXPECT_NE(std::find(below, below + count, getpid()), below + count);
}

TEST(AProcessThatIsGone, HasNothing) {
  StatLine line;
  char comm[16] = "before";
  EXPECT_FALSE(read_stat(kNobody, line));
  EXPECT_FALSE(read_comm(kNobody, comm));
  EXPECT_STREQ(comm, "?");
  EXPECT_EQ(read_uid(kNobody), static_cast<uid_t>(-1));
  EXPECT_EQ(memory_of(kNobody), 0U);
  pid_t below[4];
  EXPECT_EQ(descendants(kNobody, below), 0U);
}

}  // namespace
}  // namespace corral::keeper
