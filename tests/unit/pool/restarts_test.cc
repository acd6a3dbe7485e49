// Waiting between two starts, on a held clock.
#include "pool/restarts.h"

#include <gtest/gtest.h>

#include "base/held_clock.h"

namespace corral::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class SomeRestarts : public testing::Test {
 protected:
  void pass(Clock::duration time) {
    clock_.pass(time);
    for (int turn = 0; turn < 4; ++turn) loop_.run_due();
  }

  HeldClock clock_;
  Loop loop_;
  std::minstd_rand random_{1};
  pool::RestartRules rules_{.second_delay = seconds(2), .most_deaths = 3, .rest = seconds(60)};
  pool::Restarts restarts_{loop_, rules_, random_};
  int started_ = 0;
};

TEST_F(SomeRestarts, FollowTheFirstDeathAtOnceAndTheSecondLater) {
  ASSERT_TRUE(restarts_.note_death({}));
  restarts_.wait("files", [this] { ++started_; });
  pass({});
  EXPECT_EQ(started_, 1);

  ASSERT_TRUE(restarts_.note_death({}));
  restarts_.wait("files", [this] { ++started_; });
  pass(milliseconds(999));
  EXPECT_EQ(started_, 1) << "half of the delay is certain";
  pass(seconds(2));
  EXPECT_EQ(started_, 2);
}

TEST_F(SomeRestarts, StopAfterTooManyDeathsUntilThereWasARest) {
  EXPECT_TRUE(restarts_.note_death({}));
  EXPECT_TRUE(restarts_.note_death({}));
  EXPECT_FALSE(restarts_.note_death({}));
  EXPECT_EQ(restarts_.deaths(), 3);
  EXPECT_TRUE(restarts_.rest([this] { ++started_; }));
  EXPECT_FALSE(restarts_.rest([this] { ++started_; })) << "it rests already";
  pass(seconds(59));
  EXPECT_EQ(started_, 0);
  pass(seconds(1));
  EXPECT_EQ(started_, 1);
  EXPECT_TRUE(restarts_.rest([] {})) << "the rest is over";
}

TEST_F(SomeRestarts, BeginAgainWhenEarlierDeathsAreForgiven) {
  EXPECT_TRUE(restarts_.note_death({}));
  EXPECT_TRUE(restarts_.note_death({}));
  restarts_.forgive();
  EXPECT_EQ(restarts_.deaths(), 0);
  EXPECT_TRUE(restarts_.note_death({}));
  restarts_.wait("files", [this] { ++started_; });
  pass({});
  EXPECT_EQ(started_, 1);
}

TEST_F(SomeRestarts, CountALongLifeAsANewBeginning) {
  EXPECT_TRUE(restarts_.note_death({}));
  EXPECT_TRUE(restarts_.note_death({}));
  EXPECT_TRUE(restarts_.note_death(rules_.stable));
  EXPECT_EQ(restarts_.deaths(), 1);
}

}  // namespace
}  // namespace corral::tests
