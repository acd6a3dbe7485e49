// Limits of a tree where no cgroup controller enforces them: the keeper looks and ends the tree in order.
// `basic` never uses a cgroup, so the outcome is the same on every machine.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using Limits = OsTest;

TEST_F(Limits, ATreeThatTogetherHoldsTooMuchMemoryIsEnded) {
  Session session(corral({.level = Level::Basic, .options = {"--memory", "64M"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  for (int i = 0; i < 3; ++i) ASSERT_EQ(session.ask("eat", "40"), "eating");

  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  const Report result = report();
  EXPECT_EQ(result.reason, "watchdog");
  ASSERT_EQ(result.limits.size(), 1U);
  EXPECT_EQ(result.limits[0].name, "memory");
  EXPECT_EQ(result.limits[0].limit, 64.0 * 1024 * 1024);
  EXPECT_EQ(result.limits[0].by, "watchdog");
  EXPECT_TRUE(result.limits[0].exceeded);
  EXPECT_NE(errors().find("--memory"), std::string::npos) << errors();
  expect_clean(result);
}

TEST_F(Limits, ATreeOfTooManyProcessesIsEnded) {
  Session session(corral({.level = Level::Basic, .options = {"--pids", "20"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.ask("grow", "daemons:40");  // it may be ended before it can answer

  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  const Report result = report();
  EXPECT_EQ(result.reason, "watchdog");
  ASSERT_EQ(result.limits.size(), 1U);
  EXPECT_EQ(result.limits[0].name, "pids");
  EXPECT_EQ(result.limits[0].limit, 20.0);
  EXPECT_EQ(result.limits[0].by, "watchdog");
  EXPECT_TRUE(result.limits[0].exceeded);
  EXPECT_NE(errors().find("--pids"), std::string::npos) << errors();
  expect_clean(result);
}

TEST_F(Limits, OfProcessesHoldsInsideANamespaceToo) {
  if (const auto reason = why_not_here({Level::Strict, User::Ordinary})) GTEST_SKIP() << *reason;
  Session session(corral({.level = Level::Strict, .options = {"--pids", "20"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.ask("grow", "daemons:40");  // it may be ended before it can answer

  EXPECT_TRUE(session.wait());
  ASSERT_EQ(report().limits.size(), 1U);
  EXPECT_TRUE(report().limits[0].exceeded);
  expect_clean(report());
}

TEST_F(Limits, ThatAreKeptDoNotDisturb) {
  Session session(corral({.level = Level::Basic, .options = {"--memory", "256M", "--pids", "20"}}));
  ASSERT_EQ(session.ask("grow", "daemons:10"), "grown") << errors();
  ASSERT_EQ(session.ask("eat", "40"), "eating");

  ASSERT_EQ(session.ask("block", "2500"), "unblocked");  // the keeper has looked at least once
  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  ASSERT_EQ(report().limits.size(), 2U);
  EXPECT_FALSE(report().limits[0].exceeded);
  EXPECT_FALSE(report().limits[1].exceeded);
  expect_clean(report());
}

// An ordinary user outside of any delegated cgroup has no cpu controller, on this machine and on most.
TEST_F(Limits, ForTheCpuIsAWarningWhereNothingCanEnforceIt) {
  Session session(corral({.level = Level::Basic, .options = {"--cpu", "0.5"}}));
  ASSERT_EQ(session.ask("burn"), "burning") << errors();
  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  EXPECT_NE(errors().find("corral run: warning"), std::string::npos) << errors();
  EXPECT_NE(errors().find("cpu"), std::string::npos) << errors();
  ASSERT_EQ(report().limits.size(), 1U);
  EXPECT_EQ(report().limits[0].name, "cpu");
  EXPECT_EQ(report().limits[0].by, "none");
  expect_clean(report());
}

TEST_F(Limits, ForTheCpuIsRefusedUnderStrictWhereNothingCanEnforceIt) {
  Session session(corral({.level = Level::Strict, .options = {"--cpu", "0.5"}}));

  EXPECT_EQ(session.wait(), 125);
  EXPECT_NE(errors().find("cpu"), std::string::npos) << errors();
  EXPECT_NE(errors().find("CPUQuota="), std::string::npos) << errors();
  EXPECT_EQ(errors().find("Delegate"), std::string::npos) << "it cannot help: " << errors();
  EXPECT_TRUE(all_gone());
}

}  // namespace
}  // namespace corral::os_tests
