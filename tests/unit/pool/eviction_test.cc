#include "pool/eviction.h"

#include <gmock/gmock.h>

namespace corral::pool {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Clock::time_point at(int second) { return Clock::time_point(seconds(second)); }

Candidate idle(int last_used, std::string_view server = "files") {
  return {.server = server, .last_used = at(last_used)};
}

TEST(Eviction, TheLeastRecentlyUsedGoes) {
  EXPECT_EQ(least_needed(std::vector{idle(30), idle(10), idle(20)}), 1U);
}

TEST(Eviction, WithoutSessionsGoesBeforeOneThatCanBeParked) {
  const Candidate parkable{.server = "files", .last_used = at(1), .sessions = 2, .may_park = true};
  EXPECT_EQ(least_needed(std::vector{parkable, idle(99)}), 1U);
  EXPECT_EQ(least_needed(std::vector{parkable}), 0U);
}

TEST(Eviction, NeverOneThatIsUsed) {
  Candidate busy = idle(1);
  busy.in_use = true;
  EXPECT_EQ(least_needed(std::vector{busy}), std::nullopt);
  EXPECT_EQ(least_needed(std::vector{busy, idle(2)}), 1U);
}

TEST(Eviction, NeverTheOneOfASessionThatMayNeedItsMemory) {
  const Candidate held{.server = "files", .last_used = at(1), .sessions = 1, .may_park = false};
  EXPECT_EQ(least_needed(std::vector{held}), std::nullopt);
}

TEST(Eviction, OfNothingNothingGoes) { EXPECT_EQ(least_needed({}), std::nullopt); }

TEST(KeepNewest, TheOldestBeyondGo) {
  EXPECT_THAT(beyond_keep(std::vector{idle(3), idle(1), idle(4), idle(2)}, 2), UnorderedElementsAre(1, 3));
}

TEST(KeepNewest, CountsEachServerForItself) {
  EXPECT_THAT(beyond_keep(std::vector{idle(1, "a"), idle(2, "b"), idle(3, "a")}, 1), ElementsAre(0));
}

TEST(KeepNewest, LeavesWhatIsUsedAlone) {
  Candidate busy = idle(1);
  busy.in_use = true;
  Candidate held = idle(2);
  held.sessions = 1;
  EXPECT_THAT(beyond_keep(std::vector{busy, held}, 0), IsEmpty());
}

TEST(KeepNewest, ZeroKeepsNone) {
  EXPECT_THAT(beyond_keep(std::vector{idle(1), idle(2)}, 0), UnorderedElementsAre(0, 1));
}

}  // namespace
}  // namespace corral::pool
