// What comes next while the daemon shuts down.
#include "daemon/drain.h"

#include <gtest/gtest.h>

namespace corral::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Left = DrainPlan::Left;
using Phase = DrainPlan::Phase;
using Step = DrainPlan::Step;

constexpr Left kNothing{false, false, false};
constexpr Left kIdle{false, true, true};
constexpr Left kCalls{true, true, true};
constexpr seconds kPatience{5};

class DrainPlanTest : public testing::Test {
 protected:
  DrainPlanTest() { plan.begin(now, kPatience); }

  Clock::time_point now{seconds(1000)};
  DrainPlan plan;
};

TEST_F(DrainPlanTest, WithoutCallsTheSessionsEndAtOnce) {
  EXPECT_EQ(plan.next(now, kIdle), Step::EndSessions);
  EXPECT_EQ(plan.next(now, kNothing), Step::Finish);
  EXPECT_EQ(plan.phase(), Phase::Over);
}

TEST_F(DrainPlanTest, CallsGetTheConfiguredTime) {
  EXPECT_EQ(plan.next(now, kCalls), Step::Wait);
  EXPECT_EQ(plan.next(now + kPatience - milliseconds(1), kCalls), Step::Wait);
  EXPECT_EQ(plan.next(now + kPatience, kCalls), Step::EndSessions);
}

TEST_F(DrainPlanTest, TheLastAnswerEndsTheWait) {
  ASSERT_EQ(plan.next(now, kCalls), Step::Wait);

  EXPECT_EQ(plan.next(now + seconds(1), kIdle), Step::EndSessions);
}

TEST_F(DrainPlanTest, AskingAgainDoesNotWaitForCalls) {
  ASSERT_EQ(plan.next(now, kCalls), Step::Wait);

  plan.hurry();

  EXPECT_EQ(plan.next(now, kCalls), Step::EndSessions);
  EXPECT_EQ(plan.next(now, kIdle), Step::Wait) << "one request hurries one phase";
}

TEST_F(DrainPlanTest, AskingAgainWhileInstancesEndHurriesThemOnce) {
  ASSERT_EQ(plan.next(now, kIdle), Step::EndSessions);

  plan.hurry();

  EXPECT_EQ(plan.next(now, kIdle), Step::Hurry);
  EXPECT_EQ(plan.next(now, kIdle), Step::Wait);
}

TEST_F(DrainPlanTest, AHurryThatIsTakenBackChangesNothing) {
  plan.hurry();
  plan.cancel_hurry();

  EXPECT_EQ(plan.next(now, kCalls), Step::Wait);
}

TEST_F(DrainPlanTest, WhatDoesNotEndIsGivenUp) {
  ASSERT_EQ(plan.next(now, kIdle), Step::EndSessions);

  EXPECT_EQ(plan.next(now + DrainPlan::kLastPatience - milliseconds(1), kIdle), Step::Wait);
  EXPECT_EQ(plan.next(now + DrainPlan::kLastPatience, {false, false, true}), Step::GiveUp);
  EXPECT_EQ(plan.phase(), Phase::Over);
}

TEST_F(DrainPlanTest, TheLastPatienceBeginsWithTheEndOfTheSessions) {
  ASSERT_EQ(plan.next(now + kPatience, kCalls), Step::EndSessions);

  EXPECT_EQ(plan.next(now + kPatience + DrainPlan::kLastPatience - milliseconds(1), kIdle), Step::Wait);
}

TEST(DrainPlan, DoesNothingBeforeItHasBegun) {
  DrainPlan plan;

  EXPECT_EQ(plan.next(Clock::time_point(), kNothing), Step::Wait);
  EXPECT_EQ(plan.phase(), Phase::NotBegun);
}

}  // namespace
}  // namespace corral::daemon
