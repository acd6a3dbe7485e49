#include "router/pending_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::router {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

SessionId session(std::uint64_t number) { return SessionId(number); }
CallId up(std::uint64_t number) { return CallId(number); }

const Clock::time_point kStart{};

Call call_of(SessionId from, std::string id) {
  Call call;
  call.session = from;
  call.id = std::move(id);
  return call;
}

TEST(PendingCalls, KeepsEqualIdsOfTwoSessionsApart) {
  PendingCalls calls;
  EXPECT_TRUE(calls.add(up(1), call_of(session(1), "5")));
  EXPECT_TRUE(calls.add(up(2), call_of(session(2), "5")));
  EXPECT_TRUE(calls.add(up(3), call_of(session(1), "\"5\"")));
  EXPECT_FALSE(calls.add(up(4), call_of(session(1), "5")));
  EXPECT_EQ(calls.find(session(1), "5"), up(1));
  EXPECT_EQ(calls.find(session(2), "5"), up(2));
  EXPECT_EQ(calls.find(session(3), "5"), std::nullopt);
  EXPECT_THAT(calls.of(session(1)), ElementsAre(up(1), up(3)));
}

TEST(PendingCalls, LetsEveryCallLeaveOnce) {
  PendingCalls calls;
  calls.add(up(1), call_of(session(1), "a"));
  EXPECT_EQ(calls.take(up(1))->id, "a");
  EXPECT_EQ(calls.take(up(1)), std::nullopt);
  EXPECT_EQ(calls.cancel(up(1), kStart), std::nullopt);
  EXPECT_EQ(calls.size(), 0U);
  EXPECT_TRUE(calls.add(up(2), call_of(session(1), "a"))) << "the id is free again";
}

TEST(PendingCalls, RemembersACancelledCallUntilItsAnswer) {
  PendingCalls calls;
  calls.add(up(1), call_of(session(1), "a"));
  calls.cancel(up(1), kStart);
  EXPECT_TRUE(calls.was_cancelled(up(1), kStart));
  EXPECT_FALSE(calls.was_cancelled(up(1), kStart));
}

std::optional<SessionId> cause(const PendingCalls& calls, Clock::time_point now,
                               Causes which = Causes::AnyCall) {
  return calls.causes(which, now).only();
}

TEST(PendingCalls, CountsAGivenUpCallAmongThePossibleCausesForAMinute) {
  PendingCalls calls;
  calls.add(up(1), call_of(session(1), "a"));
  calls.cancel(up(1), kStart);
  calls.add(up(2), call_of(session(2), "b"));
  EXPECT_EQ(cause(calls, kStart + 59s), std::nullopt);
  EXPECT_EQ(cause(calls, kStart + 60s), session(2));
}

// Whatever kind of answer it is: the server may say a last word about it, on a pipe that is read later.
TEST(PendingCalls, ALateAnswerToAGivenUpCallLeavesItsSessionAPossibleCauseForTwoSeconds) {
  PendingCalls calls;
  calls.add(up(1), call_of(session(1), "a"));
  calls.cancel(up(1), kStart);
  calls.add(up(2), call_of(session(2), "b"));
  ASSERT_TRUE(calls.was_cancelled(up(1), kStart + 10s));
  EXPECT_EQ(cause(calls, kStart + 11s), std::nullopt);
  EXPECT_EQ(cause(calls, kStart + 12s), session(2)) << "the server has answered, and is done with it";
}

TEST(PendingCalls, WhatWeAskedForASessionsSakeLeavesItAPossibleCauseForTwoSeconds) {
  for (const Purpose purpose : {Purpose::Subscribe, Purpose::Unsubscribe, Purpose::SetLevel}) {
    PendingCalls calls;
    Call own;
    own.purpose = purpose;
    own.on_behalf_of = session(1);
    calls.add(up(1), std::move(own));
    calls.answered(up(1), kStart);
    calls.add(up(2), call_of(session(2), "b"));
    EXPECT_EQ(cause(calls, kStart + 1s), std::nullopt);
    EXPECT_EQ(cause(calls, kStart + 2s), session(2));
  }
}

TEST(PendingCalls, SoManyAnsweredSessionsCountAsAnUnknownCauseForTwoSecondsOnly) {
  PendingCalls calls;
  for (std::uint64_t id = 1; id <= 1025; ++id) {
    calls.add(up(id), call_of(session(id), "a"));
    calls.answered(up(id), kStart + (id == 1025 ? 1s : 0s));
  }
  calls.add(up(2000), call_of(session(2000), "x"));
  EXPECT_EQ(cause(calls, kStart + 2s), std::nullopt) << "the 1025th is not known any more";
  EXPECT_EQ(cause(calls, kStart + 3s), session(2000));
}

TEST(PendingCalls, AGivenUpCallOfTheSameSessionIsNotAnotherCause) {
  PendingCalls calls;
  calls.add(up(1), call_of(session(1), "a"));
  calls.cancel(up(1), kStart);
  calls.add(up(2), call_of(session(1), "b"));
  EXPECT_EQ(cause(calls, kStart), session(1));
}

