#include "router/pending_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::router {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Only its address is used.
SessionPort* port(std::uintptr_t number) { return reinterpret_cast<SessionPort*>(number * 16); }

const Clock::time_point kStart{};

Call call_of(SessionPort* from, std::string id) {
  Call call;
  call.port = from;
  call.id = std::move(id);
  return call;
}

TEST(PendingCalls, KeepsEqualIdsOfTwoSessionsApart) {
  PendingCalls calls;
  EXPECT_TRUE(calls.add(1, call_of(port(1), "5")));
  EXPECT_TRUE(calls.add(2, call_of(port(2), "5")));
  EXPECT_TRUE(calls.add(3, call_of(port(1), "\"5\"")));
  EXPECT_FALSE(calls.add(4, call_of(port(1), "5")));
  EXPECT_EQ(calls.find(port(1), "5"), 1U);
  EXPECT_EQ(calls.find(port(2), "5"), 2U);
  EXPECT_EQ(calls.find(port(3), "5"), std::nullopt);
  EXPECT_THAT(calls.of(port(1)), ElementsAre(1, 3));
}

TEST(PendingCalls, LetsEveryCallLeaveOnce) {
  PendingCalls calls;
  calls.add(1, call_of(port(1), "a"));
  EXPECT_EQ(calls.take(1)->id, "a");
  EXPECT_EQ(calls.take(1), std::nullopt);
  EXPECT_EQ(calls.cancel(1, kStart), std::nullopt);
  EXPECT_EQ(calls.size(), 0U);
  EXPECT_TRUE(calls.add(2, call_of(port(1), "a"))) << "the id is free again";
}

TEST(PendingCalls, RemembersACancelledCallUntilItsAnswer) {
  PendingCalls calls;
  calls.add(1, call_of(port(1), "a"));
  calls.cancel(1, kStart);
  EXPECT_TRUE(calls.was_cancelled(1));
  EXPECT_FALSE(calls.was_cancelled(1));
}

TEST(PendingCalls, CountsAGivenUpCallAmongThePossibleCausesForAMinute) {
  PendingCalls calls;
  calls.add(1, call_of(port(1), "a"));
  calls.cancel(1, kStart);
  EXPECT_TRUE(calls.others_linger(port(2), kStart + 59s));
  EXPECT_FALSE(calls.others_linger(port(1), kStart + 59s)) << "its own";
  EXPECT_FALSE(calls.others_linger(port(2), kStart + 60s));
  calls.was_cancelled(1);
  EXPECT_FALSE(calls.others_linger(port(2), kStart)) << "the server has answered, and is done with it";
}

TEST(PendingCalls, BoundsWhatItRemembers) {
  PendingCalls calls;
  for (std::uint64_t id = 1; id <= 5000; ++id) {
    calls.add(id, call_of(port(1), std::to_string(id)));
    calls.cancel(id, kStart);
  }
  EXPECT_FALSE(calls.was_cancelled(1)) << "the oldest is forgotten";
  EXPECT_TRUE(calls.was_cancelled(5000));
}

TEST(PendingCalls, ExpiresByItsDeadlineAndNotBefore) {
  PendingCalls calls;
  Call call = call_of(port(1), "a");
  call.deadline = kStart + 10s;
  calls.add(1, call);
  calls.add(2, call_of(port(1), "no deadline"));
  EXPECT_THAT(calls.expired(kStart + 9s), IsEmpty());
  EXPECT_THAT(calls.expired(kStart + 10s), ElementsAre(1));
  calls.take(1);
  EXPECT_THAT(calls.expired(Clock::time_point::max() - 1s), IsEmpty())
      << "what has no deadline does not expire";
}

TEST(PendingCalls, KnowsTheOnlyCaller) {
  PendingCalls calls;
  EXPECT_EQ(calls.only_caller(PendingCalls::Causes::AnyCall), nullptr);
  calls.add(1, call_of(nullptr, ""));
  calls.add(2, call_of(port(1), "a"));
  calls.add(3, call_of(port(1), "b"));
  EXPECT_EQ(calls.only_caller(PendingCalls::Causes::AnyCall), port(1));
  EXPECT_EQ(calls.only_caller(PendingCalls::Causes::CallsThatWantLogs), nullptr);
  calls.add(4, call_of(port(2), "a"));
  EXPECT_EQ(calls.only_caller(PendingCalls::Causes::AnyCall), nullptr);
}

}  // namespace
}  // namespace corral::router
