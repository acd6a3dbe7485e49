// Sessions that wait for an instance are answered once each, whatever their answers set off.
#include "pool/waiters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Waiters;
using router::Opened;
using testing::ElementsAre;
using testing::IsEmpty;

class SomeWaiters : public testing::Test {
 protected:
  void add(FakePort& port) { waiters_.add({.port = &port, .initialize_params = "{}"}); }
  static Opened again(SessionId) { return {Opened::Kind::Again, nullptr, {}}; }

  Waiters waiters_;
  FakePort one_{1};
  FakePort two_{2};
  FakePort three_{3};
};

TEST_F(SomeWaiters, AreAnsweredInTheOrderInWhichTheyAsked) {
  std::vector<SessionId> answered;
  for (FakePort* const port : {&two_, &one_, &three_}) add(*port);
  const auto dismissed = waiters_.dismiss_all();
  EXPECT_TRUE(waiters_.empty());
  EXPECT_TRUE(waiters_.contains(one_.id())) << "until it is answered";
  waiters_.answer(dismissed, [&answered](SessionId session) {
    answered.push_back(session);
    return Opened{Opened::Kind::Failed, nullptr, "why"};
  });
  EXPECT_THAT(answered, ElementsAre(two_.id(), one_.id(), three_.id()));
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(one_.answers[0].text, "why");
  EXPECT_FALSE(waiters_.contains(one_.id()));
}

TEST_F(SomeWaiters, AreNotAnsweredAfterAnotherOneHasEndedThem) {
  auto doomed = std::make_unique<FakePort>(4);
  add(one_);
  add(*doomed);
  add(three_);
  one_.when_opened = [&] {
    waiters_.remove(*doomed);
    doomed.reset();
  };
  waiters_.answer(waiters_.dismiss_all(), again);
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(three_.told(), 1U);
}

TEST_F(SomeWaiters, ThatAskAgainWhileTheyAreAnsweredWaitAgain) {
  add(one_);
  add(two_);
  one_.when_opened = [this] { add(one_); };
  waiters_.answer(waiters_.dismiss_all(), again);
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(two_.told(), 1U);
  EXPECT_THAT(waiters_.sessions(), ElementsAre(one_.id()));
}

TEST_F(SomeWaiters, AreAnsweredOnceWhenAnAnswerDismissesOthers) {
  add(one_);
  add(two_);
  one_.when_opened = [this] {
    add(three_);
    waiters_.answer(waiters_.dismiss_all(), again);
  };
  waiters_.answer(waiters_.dismiss_all(), again);
  for (const FakePort* const port : {&one_, &two_, &three_}) EXPECT_EQ(port->told(), 1U);
}

TEST_F(SomeWaiters, ThatAskedAfterAFailedStartAreNotRefusedForIt) {
  add(one_);
  waiters_.mark_failed();
  add(two_);
  EXPECT_THAT(waiters_.dismiss_failed(), ElementsAre(one_.id()));
  EXPECT_THAT(waiters_.sessions(), ElementsAre(two_.id()));
  EXPECT_THAT(waiters_.dismiss_failed(), IsEmpty());
}

TEST_F(SomeWaiters, OnlyTheFirstHasAnInstanceStartedForIt) {
  waiters_.mark_spawn();  // nobody waits: a spare
  add(one_);
  add(two_);
  waiters_.mark_spawn();
  EXPECT_EQ(waiters_.take_front().way, events::Cause::Spawn);
  EXPECT_EQ(waiters_.take_front().way, events::Cause::Warm);
  EXPECT_TRUE(waiters_.empty());
}

}  // namespace
}  // namespace corral::tests