TEST(PendingCalls, ASessionThatHasLeftStaysAPossibleCauseForAMinute) {
  PendingCalls calls;
  calls.session_left(session(1), kStart);
  calls.add(up(2), call_of(session(2), "b"));
  EXPECT_EQ(cause(calls, kStart + 59s), std::nullopt);
  EXPECT_EQ(cause(calls, kStart + 60s), session(2));
}

TEST(PendingCalls, OnlyCallsThatWantLogsCauseThemInTheModernEra) {
  PendingCalls calls;
  Call wants = call_of(session(1), "a");
  wants.wants_log = true;
  calls.add(up(1), std::move(wants));
  calls.add(up(2), call_of(session(2), "b"));
  calls.session_left(session(3), kStart);
  EXPECT_EQ(cause(calls, kStart, Causes::CallsThatWantLogs), session(1));
  EXPECT_EQ(cause(calls, kStart), std::nullopt);
  calls.cancel(up(2), kStart);
  EXPECT_EQ(cause(calls, kStart, Causes::CallsThatWantLogs), session(1)) << "it never asked for logs";
  calls.cancel(up(1), kStart);
  Call another = call_of(session(2), "a");
  another.wants_log = true;
  calls.add(up(3), std::move(another));
  EXPECT_EQ(cause(calls, kStart, Causes::CallsThatWantLogs), std::nullopt);
}

// Otherwise a session could make us forget what another one has set going, and get its lines.
TEST(PendingCalls, WhatHadToBeForgottenCountsAsAnUnknownCause) {
  PendingCalls calls;
  calls.add(up(1), call_of(session(1), "a"));
  calls.cancel(up(1), kStart);
  for (std::uint64_t id = 2; id <= 5000; ++id) {
    calls.add(up(id), call_of(session(2), std::to_string(id)));
    calls.cancel(up(id), kStart);
  }
  EXPECT_EQ(cause(calls, kStart + 59s), std::nullopt);
  calls.add(up(5001), call_of(session(2), "x"));
  EXPECT_EQ(cause(calls, kStart + 60s), session(2));
}

TEST(PendingCalls, SoManySessionsThatLeftCountAsAnUnknownCause) {
  PendingCalls calls;
  for (std::uint64_t id = 1; id <= 1025; ++id) calls.session_left(session(id), kStart);
  calls.add(up(1), call_of(session(2000), "x"));
  EXPECT_EQ(cause(calls, kStart + 59s), std::nullopt);
  EXPECT_EQ(cause(calls, kStart + 60s), session(2000));
}

TEST(PendingCalls, BoundsWhatItRemembers) {
  PendingCalls calls;
  for (std::uint64_t id = 1; id <= 5000; ++id) {
    calls.add(up(id), call_of(session(1), std::to_string(id)));
    calls.cancel(up(id), kStart);
  }
  EXPECT_FALSE(calls.was_cancelled(up(1), kStart)) << "the oldest is forgotten";
  EXPECT_TRUE(calls.was_cancelled(up(5000), kStart));
}

TEST(PendingCalls, ExpiresByItsDeadlineAndNotBefore) {
  PendingCalls calls;
  Call call = call_of(session(1), "a");
  call.deadline = kStart + 10s;
  calls.add(up(1), std::move(call));
  calls.add(up(2), call_of(session(1), "no deadline"));
  EXPECT_THAT(calls.expired(kStart + 9s), IsEmpty());
  EXPECT_THAT(calls.expired(kStart + 10s), ElementsAre(up(1)));
  calls.take(up(1));
  EXPECT_THAT(calls.expired(Clock::time_point::max() - 1s), IsEmpty())
      << "what has no deadline does not expire";
}

TEST(PendingCalls, KnowsTheOnlyCause) {
  PendingCalls calls;
  EXPECT_EQ(cause(calls, kStart), std::nullopt);
  calls.add(up(1), call_of(SessionId(), ""));
  EXPECT_TRUE(calls.causes(Causes::AnyCall, kStart).none()) << "our own question is nobody's";
  calls.add(up(2), call_of(session(1), "a"));
  calls.add(up(3), call_of(session(1), "b"));
  EXPECT_EQ(cause(calls, kStart), session(1));
  calls.add(up(4), call_of(session(2), "a"));
  EXPECT_EQ(cause(calls, kStart), std::nullopt);
}

TEST(PendingCalls, KnowsTheNextDeadline) {
  PendingCalls calls;
  EXPECT_EQ(calls.next_deadline(), Clock::time_point::max());
  Call call = call_of(session(1), "a");
  call.deadline = kStart + 10s;
  calls.add(up(1), std::move(call));
  Call sooner = call_of(session(1), "b");
  sooner.deadline = kStart + 5s;
  calls.add(up(2), std::move(sooner));
  calls.add(up(3), call_of(session(1), "a listen"));
  EXPECT_EQ(calls.next_deadline(), kStart + 5s);
}

}  // namespace
}  // namespace corral::router
