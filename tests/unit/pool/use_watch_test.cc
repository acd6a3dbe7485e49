// When an instance that is not used ends: the decision. pool/slot_test.cc shows that a slot follows it.
#include "pool/use_watch.h"

#include <gtest/gtest.h>

namespace corral::tests {
namespace {

using pool::Cause;
using pool::InstanceUse;
using pool::judge_use;
using std::chrono::seconds;

InstanceUse idle_for(Clock::duration unused) { return {.unused = unused, .idle = seconds(60)}; }

TEST(Use, OfAnInstanceWithoutSessionsEndsAfterItsIdleTime) {
  EXPECT_EQ(judge_use(idle_for(seconds(60))).end, Cause::Idle);
  const auto early = judge_use(idle_for(seconds(45)));
  EXPECT_FALSE(early.end);
  EXPECT_EQ(early.look_again, seconds(15)) << "exactly when the time is over";
}

TEST(Use, WithSessionsThatCanDoWithoutParksThem) {
  InstanceUse use = idle_for(seconds(61));
  use.has_sessions = true;
  use.may_park = true;
  EXPECT_EQ(judge_use(use).end, Cause::Parked);
  use.may_park = false;
  EXPECT_FALSE(judge_use(use).end);
  EXPECT_EQ(judge_use(use).look_again, seconds(60));
}

TEST(Use, ThatIsInFlightKeepsTheInstance) {
  InstanceUse use = idle_for(std::chrono::hours(1));
  use.in_use = true;
  EXPECT_FALSE(judge_use(use).end);
  use.idle = Clock::duration::zero();
  EXPECT_EQ(judge_use(use).look_again, seconds(1)) << "not in every turn of the loop";
}

TEST(Use, WithoutAnIdleTimeEndsWithTheLastSessionAndParksNone) {
  InstanceUse use = idle_for(Clock::duration::zero());
  use.idle = Clock::duration::zero();
  EXPECT_EQ(judge_use(use).end, Cause::Idle);
  use.has_sessions = true;
  use.may_park = true;
  EXPECT_FALSE(judge_use(use).end);
  EXPECT_GE(judge_use(use).look_again, seconds(60)) << "there is nothing to look for";
}

TEST(Use, OfCodeThatWasReplacedEndsWithTheLastSession) {
  InstanceUse use = idle_for(seconds(1));
  use.replaced = true;
  use.has_sessions = true;
  EXPECT_FALSE(judge_use(use).end);
  use.has_sessions = false;
  EXPECT_EQ(judge_use(use).end, Cause::Outdated);
}

}  // namespace
}  // namespace corral::tests
