// What is kept for a client that comes back, and what goes when it is too much.
#include "transport/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::transport {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using Weight = EventLog::Weight;

EventLog::Event event(std::uint64_t stream, std::uint64_t sequence, Weight weight = Weight::Sent,
                      bool last = false) {
  static const std::string text(100, 'x');
  return {{stream, sequence}, {text, nullptr}, weight, last};
}

TEST(EventIds, AreReadAsTheyAreWritten) {
  const auto id = parse_event_id(event_id_text({12, 34}));
  ASSERT_TRUE(id);
  EXPECT_EQ(id->stream, 12U);
  EXPECT_EQ(id->sequence, 34U);
  for (const char* bad :
       {"", "-", "1", "1-", "-1", "1-0", "1-01", "1--1", "a-1", "1-1 ", "1-99999999999999999999"}) {
    EXPECT_FALSE(parse_event_id(bad)) << bad;
  }
}

TEST(EventLog, GivesWhatIsLaterInOneStream) {
  EventLog log(100'000);
  log.add(event(1, 1));
  log.add(event(2, 1));
  log.add(event(1, 2));
  const auto later = log.later({1, 1}, 2);
  ASSERT_TRUE(later);
  ASSERT_THAT(*later, SizeIs(1));
  EXPECT_EQ((*later)[0].id.sequence, 2U);
  EXPECT_THAT(*log.later({1, 2}, 2), IsEmpty());
  EXPECT_FALSE(log.later({1, 3}, 2)) << "it never was";
  EXPECT_FALSE(log.later({1, 1}, 3)) << "some of it is missing";
}

TEST(EventLog, KnowsAStreamThatIsOverByItsLastEvent) {
  EventLog log(100'000);
  log.add(event(1, 1));
  EXPECT_FALSE(log.later({1, 1}, std::nullopt));
  log.add(event(1, 2, Weight::Owed, true));
  EXPECT_THAT(*log.later({1, 1}, std::nullopt), SizeIs(1));
  EXPECT_THAT(*log.later({1, 2}, std::nullopt), IsEmpty());
  EXPECT_FALSE(log.later({3, 1}, std::nullopt));
  log.add(event(4, 3, Weight::Owed, true));
  EXPECT_FALSE(log.later({4, 1}, std::nullopt)) << "the second is missing";
}

TEST(EventLog, LetsGoOfWhatWasSentThenOfNewsThenOfTheRest) {
  constexpr std::size_t kOne = 100 + sizeof(EventLog::Event);
  EventLog log(3 * kOne);
  log.add(event(0, 0, Weight::Owed));
  log.add(event(0, 0, Weight::News));
  log.add(event(1, 1));
  log.add(event(1, 2));
  EXPECT_FALSE(log.later({1, 1}, 2)) << "both that were sent are gone";
  EXPECT_EQ(log.take_lost(), 0U);
  log.add(event(0, 0, Weight::Owed));
  log.add(event(0, 0, Weight::Owed));
  EXPECT_EQ(log.take_lost(), 0U) << "there were news to lose";
  log.add(event(0, 0, Weight::Owed));
  EXPECT_GT(log.take_lost(), 0U);
  EXPECT_EQ(log.take_lost(), 0U);
  EXPECT_LE(log.bytes(), 3 * kOne);
}

TEST(EventLog, HoldsNothingWhenAllWasTakenOrForgotten) {
  EventLog log(100'000);
  log.add(event(0, 0, Weight::News));
  log.add(event(1, 1, Weight::Owed));
  EXPECT_THAT(log.take_kept(), SizeIs(1));
  EXPECT_FALSE(log.oldest_sent());
  log.mark_sent(1);
  EXPECT_TRUE(log.oldest_sent());
  log.forget_sent_before(Clock::now() + std::chrono::hours(1));
  EXPECT_EQ(log.bytes(), 0U);
}

TEST(EventLog, DoesNotHoldABufferThatIsMuchLargerThanItsLine) {
  EventLog log(100'000);
  const auto owner = std::make_shared<const std::string>(90'000, 'x');
  log.add({{1, 1}, {std::string_view(*owner).substr(0, 10), owner}, Weight::Sent, false});
  EXPECT_LT(log.bytes(), 1000U);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(EventLog, OwesWhatWasNotWrittenYetButNoNews) {
  EventLog log(1 << 20);
  EXPECT_FALSE(log.owes());
  log.add({{1, 1}, {"news", nullptr}, EventLog::Weight::News, false});
  EXPECT_FALSE(log.owes());
  log.add({{2, 1}, {"answer", nullptr}, EventLog::Weight::Owed, true});
  EXPECT_TRUE(log.owes());
  log.mark_sent(2);
  EXPECT_FALSE(log.owes());
}

TEST(EventLog, IsOnTheAccountOfItsPrincipalAndKeepsNoMoreThanThatHas) {
  Shares shares;
  shares.set_most(Good::Bytes, 40'000);  // 10,000 for one token
  Account& token = shares.account("token:ci");
  EventLog log(std::size_t{1} << 20);
  log.charge(&token);
  const std::string text(3'000, 'x');
  for (std::uint64_t sequence = 1; sequence <= 10; ++sequence) {
    log.add({{1, sequence}, {text, nullptr}, EventLog::Weight::Sent, false});
    EXPECT_EQ(token.used(Good::Bytes), log.bytes());
    EXPECT_LE(log.bytes(), 10'000U);
  }
  EXPECT_GT(log.bytes(), 3'000U) << "the newest are kept";

  log.forget_sent_before(Clock::now() + std::chrono::hours(1));
  EXPECT_EQ(token.used(Good::Bytes), 0U);
}

}  // namespace
}  // namespace corral::transport
