#include "router/health_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "router/router_parts.h"

namespace corral::tests {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

class HealthWatchTest : public testing::Test {
 protected:
  HealthWatchTest() { options_.probe = seconds(2); }

  void start() { watch_.start(); }
  void pass(Clock::duration time) {
    clock_.pass(time);
    loop_.run_due();
  }

  HeldClock clock_;
  Loop loop_;
  router::RouterOptions options_{.server = "files"};
  router::RouterCounters counters_;
  RecordedLearner learner_;
  bool busy_ = false;
  int hung_ = 0;
  std::vector<CallId> dropped_;
  std::uint64_t probes_ = 0;
  router::HealthWatch watch_{loop_,
                             options_,
                             counters_,
                             learner_,
                             {.busy = [this] { return busy_; },
                              .send_probe = [this] { return CallId(++probes_); },
                              .drop_probe = [this](CallId id) { dropped_.push_back(id); },
                              .hung = [this] { ++hung_; }}};
};

TEST_F(HealthWatchTest, ProbesASilentServerAndLearnsThatItAnswers) {
  start();
  pass(seconds(2));
  EXPECT_EQ(probes_, 1U);
  watch_.message_received();
  watch_.answered();
  EXPECT_EQ(learner_.probes, 1);
  pass(seconds(10));
  EXPECT_FALSE(watch_.unhealthy());
  pass(seconds(2));
  EXPECT_EQ(probes_, 2U) << "it is silent again";
  watch_.answered();
  EXPECT_EQ(learner_.probes, 1) << "that is known";
}

TEST_F(HealthWatchTest, AServerThatMissesTwoProbesHangs) {
  options_.answers_probes = true;
  start();
  pass(seconds(2));
  pass(seconds(10));
  EXPECT_TRUE(watch_.unhealthy());
  EXPECT_EQ(counters_.missed_probes, 1U);
  EXPECT_EQ(hung_, 0);
  pass(seconds(10));
  EXPECT_EQ(hung_, 1);
  pass(seconds(100));
  EXPECT_EQ(hung_, 1) << "reported once";
  EXPECT_EQ(probes_, 2U);
  EXPECT_THAT(dropped_, testing::Contains(CallId(1))) << "the first probe is no longer waited for";
}

TEST_F(HealthWatchTest, AServerThatNeverAnsweredAProbeDoesNotHang) {
  start();
  for (int turn = 0; turn < 20; ++turn) pass(seconds(10));
  EXPECT_EQ(hung_, 0);
  EXPECT_FALSE(watch_.unhealthy());
}

TEST_F(HealthWatchTest, AnUnreadableAnswerProvesThatTheServerAnswers) {
  start();
  pass(seconds(2));
  watch_.answered_unreadably();
  EXPECT_EQ(learner_.probes, 0) << "it is not passed on";
  pass(seconds(10));
  EXPECT_TRUE(watch_.unhealthy()) << "its silence counts from now on";
}

TEST_F(HealthWatchTest, ABusyServerIsNotProbed) {
  busy_ = true;
  start();
  pass(seconds(2));
  pass(seconds(2));
  EXPECT_EQ(probes_, 0U);
}

TEST_F(HealthWatchTest, WithoutAnIntervalNothingIsProbed) {
  options_.probe = {};
  start();
  pass(seconds(1000));
  EXPECT_EQ(probes_, 0U);
  EXPECT_FALSE(watch_.unhealthy());
}

TEST_F(HealthWatchTest, NothingIsProbedAfterStop) {
  start();
  watch_.stop();
  pass(seconds(1000));
  EXPECT_EQ(probes_, 0U);
}

}  // namespace
}  // namespace corral::tests
