#include "router/deadlines.h"

#include <gtest/gtest.h>

#include "base/held_clock.h"

namespace corral::tests {
namespace {

using std::chrono::seconds;

class DeadlinesTest : public testing::Test {
 protected:
  void pass(Clock::duration time) {
    clock_.pass(time);
    loop_.run_due();
  }
  Clock::time_point in(Clock::duration time) const { return Clock::now() + time; }

  HeldClock clock_;
  Loop loop_;
  int looks_ = 0;
  Clock::time_point next_ = Clock::time_point::max();
  router::Deadlines deadlines_{loop_, [this] {
                                 ++looks_;
                                 return std::exchange(next_, Clock::time_point::max());
                               }};
};

TEST_F(DeadlinesTest, LooksWhenTheNearestDeadlineIsReached) {
  deadlines_.watch(in(seconds(30)));
  deadlines_.watch(in(seconds(10)));
  deadlines_.watch(in(seconds(20)));
  pass(seconds(9));
  EXPECT_EQ(looks_, 0);
  pass(seconds(1));
  EXPECT_EQ(looks_, 1);
}

TEST_F(DeadlinesTest, GoesOnWithTheNextDeadlineThatTheLookReports) {
  deadlines_.watch(in(seconds(10)));
  next_ = in(seconds(25));
  pass(seconds(10));
  EXPECT_EQ(looks_, 1);
  pass(seconds(14));
  EXPECT_EQ(looks_, 1);
  pass(seconds(1));
  EXPECT_EQ(looks_, 2);
}

TEST_F(DeadlinesTest, ADeadlineThatHasPassedIsLookedAtInTheNextTurn) {
  deadlines_.watch(Clock::now() - seconds(1));
  pass(seconds(0));
  EXPECT_EQ(looks_, 1);
}

TEST_F(DeadlinesTest, WithoutADeadlineThereIsNoTimer) {
  deadlines_.watch(Clock::time_point::max());
  pass(std::chrono::hours(1000));
  EXPECT_EQ(looks_, 0);
}

TEST_F(DeadlinesTest, NothingIsLookedAtAfterCancel) {
  deadlines_.watch(in(seconds(10)));
  deadlines_.cancel();
  pass(seconds(10));
  EXPECT_EQ(looks_, 0);
}

}  // namespace
}  // namespace corral::tests
