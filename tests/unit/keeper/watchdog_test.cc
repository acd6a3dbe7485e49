#include "keeper/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace corral::keeper {
namespace {

constexpr std::uint64_t kPlenty = 1ULL << 50;

class WatchdogTest : public testing::Test {
 protected:
  PlanHeader plan_;
  Report report_;
};

TEST_F(WatchdogTest, WithoutLimitsThereIsNothingToWatch) {
  LimitWatchdog watchdog(plan_, report_);

  EXPECT_FALSE(watchdog.watching());
  EXPECT_EQ(report_.limits, 0U);
  EXPECT_FALSE(watchdog.exceeded(getppid()));
}

TEST_F(WatchdogTest, ListsTheLimitsOfThePlanInOrder) {
  plan_.memory = {1, Enforcer::Cgroup};
  plan_.pids = {2, Enforcer::Cgroup};
  plan_.cpu = {3, Enforcer::None};

  const LimitWatchdog watchdog(plan_, report_);

  ASSERT_EQ(report_.limits, 3U);
  EXPECT_EQ(report_.limit[0].name, LimitName::Memory);
  EXPECT_EQ(report_.limit[0].limit, 1U);
  EXPECT_EQ(report_.limit[0].by, Enforcer::Cgroup);
  EXPECT_EQ(report_.limit[1].name, LimitName::Pids);
  EXPECT_EQ(report_.limit[1].limit, 2U);
  EXPECT_EQ(report_.limit[2].name, LimitName::Cpu);
  EXPECT_EQ(report_.limit[2].by, Enforcer::None);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(report_.limit[i].exceeded);
    EXPECT_EQ(report_.limit[i].seen, 0U);
  }
  EXPECT_FALSE(watchdog.watching()) << "the kernel does";
}

TEST_F(WatchdogTest, TakesOverWhatACgroupWasToHoldButTheProcessor) {
  plan_.memory = {1, Enforcer::Cgroup};
  plan_.pids = {0, Enforcer::Cgroup};
  plan_.cpu = {3, Enforcer::Cgroup};
  LimitWatchdog watchdog(plan_, report_);

  watchdog.take_over();

  ASSERT_EQ(report_.limits, 2U);
  EXPECT_EQ(report_.limit[0].by, Enforcer::Watchdog);
  EXPECT_EQ(report_.limit[1].by, Enforcer::None);
  EXPECT_TRUE(watchdog.watching());
}

TEST_F(WatchdogTest, TakesOverNothingWhereOnlyTheProcessorWasHeld) {
  plan_.cpu = {3, Enforcer::Cgroup};
  LimitWatchdog watchdog(plan_, report_);

  watchdog.take_over();

  EXPECT_FALSE(watchdog.watching());
}

TEST_F(WatchdogTest, MeasuresWhatItWatchesAndNothingElse) {
  plan_.memory = {kPlenty, Enforcer::Watchdog};
  plan_.pids = {kPlenty, Enforcer::Watchdog};
  plan_.cpu = {1, Enforcer::None};
  LimitWatchdog watchdog(plan_, report_);
  ASSERT_TRUE(watchdog.watching());

  EXPECT_FALSE(watchdog.exceeded(getppid()));  // we are below it, at least

  EXPECT_GT(report_.limit[0].seen, 256U * 1024);
  EXPECT_LT(report_.limit[0].seen, kPlenty);
  EXPECT_GE(report_.limit[1].seen, 1U);
  EXPECT_LT(report_.limit[1].seen, 100'000U);
  EXPECT_EQ(report_.limit[2].seen, 0U);
  EXPECT_FALSE(report_.limit[0].exceeded || report_.limit[1].exceeded || report_.limit[2].exceeded);
}

TEST_F(WatchdogTest, OneLimitExceededIsEnoughAndStays) {
  plan_.memory = {1, Enforcer::Watchdog};
  plan_.pids = {kPlenty, Enforcer::Watchdog};
  LimitWatchdog watchdog(plan_, report_);
  EXPECT_FALSE(watchdog.exceeded(getpid())) << "nobody is below us";
  EXPECT_EQ(report_.limit[0].seen, 0U);

  EXPECT_TRUE(watchdog.exceeded(getppid()));
  const std::uint64_t most = report_.limit[0].seen;
  EXPECT_GT(most, 1U);
  EXPECT_TRUE(watchdog.exceeded(getpid()));

  EXPECT_TRUE(report_.limit[0].exceeded);
  EXPECT_FALSE(report_.limit[1].exceeded);
  EXPECT_EQ(report_.limit[0].seen, most) << "the most that was ever seen";
}

TEST_F(WatchdogTest, OurOwnProcessInANamespaceIsNotCounted) {
  plan_.pid_namespace = 1;
  plan_.pids = {kPlenty, Enforcer::Watchdog};
  LimitWatchdog watchdog(plan_, report_);

  EXPECT_FALSE(watchdog.exceeded(getpid())) << "none is not less than none";

  EXPECT_EQ(report_.limit[0].seen, 0U);
}

}  // namespace
}  // namespace corral::keeper
