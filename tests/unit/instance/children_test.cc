#include "instance/children.h"

#include <gtest/gtest.h>

namespace corral::instance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Turn = NestedKeepers::Turn;

const Clock::time_point kStart = Clock::time_point() + seconds(100);

TEST(NestedKeepers, AreAskedOnceGetFiveSecondsAndAreKilledThen) {
  NestedKeepers nested;
  nested.expect(kStart);

  EXPECT_EQ(nested.turn_of(7, kStart), Turn::Ask);
  EXPECT_EQ(nested.turn_of(7, kStart + milliseconds(10)), Turn::Wait);
  EXPECT_EQ(nested.turn_of(7, kStart + milliseconds(4999)), Turn::Wait);
  EXPECT_EQ(nested.turn_of(7, kStart + seconds(5)), Turn::Kill);
  EXPECT_EQ(nested.turn_of(7, kStart + seconds(6)), Turn::Kill);
}

// In a busy daemon another keeper dies all the time.
TEST(NestedKeepers, HaveATimeOfTheirOwnWhateverElseDies) {
  NestedKeepers nested;
  nested.expect(kStart);
  nested.turn_of(7, kStart);
  for (pid_t other = 8; other < 20; ++other) {
    nested.expect(kStart + seconds(other - 7));
    EXPECT_EQ(nested.turn_of(other, kStart + seconds(other - 7)), Turn::Ask);
  }

  EXPECT_EQ(nested.turn_of(7, kStart + seconds(13)), Turn::Kill);
  EXPECT_EQ(nested.turn_of(19, kStart + seconds(13)), Turn::Wait);
}

TEST(NestedKeepers, WithTheNumberOfADeadOneAreAskedAgain) {
  NestedKeepers nested;
  nested.expect(kStart);
  nested.turn_of(7, kStart);
  nested.forget(7);

  nested.expect(kStart + seconds(60));
  EXPECT_EQ(nested.turn_of(7, kStart + seconds(60)), Turn::Ask);
}

// A process that looks like a keeper and forks has a new number each time.
TEST(NestedKeepers, ThatTurnUpLongAfterTheLastDeathHaveNoTime) {
  NestedKeepers nested;
  nested.expect(kStart);

  EXPECT_EQ(nested.turn_of(7, kStart + milliseconds(4999)), Turn::Ask);
  EXPECT_EQ(nested.turn_of(8, kStart + seconds(5)), Turn::Kill);
  EXPECT_EQ(nested.turn_of(7, kStart + seconds(6)), Turn::Wait);
}

class Waiting : public testing::Test {
 protected:
  void add(pid_t keeper, Clock::time_point until) {
    waiting_.add(
        keeper, [this, keeper](WaitingForOrphans::Tree) { told_.push_back(keeper); }, until);
  }
  std::vector<pid_t> told_of(const std::vector<WaitingForOrphans::Done>& tasks) {
    told_.clear();
    for (const auto& task : tasks) task(WaitingForOrphans::Tree::ProvedGone);
    return told_;
  }

  WaitingForOrphans waiting_;
  std::vector<pid_t> told_;
};

TEST_F(Waiting, EachHearsWhenItsOwnTimeIsOver) {
  add(7, kStart + seconds(10));
  EXPECT_TRUE(told_of(waiting_.take_overdue(kStart + seconds(9))).empty());
  add(8, kStart + seconds(19));

  EXPECT_EQ(told_of(waiting_.take_overdue(kStart + seconds(10))), std::vector<pid_t>{7})
      << "the newer one does not hold it up";
  EXPECT_FALSE(waiting_.empty());
  EXPECT_EQ(told_of(waiting_.take_overdue(kStart + seconds(19))), std::vector<pid_t>{8});
  EXPECT_TRUE(waiting_.empty());
}

TEST_F(Waiting, OnlyThoseWhoseKeeperWasReapedHearThatNothingIsLeft) {
  add(7, kStart);
  add(8, kStart);

  EXPECT_EQ(told_of(waiting_.take_proved([](pid_t keeper) { return keeper == 8; })), std::vector<pid_t>{8});
  EXPECT_EQ(told_of(waiting_.take_proved([](pid_t) { return true; })), std::vector<pid_t>{7});
  EXPECT_TRUE(waiting_.empty());
}

}  // namespace
}  // namespace corral::instance
