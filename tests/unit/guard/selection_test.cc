// Whom --keep spares. The test program is the process that a pattern fits or not.
#include "guard/selection.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace corral::guard {
namespace {

constexpr pid_t kNobody = 4'194'304;  // the kernel gives out smaller ones only

ProcessView own() { return *look_at(getpid()); }

bool keeps(const std::string& pattern) { return Selection({pattern}).kept(own()); }

TEST(KeptProcesses, AreNoneWithoutAPattern) {
  Selection selection({});
  EXPECT_FALSE(selection.has_patterns());
  EXPECT_FALSE(selection.kept(own()));
  EXPECT_FALSE(selection.spares(getpid()));
  EXPECT_TRUE(Selection({"x"}).has_patterns());
}

TEST(KeptProcesses, AreFoundByTheBaseNameOrTheWholeLine) {
  const std::vector<std::string> words = command_line(getpid());
  ASSERT_FALSE(words.empty());
  const std::string name = words.front().substr(words.front().rfind('/') + 1);
  std::string line;
  for (const std::string& word : words)
    line += "*" + (word.find_first_of("[*?\\") == std::string::npos ? word : "");

  EXPECT_TRUE(keeps(name));
  EXPECT_TRUE(keeps("*" + name.substr(2)));
  EXPECT_TRUE(keeps(line + "*"));
  EXPECT_FALSE(keeps(name + "x"));
  EXPECT_FALSE(keeps(name.substr(1)));
  EXPECT_FALSE(keeps(words.front() + "*nothing of this kind"));
  EXPECT_TRUE(Selection({"nothing", name}).kept(own())) << "one pattern is enough";
}

TEST(KeptProcesses, AreKnownAgainByTheirStart) {
  const std::string name = "unit_tests";
  Selection selection({name});
  ASSERT_TRUE(selection.kept(own()));
  ProcessView gone = own();
  gone.pid = kNobody;

  EXPECT_FALSE(selection.kept(gone)) << "nobody has a command line under that number";
  ASSERT_TRUE(selection.kept({kNobody, getpid(), 'S', 7})) << "below a kept one";
  EXPECT_TRUE(selection.kept({kNobody, 1, 'S', 7})) << "still the same, its parent has left";
  EXPECT_FALSE(selection.kept({kNobody, 1, 'S', 8})) << "another one with its number";
}

TEST(KeptProcesses, BringEverythingBelowThemAlong) {
  Selection selection({"unit_tests"});
  const ProcessView child{kNobody, getpid(), 'S', 7};
  const ProcessView grandchild{kNobody + 1, kNobody, 'S', 8};
  const ProcessView stranger{kNobody + 2, 1, 'S', 9};

  selection.look_again({own(), child, grandchild, stranger});

  EXPECT_TRUE(selection.kept({kNobody, 1, 'S', 7}));
  EXPECT_TRUE(selection.kept({kNobody + 1, 1, 'S', 8}));
  EXPECT_FALSE(selection.kept(stranger));
}

TEST(KeptProcesses, AreForgottenWhenTheyAreGone) {
  Selection selection({"unit_tests"});
  const ProcessView child{kNobody, getpid(), 'S', 7};
  selection.look_again({own(), child});
  selection.look_again({{kNobody, 1, 'S', 7}});
  EXPECT_TRUE(selection.kept({kNobody, 1, 'S', 7})) << "seen the last time";

  selection.look_again({{kNobody, 1, 'S', 8}});

  EXPECT_FALSE(selection.kept({kNobody, 1, 'S', 7}));
  EXPECT_FALSE(selection.kept({kNobody + 1, kNobody, 'S', 9}));
}

TEST(KeptProcesses, AreSparedBySignals) {
  EXPECT_TRUE(Selection({"unit_tests"}).spares(getpid()));
  EXPECT_FALSE(Selection({"something else"}).spares(getpid()));
  EXPECT_FALSE(Selection({"*"}).spares(kNobody));
}

/// Under names that it gives to itself.
class EndsByItself : public testing::Test {
 protected:
  EndsByItself() { prctl(PR_GET_NAME, before_); }
  ~EndsByItself() override { prctl(PR_SET_NAME, before_); }

 private:
  char before_[16] = "";
};

TEST_F(EndsByItself, AKeeperDoesAndACorralWithoutOneDoesNot) {
  EXPECT_FALSE(ends_by_itself(getpid()));
  EXPECT_FALSE(ends_by_itself(kNobody));

  prctl(PR_SET_NAME, "corral");
  EXPECT_FALSE(ends_by_itself(getpid()));

  prctl(PR_SET_NAME, "corral-keeper");
  EXPECT_TRUE(ends_by_itself(getpid()));
}

TEST_F(EndsByItself, SessionsAreSparedOnlyWhileTheyHaveTime) {
  prctl(PR_SET_NAME, "corral-keeper");
  Selection selection({});
  EXPECT_FALSE(selection.spares(getpid()));

  selection.spare_sessions = true;
  EXPECT_TRUE(selection.spares(getpid()));
}

}  // namespace
}  // namespace corral::guard
