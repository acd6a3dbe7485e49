#include "instance/health.h"

#include <gtest/gtest.h>

namespace corral::instance {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Advice = Health::Advice;

/// Turns the clock to the next look, as the loop would.
struct Watching {
  explicit Watching(Health::Pings pings = Health::Pings::Answered) : health(minutes(1), pings, now) {}

  Advice after(Clock::duration time, bool busy = false) {
    now += time;
    const Health::Verdict verdict = health.look(now, {.busy = busy, .said = said});
    next = verdict.next;
    return verdict.advice;
  }
  Advice in_time(bool busy = false) { return after(next, busy); }

  Clock::time_point now{seconds(1000)};
  Health health;
  Clock::duration next = minutes(1);
  std::uint64_t said = 0;
};

TEST(Health, ASilentServerIsAskedTwiceThenItIsHung) {
  Watching watching;
  EXPECT_EQ(watching.in_time(), Advice::Ask);
  EXPECT_FALSE(watching.health.unhealthy());
  EXPECT_EQ(watching.in_time(), Advice::AskAgain);
  EXPECT_TRUE(watching.health.unhealthy());
  EXPECT_EQ(watching.in_time(), Advice::Hung);
}

TEST(Health, AnyWordIsASignOfLife) {
  Watching watching;
  watching.in_time();
  ++watching.said;
  EXPECT_EQ(watching.in_time(), Advice::Wait);
  EXPECT_EQ(watching.in_time(), Advice::Ask);
}

TEST(Health, AWordAfterAMissMakesItHealthyAgain) {
  Watching watching;
  watching.in_time();
  watching.in_time();
  ++watching.said;
  EXPECT_EQ(watching.in_time(), Advice::Wait);
  EXPECT_FALSE(watching.health.unhealthy());
}

TEST(Health, AnInstanceThatSendsMessagesIsNotAsked) {
  Watching watching;
  for (int look = 0; look < 20; ++look) EXPECT_EQ(watching.in_time(true), Advice::Wait);
}

TEST(Health, AnInstanceThatNeverAnswersPingsIsNotJudgedByThem) {
  Watching watching(Health::Pings::NeverAnswered);
  for (int look = 0; look < 20; ++look) {
    const Advice advice = watching.in_time();
    EXPECT_TRUE(advice == Advice::Ask || advice == Advice::Wait);
    EXPECT_FALSE(watching.health.unhealthy());
  }
}

TEST(Health, OneAnswerProvesThatItCould) {
  Watching watching(Health::Pings::NeverAnswered);
  watching.in_time();
  watching.health.answered();
  ++watching.said;
  watching.in_time();
  EXPECT_EQ(watching.in_time(), Advice::Ask);
  EXPECT_EQ(watching.in_time(), Advice::AskAgain);
  EXPECT_EQ(watching.in_time(), Advice::Hung);
}

TEST(Health, ASuspendedMachineDoesNotCountAsAHang) {
  Watching watching;
  watching.in_time();
  EXPECT_EQ(watching.after(std::chrono::hours(8)), Advice::Wait);  // its time begins now
  EXPECT_FALSE(watching.health.unhealthy());
  ++watching.said;
  EXPECT_EQ(watching.in_time(), Advice::Wait);
}

TEST(Health, SleepingAtEveryLookIsStillNoHang) {
  Watching watching;
  watching.in_time();
  for (int night = 0; night < 10; ++night) {
    EXPECT_EQ(watching.after(std::chrono::hours(8)), Advice::Wait);
  }
  EXPECT_FALSE(watching.health.unhealthy());
}

TEST(Health, AnInstanceThatHangsAfterTheMachineWasSuspendedIsFound) {
  Watching watching;
  watching.in_time();
  watching.after(std::chrono::hours(8));
  EXPECT_EQ(watching.in_time(), Advice::AskAgain);
  EXPECT_EQ(watching.in_time(), Advice::Hung);
}

TEST(Health, AnEarlyLookWaitsForTheRest) {
  Watching watching;
  watching.in_time();
  EXPECT_EQ(watching.after(seconds(5)), Advice::Wait);
  EXPECT_EQ(watching.next, seconds(10));
}

}  // namespace
}  // namespace corral::instance
