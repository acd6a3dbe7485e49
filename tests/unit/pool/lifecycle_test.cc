#include "pool/lifecycle.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

namespace corral::pool {
namespace {

using L = Life;
using H = Happening;
using S = Step;

constexpr Life life_at(std::size_t index) { return static_cast<Life>(index); }
constexpr Happening happening_at(std::size_t index) { return static_cast<Happening>(index); }

/// All of it, written a second time: whoever changes the table must say so here.
const std::map<std::pair<Life, Happening>, std::pair<Life, Step>> kExpected = {
    {{L::Empty, H::Asked}, {L::Starting, S::Start}},
    {{L::Starting, H::Opened}, {L::Ready, S::Attach}},
    {{L::Starting, H::Unfit}, {L::Failing, S::End}},
    {{L::Starting, H::Lost}, {L::Failing, S::None}},
    {{L::Starting, H::Unused}, {L::Ending, S::End}},
    {{L::Starting, H::Retired}, {L::Ending, S::End}},
    {{L::Failing, H::Gone}, {L::Empty, S::Refuse}},
    {{L::Failing, H::GoneTooOften}, {L::Empty, S::Refuse}},
    {{L::Failing, H::Unused}, {L::Ending, S::None}},
    {{L::Ready, H::Asked}, {L::Ready, S::Attach}},
    {{L::Ready, H::Lost}, {L::Dying, S::None}},
    {{L::Ready, H::Unused}, {L::Ending, S::End}},
    {{L::Ready, H::Hung}, {L::Dying, S::Kill}},
    {{L::Ready, H::Retired}, {L::Draining, S::Drain}},
    {{L::Draining, H::Lost}, {L::Ending, S::None}},
    {{L::Draining, H::Unused}, {L::Ending, S::End}},
    {{L::Draining, H::Hung}, {L::Ending, S::Kill}},
    {{L::Draining, H::Drained}, {L::Ending, S::End}},
    {{L::Ending, H::Gone}, {L::Empty, S::Revive}},
    {{L::Ending, H::GoneTooOften}, {L::Empty, S::Revive}},
    {{L::Dying, H::Gone}, {L::Waiting, S::Delay}},
    {{L::Dying, H::GoneTooOften}, {L::Broken, S::Refuse}},
    {{L::Dying, H::Unused}, {L::Ending, S::None}},
    {{L::Dying, H::Retired}, {L::Ending, S::None}},
    {{L::Waiting, H::DelayOver}, {L::Restarting, S::Start}},
    {{L::Waiting, H::Rested}, {L::Restarting, S::Start}},
    {{L::Waiting, H::Unused}, {L::Empty, S::Revive}},
    {{L::Waiting, H::Retired}, {L::Empty, S::Revive}},
    {{L::Restarting, H::Opened}, {L::Ready, S::Attach}},
    {{L::Restarting, H::Unfit}, {L::Dying, S::End}},
    {{L::Restarting, H::Lost}, {L::Dying, S::None}},
    {{L::Restarting, H::Unused}, {L::Ending, S::End}},
    {{L::Restarting, H::Retired}, {L::Ending, S::End}},
    {{L::Broken, H::Asked}, {L::Broken, S::Refuse}},
    {{L::Broken, H::Unused}, {L::Empty, S::Revive}},
    {{L::Broken, H::Retired}, {L::Empty, S::Revive}},
    {{L::Broken, H::Rested}, {L::Empty, S::Revive}},
};

TEST(Lifecycle, EveryPairDoesWhatIsWrittenHere) {
  std::size_t pairs = 0;
  for (std::size_t life = 0; life < kLives; ++life) {
    for (std::size_t happening = 0; happening < kHappenings; ++happening) {
      const auto found = kExpected.find({life_at(life), happening_at(happening)});
      const auto [then, step] =
          found != kExpected.end() ? found->second : std::pair(life_at(life), Step::None);
      const Next actual = next(life_at(life), happening_at(happening));
      EXPECT_EQ(actual.life, then) << life_name(life_at(life)) << ", happening " << happening;
      EXPECT_EQ(actual.step, step) << life_name(life_at(life)) << ", happening " << happening;
      ++pairs;
    }
  }
  EXPECT_EQ(pairs, kLives * kHappenings);
}

std::set<Life> reachable_from(Life first, const std::set<Happening>& allowed) {
  std::set<Life> seen{first};
  for (bool grew = true; grew;) {
    grew = false;
    for (const Life life : std::set<Life>(seen)) {
      for (const Happening happening : allowed) grew = seen.insert(next(life, happening).life).second || grew;
    }
  }
  return seen;
}

TEST(Lifecycle, NoStateIsOutOfReachAndNoneIsATrap) {
  std::set<Happening> all;
  for (std::size_t happening = 0; happening < kHappenings; ++happening) all.insert(happening_at(happening));
  for (std::size_t life = 0; life < kLives; ++life) {
    EXPECT_TRUE(reachable_from(L::Empty, all).contains(life_at(life))) << life_name(life_at(life));
    EXPECT_TRUE(reachable_from(life_at(life), all).contains(L::Ready)) << life_name(life_at(life));
  }
}

/// Whatever it is in the middle of: once nobody needs it, it comes to rest.
TEST(Lifecycle, APlaceThatNobodyNeedsBecomesEmpty) {
  for (std::size_t life = 0; life < kLives; ++life) {
    Life now = next(life_at(life), H::Unused).life;
    now = next(now, H::Gone).life;
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
