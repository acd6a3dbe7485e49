#include "base/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace corral {
namespace {

using testing::HasSubstr;
using Held = Account::Held;

/// How many it gets of a good.
std::vector<Held> take_all(Account& account, Good good) {
  std::vector<Held> all;
  while (auto held = account.take(good)) all.push_back(std::move(*held));
  return all;
}

TEST(Shares, LeaveTheUserAQuarterThatNoTokenCanTake) {
  Shares shares;
  shares.set_most(Good::Sessions, 16);
  Account& one = shares.account("token:one");
  std::vector<std::vector<Held>> of_tokens;

  of_tokens.push_back(take_all(one, Good::Sessions));
  EXPECT_EQ(of_tokens[0].size(), 4U);
  EXPECT_THAT(one.objection(Good::Sessions), HasSubstr("one token may hold at most 4 sessions"));
  for (const char* name : {"token:two", "token:three", "token:four", "token:five"}) {
    of_tokens.push_back(take_all(shares.account(name), Good::Sessions));
  }
  EXPECT_THAT(of_tokens[3], testing::IsEmpty());
  EXPECT_THAT(shares.account("token:five").objection(Good::Sessions),
              HasSubstr("all tokens together may hold at most 12 sessions"));
  EXPECT_EQ(take_all(shares.account("user"), Good::Sessions).size(), 4U) << "whatever the tokens hold";

  of_tokens.clear();
  const std::vector<Held> own = take_all(shares.account("user"), Good::Sessions);
  EXPECT_EQ(own.size(), 16U);
  EXPECT_THAT(shares.account("user").objection(Good::Sessions),
              HasSubstr("this daemon allows at most 16 sessions"));
}

TEST(Shares, AreGivenBackOnce) {
  Shares shares;
  Account& token = shares.account("token:ci");
  {
    Held first = *token.take(Good::Bytes, 1000);
    Held second = std::move(first);
    Held third = *token.take(Good::Bytes, 10);
    EXPECT_EQ(token.used(Good::Bytes), 1010U);
    third = std::move(second);
    EXPECT_EQ(token.used(Good::Bytes), 1000U);
    EXPECT_EQ(third.amount(), 1000U);
    EXPECT_EQ(first.amount(), 0U);
  }
  EXPECT_EQ(token.used(Good::Bytes), 0U);
  EXPECT_EQ(shares.account("user").used(Good::Bytes), 0U);
}

TEST(Shares, GrowAndShrinkWithinTheirQuota) {
  Shares shares;
  shares.set_most(Good::Bytes, 400);  // 100 for one token
  Account& token = shares.account("token:ci");
  Held held = *token.take(Good::Bytes, 0);

  EXPECT_TRUE(held.resize(100));
  EXPECT_FALSE(held.resize(101));
  EXPECT_EQ(token.used(Good::Bytes), 100U);
  EXPECT_TRUE(held.resize(7));
  EXPECT_EQ(token.used(Good::Bytes), 7U);
  held = {};
  EXPECT_EQ(token.used(Good::Bytes), 0U);
  EXPECT_TRUE(held.resize(1000)) << "nobody's";
}

TEST(Shares, OfASmallNumberAreNeverTheTokens) {
  for (std::size_t all = 0; all < 40; ++all) {
    const Quota quota = quota_of(all);
    EXPECT_LE(quota.token, quota.tokens);
    EXPECT_LE(quota.tokens, all);
    EXPECT_TRUE(all == 0 || quota.tokens < all) << all;
    EXPECT_TRUE(all <= 1 || quota.token >= 1) << all;
  }
}

TEST(Shares, CannotBeOverrunByALargeAmount) {
  Shares shares;
  Account& token = shares.account("token:ci");
  const auto some = token.take(Good::Bytes, 5);

  EXPECT_FALSE(token.take(Good::Bytes, ~std::size_t{0}));
  EXPECT_FALSE(token.take(Good::Bytes, ~std::size_t{0} - 2));
  EXPECT_EQ(token.used(Good::Bytes), 5U);
}

TEST(Shares, CountLogLinesThatAreLeftOutAndSayHowManyTheyWere) {
  Shares shares;
  Account& token = shares.account("token:ci");
  const Account::Time start = Clock::now();
  std::size_t logged = 0;
  for (int i = 0; i < 1000; ++i) logged += token.loggable("a line", start).has_value() ? 1 : 0;

  EXPECT_EQ(logged, shares.quota(Good::LogLines).token);
  EXPECT_TRUE(shares.account("user").loggable("the user's", start));
  const auto later = token.loggable("another", start + std::chrono::seconds(1));
  ASSERT_TRUE(later);
  EXPECT_THAT(*later, HasSubstr(std::to_string(1000 - logged) + " more lines from token:ci"));
  EXPECT_EQ(token.loggable("and on", start + std::chrono::seconds(1)), "and on");
}

TEST(Shares, SayWhatToDo) {
  EXPECT_THAT(over_quota(Good::Instances, quota_of(8), {8, 0, 8}, "user"), HasSubstr("\"max_instances\""));
  EXPECT_THAT(over_quota(Good::Requests, quota_of(8), {2, 2, 2}, "token:a"), HasSubstr("wait for some"));
}

TEST(Shares, OfATokenAreFreeForOthersWhenTheyAreGivenBack) {
  Shares shares;
  shares.set_most(Good::Sessions, 8);  // 2 for one token, 6 for all
  for (int i = 0; i < 3; ++i) {
    std::vector<std::vector<Held>> all;
    for (const char* name : {"token:a", "token:b", "token:c"}) {
      all.push_back(take_all(shares.account(name), Good::Sessions));
      EXPECT_EQ(all.back().size(), 2U) << name << i;
    }
    EXPECT_FALSE(shares.account("token:d").take(Good::Sessions));
  }
  const std::vector<Held> own = take_all(shares.account("user"), Good::Sessions);
  EXPECT_EQ(own.size(), 8U);
  EXPECT_FALSE(shares.account("token:a").take(Good::Sessions)) << "nothing is left of all";
}

TEST(Shares, OfLogLinesLeaveTheUserAPart) {
  Shares shares;
  const Account::Time now{std::chrono::seconds(1000)};
  const auto lines_of = [&](const char* name, Account::Time time) {
    std::size_t count = 0;
    while (shares.account(name).loggable("x", time)) ++count;
    return count;
  };
  const Quota quota = shares.quota(Good::LogLines);
  EXPECT_EQ(lines_of("token:a", now), quota.token);
  EXPECT_EQ(lines_of("token:b", now), quota.token);
  EXPECT_EQ(lines_of("token:c", now), quota.tokens - 2 * quota.token);
  EXPECT_EQ(lines_of("token:d", now), 0U) << "all tokens together";
  EXPECT_EQ(lines_of("user", now), Shares::kLogLines - quota.tokens);
  EXPECT_EQ(lines_of("user", now + std::chrono::milliseconds(999)), 0U) << "within the same second";
  EXPECT_EQ(lines_of("user", now + std::chrono::milliseconds(1000)), Shares::kLogLines - 0U);
}

}  // namespace
}  // namespace corral
