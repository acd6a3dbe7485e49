#include "pool/lifecycle.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace corral::pool {
namespace {

using L = Life;
using T = Trigger;
using S = Step;

constexpr Life life_at(std::size_t index) { return static_cast<Life>(index); }
constexpr Trigger trigger_at(std::size_t index) { return static_cast<Trigger>(index); }

/// All of it, written a second time: a change to the table must be made here too.
const std::map<std::pair<Life, Trigger>, std::pair<Life, Step>> kExpected = {
    {{L::Empty, T::Asked}, {L::Starting, S::Start}},
    {{L::Starting, T::Opened}, {L::Ready, S::Attach}},
    {{L::Starting, T::Unfit}, {L::Failing, S::End}},
    {{L::Starting, T::Lost}, {L::Failing, S::None}},
    {{L::Starting, T::Unused}, {L::Ending, S::End}},
    {{L::Starting, T::Retired}, {L::Ending, S::End}},
    {{L::Failing, T::Ended}, {L::Empty, S::Refuse}},
    {{L::Failing, T::DiedTooOften}, {L::Empty, S::Refuse}},
    {{L::Failing, T::Unused}, {L::Ending, S::None}},
    {{L::Ready, T::Asked}, {L::Ready, S::Attach}},
    {{L::Ready, T::Lost}, {L::Dying, S::None}},
    {{L::Ready, T::Unused}, {L::Ending, S::End}},
    {{L::Ready, T::Hung}, {L::Dying, S::Kill}},
    {{L::Ready, T::Retired}, {L::Draining, S::Drain}},
    {{L::Draining, T::Lost}, {L::Ending, S::None}},
    {{L::Draining, T::Unused}, {L::Ending, S::End}},
    {{L::Draining, T::Hung}, {L::Ending, S::Kill}},
    {{L::Draining, T::Drained}, {L::Ending, S::End}},
    {{L::Ending, T::Ended}, {L::Empty, S::Revive}},
    {{L::Ending, T::DiedTooOften}, {L::Empty, S::Revive}},
    {{L::Dying, T::Ended}, {L::Waiting, S::Delay}},
    {{L::Dying, T::DiedTooOften}, {L::Broken, S::Refuse}},
    {{L::Dying, T::Unused}, {L::Ending, S::None}},
    {{L::Dying, T::Retired}, {L::Ending, S::None}},
    {{L::Waiting, T::DelayOver}, {L::Restarting, S::Start}},
    {{L::Waiting, T::Rested}, {L::Restarting, S::Start}},
    {{L::Waiting, T::Unused}, {L::Empty, S::Revive}},
    {{L::Waiting, T::Retired}, {L::Empty, S::Revive}},
    {{L::Restarting, T::Opened}, {L::Ready, S::Attach}},
    {{L::Restarting, T::Unfit}, {L::Dying, S::End}},
    {{L::Restarting, T::Lost}, {L::Dying, S::None}},
    {{L::Restarting, T::Unused}, {L::Ending, S::End}},
    {{L::Restarting, T::Retired}, {L::Ending, S::End}},
    {{L::Broken, T::Asked}, {L::Broken, S::Refuse}},
    {{L::Broken, T::Unused}, {L::Empty, S::Revive}},
    {{L::Broken, T::Retired}, {L::Empty, S::Revive}},
    {{L::Broken, T::Rested}, {L::Empty, S::Revive}},
};

TEST(Lifecycle, EveryPairDoesWhatIsWrittenHere) {
  std::size_t pairs = 0;
  for (std::size_t life = 0; life < kLives; ++life) {
    for (std::size_t trigger = 0; trigger < kTriggers; ++trigger) {
      const auto found = kExpected.find({life_at(life), trigger_at(trigger)});
      const auto [then, step] =
          found != kExpected.end() ? found->second : std::pair(life_at(life), Step::None);
      const Next actual = next(life_at(life), trigger_at(trigger));
      EXPECT_EQ(actual.life, then) << life_name(life_at(life)) << ", trigger " << trigger;
      EXPECT_EQ(actual.step, step) << life_name(life_at(life)) << ", trigger " << trigger;
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, kLives * kTriggers);
}

std::set<Life> reachable_from(Life first, const std::set<Trigger>& allowed) {
  std::set<Life> seen{first};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Life life : std::set<Life>(seen)) {
      for (const Trigger trigger : allowed) grew = seen.insert(next(life, trigger).life).second || grew;
    }
  }
  return seen;
}

TEST(Lifecycle, NoStateIsOutOfReachAndNoneIsATrap) {
  std::set<Trigger> all;
  for (std::size_t trigger = 0; trigger < kTriggers; ++trigger) all.insert(trigger_at(trigger));
  for (std::size_t life = 0; life < kLives; ++life) {
    EXPECT_TRUE(reachable_from(L::Empty, all).contains(life_at(life))) << life_name(life_at(life));
    EXPECT_TRUE(reachable_from(life_at(life), all).contains(L::Ready)) << life_name(life_at(life));
  }
}

/// Whatever it is in the middle of: once nobody needs it, it becomes empty.
TEST(Lifecycle, APlaceThatNobodyNeedsBecomesEmpty) {
  for (std::size_t life = 0; life < kLives; ++life) {
    Life now = next(life_at(life), T::Unused).life;
    now = next(now, T::Ended).life;
    EXPECT_EQ(now, L::Empty) << life_name(life_at(life));
  }
}

TEST(Lifecycle, NamesAreDifferent) {
  std::set<std::string> names;
  for (std::size_t life = 0; life < kLives; ++life) names.insert(life_name(life_at(life)));
  EXPECT_EQ(names.size(), kLives);
}

}  // namespace
}  // namespace corral::pool
