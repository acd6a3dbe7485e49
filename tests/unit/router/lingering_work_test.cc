#include "router/lingering_work.h"

#include <gtest/gtest.h>

namespace corral::router {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Clock::time_point kStart = Clock::time_point() + std::chrono::hours(1);
constexpr SessionId kOne(1);
constexpr SessionId kOther(2);

class Lingering : public testing::Test {
 protected:
  wire::PossibleCauses<SessionId> causes(Clock::duration later, Causes which = Causes::AnyCall) const {
    wire::PossibleCauses<SessionId> found;
    work_.add_to(found, which, kStart + later);
    return found;
  }
  /// Answered a moment ago, each for somebody else.
  void answer_many(std::uint64_t count, Clock::time_point when, std::uint64_t first = 1000) {
    for (std::uint64_t i = 0; i < count; ++i) work_.call_answered(SessionId(first + i), when);
  }

  LingeringWork<CallId, SessionId> work_;
};

TEST_F(Lingering, ACallThatWasGivenUpIsACauseForAMinute) {
  EXPECT_TRUE(causes({}).none());
  work_.given_up(CallId(1), kOne, Logs::Unwanted, kStart);

  EXPECT_EQ(causes({}).only(), kOne);
  EXPECT_EQ(causes(minutes(1) - milliseconds(1)).only(), kOne);
  EXPECT_TRUE(causes(minutes(1)).none());
}

TEST_F(Lingering, OnlyACallThatWantsLogsCausesThoseOfAModernServer) {
  work_.given_up(CallId(1), kOne, Logs::Unwanted, kStart);
  work_.call_answered(kOne, kStart);
  work_.left(kOne, kStart);
  EXPECT_TRUE(causes({}, Causes::CallsThatWantLogs).none());

  work_.given_up(CallId(2), kOther, Logs::Wanted, kStart);
  EXPECT_EQ(causes({}, Causes::CallsThatWantLogs).only(), kOther);
  EXPECT_TRUE(causes({}).several());
}

TEST_F(Lingering, OurOwnQuestionsAreNobodys) {
  work_.given_up(CallId(1), SessionId(), Logs::Wanted, kStart);
  work_.call_answered(SessionId(), kStart);

  EXPECT_TRUE(causes({}).none());
  EXPECT_TRUE(work_.answered(CallId(1), kStart)) << "it was asked all the same";
  EXPECT_TRUE(causes({}).none());
}

TEST_F(Lingering, AnAnswerEndsTheWorkAndTheTalkTwoSecondsLater) {
  work_.given_up(CallId(1), kOne, Logs::Unwanted, kStart);
  EXPECT_FALSE(work_.answered(CallId(2), kStart));
  EXPECT_TRUE(work_.answered(CallId(1), kStart + seconds(1)));
  EXPECT_FALSE(work_.answered(CallId(1), kStart + seconds(1))) << "once";

  EXPECT_EQ(causes(milliseconds(2999)).only(), kOne);
  EXPECT_TRUE(causes(seconds(3)).none());
}

TEST_F(Lingering, ASessionThatHasLeftIsACauseForAMinute) {
  work_.left(kOne, kStart);
  work_.left(kOther, kStart + seconds(1));

  EXPECT_TRUE(causes(seconds(59)).several());
  EXPECT_EQ(causes(seconds(60)).only(), kOther);
  EXPECT_TRUE(causes(seconds(61)).none());
}

TEST_F(Lingering, ALaterAnswerProlongsTheTalk) {
  work_.call_answered(kOne, kStart);
  work_.call_answered(kOne, kStart + seconds(1));
  EXPECT_EQ(causes(milliseconds(2999)).only(), kOne);
}

// Otherwise one could make us forget another one, and get its lines.
TEST_F(Lingering, AWorkThatIsForgottenForLackOfRoomIsSomebodysUntilItsTimeIsOver) {
  work_.given_up(CallId(1), kOne, Logs::Unwanted, kStart);
  for (std::uint64_t call = 2; call <= 4096; ++call) {
    work_.given_up(CallId(call), kOther, Logs::Unwanted, kStart + seconds(1));
  }
  EXPECT_TRUE(work_.answered(CallId(1), kStart + seconds(1))) << "so many are kept";
  work_.given_up(CallId(5000), kOne, Logs::Unwanted, kStart + seconds(2));
  work_.given_up(CallId(5001), kOne, Logs::Unwanted, kStart + seconds(2));

  EXPECT_FALSE(work_.answered(CallId(2), kStart + seconds(2))) << "the oldest made room";
  EXPECT_TRUE(causes(milliseconds(60'999)).several());
  EXPECT_EQ(causes(seconds(61)).only(), kOne);
}

TEST_F(Lingering, ForgettingCorralsOwnCallLeavesNoUnknownCause) {
  work_.given_up(CallId(1), SessionId(), Logs::Unwanted, kStart);
  for (std::uint64_t call = 2; call <= 4097; ++call)
    work_.given_up(CallId(call), kOne, Logs::Unwanted, kStart);

  EXPECT_FALSE(work_.answered(CallId(1), kStart));
  EXPECT_EQ(causes(seconds(1)).only(), kOne);
}

TEST_F(Lingering, WorkWhoseTimeIsOverMakesRoomWithoutATrace) {
  for (std::uint64_t call = 1; call <= 4096; ++call)
    work_.given_up(CallId(call), kOther, Logs::Unwanted, kStart);
  work_.given_up(CallId(5000), kOne, Logs::Unwanted, kStart + minutes(1));

  EXPECT_FALSE(work_.answered(CallId(1), kStart + minutes(1)));
  EXPECT_EQ(causes(minutes(1)).only(), kOne);
}

TEST_F(Lingering, MoreThanAThousandWhoLeftMakeTheOldestUnknown) {
  work_.left(kOther, kStart);
  for (int i = 0; i < 1023; ++i) work_.left(kOne, kStart + seconds(10));
  EXPECT_EQ(causes(seconds(60)).only(), kOne) << "all of them are known";
  work_.left(kOne, kStart + seconds(11));

  EXPECT_TRUE(causes(milliseconds(59'999)).several());
  EXPECT_EQ(causes(seconds(60)).only(), kOne);
}

TEST_F(Lingering, AnAnswerForWhichThereIsNoRoomIsSomebodysWhileHeMayTalk) {
  answer_many(1024, kStart);
  work_.call_answered(kOne, kStart + seconds(1));

  EXPECT_TRUE(causes(milliseconds(2999)).several()) << "its session is not forgotten";
  EXPECT_TRUE(causes(seconds(3)).none());
}

TEST_F(Lingering, AnAnswerFindsRoomWhereTheTalkIsOver) {
  answer_many(1024, kStart);
  work_.call_answered(kOne, kStart + seconds(2));
  EXPECT_EQ(causes(seconds(2)).only(), kOne);

  answer_many(1023, kStart + seconds(2), 5000);
  work_.call_answered(kOther, kStart + milliseconds(2100));
  EXPECT_TRUE(causes(milliseconds(4050)).several()) << "looked through not long ago";
}

TEST_F(Lingering, AKnownSessionNeedsNoRoom) {
  answer_many(1023, kStart);
  work_.call_answered(kOne, kStart);
  work_.call_answered(kOne, kStart + seconds(1));
  EXPECT_EQ(causes(milliseconds(2500)).only(), kOne);
}

}  // namespace
}  // namespace corral::router
