#include "pool/restart_policy.h"

#include <cmath>

#include <gtest/gtest.h>

namespace corral::pool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RestartPolicy, TheFirstRestartDoesNotWait) {
  RestartPolicy policy;
  EXPECT_EQ(policy.died(seconds(1), 0.5), Clock::duration::zero());
}

TEST(RestartPolicy, EachFurtherOneWaitsTwiceAsLong) {
  RestartPolicy policy({.most_deaths = 100});
  policy.died(seconds(0), 0);
  EXPECT_EQ(policy.died(seconds(0), 0), milliseconds(250));
  EXPECT_EQ(policy.died(seconds(0), 0), milliseconds(500));
  EXPECT_EQ(policy.died(seconds(0), 0), milliseconds(1000));
}

TEST(RestartPolicy, ChanceAddsUpToTheOtherHalf) {
  for (const double random : {0.0, 0.2, 0.8}) {
    RestartPolicy policy;
    policy.died(seconds(0), 0);
    const auto delay = policy.died(seconds(0), random);
    ASSERT_TRUE(delay);
    EXPECT_EQ(std::chrono::round<milliseconds>(*delay).count(), std::lround(250 + 250 * random));
  }
}

TEST(RestartPolicy, NoDelayIsLongerThanTheLongest) {
  RestartPolicy policy({.most_deaths = 1000});
  std::optional<Clock::duration> delay;
  for (int death = 0; death < 500; ++death) delay = policy.died(seconds(0), 0.999999);
  EXPECT_LE(delay, seconds(30));
  EXPECT_GT(delay, seconds(29));
}

TEST(RestartPolicy, TheFifthDeathInARowIsTheLast) {
  RestartPolicy policy;
  for (int death = 1; death < 5; ++death) EXPECT_TRUE(policy.died(seconds(1), 0)) << death;
  EXPECT_FALSE(policy.died(seconds(1), 0));
  EXPECT_EQ(policy.deaths(), 5);
}

TEST(RestartPolicy, AStableLifeMakesUpForEarlierDeaths) {
  RestartPolicy policy;
  for (int death = 1; death < 5; ++death) policy.died(seconds(1), 0);
  EXPECT_EQ(policy.died(seconds(30), 0), Clock::duration::zero());
  EXPECT_EQ(policy.deaths(), 1);
}

TEST(RestartPolicy, AlmostStableIsNotEnough) {
  RestartPolicy policy;
  for (int death = 1; death < 5; ++death) policy.died(milliseconds(29'999), 0);
  EXPECT_FALSE(policy.died(milliseconds(29'999), 0));
}

TEST(RestartPolicy, ForgivenIsForgotten) {
  RestartPolicy policy;
  for (int death = 1; death <= 5; ++death) policy.died(seconds(0), 0);
  policy.forgive();
  EXPECT_EQ(policy.died(seconds(0), 0), Clock::duration::zero());
}

}  // namespace
}  // namespace corral::pool
