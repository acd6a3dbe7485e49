// The edges of one slot: what it does in each state, and that each session that waits hears once.
#include "pool/slot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Cause;
using pool::Ends;
using pool::Life;
using pool::Slot;
using pool::Trigger;
using router::Opened;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Haste = instance::Instance::Haste;

class ASlot : public testing::Test {
 protected:
  ASlot() : parts_(), spec_(files_spec(config::Share::Shared)) {
    parts_.context.limits.restart.second_delay = std::chrono::seconds(1);
    slot_ = &parts_.slots.add(spec_->key, spec_, shared_decision());
  }

  void ask(FakePort& port) {
    slot_->add_waiter(port, "{}");
    slot_->apply(Trigger::Asked);
  }
  Slot::Left leave(FakePort& port, Ends ends = Ends::Session) {
    return slot_->leave(port, ends, Haste::Polite, {});
  }
  void exit(int status = 0) {
    parts_.server().exit(status);
    parts_.settle();
  }
  /// The server says no more, and its tree is still there.
  void lose() {
    parts_.server().close_output();
    parts_.settle();
    parts_.pass(std::chrono::seconds(4));
  }
  /// Dies as often as it may, with a session that asks each time.
  void break_it(FakePort& port) {
    for (int deaths = 0; slot_->life() != Life::Broken; ++deaths) {
      ASSERT_LT(deaths, 20);
      if (slot_->life() == Life::Ready) {
        exit(1 << 8);
        continue;
      }
      ask(port);
      parts_.pass(std::chrono::minutes(1));
      parts_.open_servers();
    }
  }
  /// Brings a fresh slot into the state; `port` is its session.
  void reach(Life life, FakePort& port) {
    if (life == Life::Empty) return;
    ask(port);
    if (life == Life::Starting) return;
    if (life == Life::Failing) {
      return lose();
    }
    parts_.open_servers();
    if (life == Life::Ready) return;
    if (life == Life::Draining) return slot_->apply(Trigger::Retired);
    if (life == Life::Ending) return slot_->end_unused(Cause::Idle);
    if (life == Life::Broken) return break_it(port);
    slot_->add_waiter(port, "{}");
    lose();
    if (life == Life::Dying) return;
    // The second death in a row is followed by a delay.
    exit(1 << 8);
    parts_.open_servers();
    slot_->add_waiter(port, "{}");
    exit(1 << 8);
    if (life == Life::Restarting) parts_.pass(std::chrono::seconds(30));
  }

  PoolParts parts_;
  std::shared_ptr<pool::ServerSpec> spec_;
  Slot* slot_ = nullptr;
  FakePort one_{1};
  FakePort two_{2};
};

// ---- every state

class InEveryState : public ASlot, public testing::WithParamInterface<Life> {};

TEST_P(InEveryState, WhatTheLifecycleIgnoresChangesNothing) {
  reach(GetParam(), one_);
  ASSERT_EQ(slot_->life(), GetParam());
  const std::size_t started = parts_.started();
  const std::size_t told = one_.told();
  const std::size_t left = one_.departures.size();
  for (std::size_t index = 0; index < pool::kTriggers; ++index) {
    const auto trigger = static_cast<Trigger>(index);
    const pool::Next next = pool::next(GetParam(), trigger);
    if (next.life != GetParam() || next.step != pool::Step::None) continue;
    slot_->apply(trigger);
    EXPECT_EQ(slot_->life(), GetParam()) << index;
    EXPECT_EQ(parts_.started(), started) << index;
    EXPECT_EQ(one_.told(), told) << index;
    EXPECT_EQ(one_.departures.size(), left) << index;
  }
}

TEST_P(InEveryState, TheEndOfTheDaemonLeavesNoInstanceAndNoSessionThatIsToldTwice) {
  reach(GetParam(), one_);
  ASSERT_EQ(slot_->life(), GetParam());
  const std::size_t told = one_.told();
  const std::size_t started = parts_.started();
  const bool waits = slot_->waiters().contains(one_.id());
  leave(one_);
  slot_->stop(Haste::Now);
  if (slot_->router() != nullptr) exit();
  parts_.pass(std::chrono::hours(1));

  EXPECT_EQ(slot_->router(), nullptr);
  EXPECT_EQ(slot_->life(), Life::Empty);
  EXPECT_TRUE(slot_->is_vacant());
  EXPECT_EQ(parts_.started(), started);
  EXPECT_EQ(one_.told(), told) << (waits ? "it has left" : "it had its answer");
}

INSTANTIATE_TEST_SUITE_P(Lifecycle, InEveryState,
                         testing::Values(Life::Empty, Life::Starting, Life::Failing, Life::Ready,
                                         Life::Draining, Life::Ending, Life::Dying, Life::Waiting,
                                         Life::Restarting, Life::Broken),
                         [](const auto& one) { return std::string(pool::life_name(one.param)); });

// ---- starting

TEST_F(ASlot, StartsOneInstanceForAllThatAskAndAnswersEachOnce) {
  ask(one_);
  ask(two_);
  EXPECT_EQ(slot_->life(), Life::Starting);
  EXPECT_EQ(parts_.started(), 1U);
  EXPECT_EQ(one_.told(), 0U);
  parts_.open_servers();

  EXPECT_EQ(slot_->life(), Life::Ready);
  ASSERT_EQ(one_.told(), 1U);
  ASSERT_EQ(two_.told(), 1U);
  EXPECT_EQ(one_.last(), Opened::Kind::Ready);
  EXPECT_EQ(one_.answers[0].router, slot_->router());
  EXPECT_EQ(slot_->router()->sessions().size(), 2U);
}

TEST_F(ASlot, ThatIsReadyAttachesAtOnce) {
  reach(Life::Ready, one_);
  ask(two_);
  EXPECT_EQ(two_.told(), 1U);
  EXPECT_EQ(parts_.started(), 1U);
}

TEST_F(ASlot, DoesNotAnswerASessionThatLeftWhileAnotherWasTold) {
  one_.when_opened = [this] { leave(two_); };
  ask(one_);
  ask(two_);
  parts_.open_servers();
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(two_.told(), 0U);
  EXPECT_EQ(parts_.slots.find_for(two_.id()), nullptr);
}

TEST_F(ASlot, TellsWhyThereIsNoRoomAndStartsNothing) {
  parts_.no_room = "all instances are in use";
  ask(one_);
  EXPECT_EQ(parts_.started(), 0U);
  ASSERT_EQ(one_.told(), 1U);
  EXPECT_EQ(one_.last(), Opened::Kind::Failed);
  EXPECT_EQ(one_.answers[0].text, "all instances are in use");
  EXPECT_THAT(parts_.unused, ElementsAre(slot_->id()));
}

TEST_F(ASlot, TellsWhyItsServerCannotBeStarted) {
  parts_.spawner.failure = "there is no such program";
  ask(one_);
  ASSERT_EQ(one_.told(), 1U);
  EXPECT_THAT(one_.answers[0].text, HasSubstr("there is no such program"));
  EXPECT_TRUE(slot_->is_vacant());
}

TEST_F(ASlot, WhoseServerDiesAtItsStartAnswersWhenItsTreeIsGone) {
  ask(one_);
  lose();
  EXPECT_EQ(slot_->life(), Life::Failing);
  EXPECT_EQ(one_.told(), 0U);
  exit(3 << 8);
  ASSERT_EQ(one_.told(), 1U);
  EXPECT_EQ(one_.last(), Opened::Kind::Failed);
  EXPECT_EQ(one_.answers[0].exit_code, 3);
  EXPECT_THAT(parts_.unused, ElementsAre(slot_->id()));
}

TEST_F(ASlot, StartsAgainForASessionThatAskedWhileAFailedStartWasEnding) {
  ask(one_);
  lose();
  ask(two_);
  exit(3 << 8);
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(two_.told(), 0U);
  EXPECT_EQ(parts_.started(), 2U);
  parts_.open_servers();
  EXPECT_EQ(two_.last(), Opened::Kind::Ready);
  EXPECT_EQ(one_.told(), 1U);
}

TEST_F(ASlot, WhoseServerRefusesTheHandshakeTellsItAtOnce) {
  ask(one_);
  parts_.settle();
  for (const std::string& line : parts_.server().heard()) {
    parts_.server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(line).at("id")) +
                        R"(,"error":{"code":-32602,"message":"not with you"}})");
  }
  parts_.settle();
  ASSERT_EQ(one_.told(), 1U);
  EXPECT_EQ(one_.last(), Opened::Kind::Refused);
  EXPECT_THAT(one_.answers[0].text, HasSubstr("not with you"));
  exit();
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_TRUE(slot_->is_vacant());
}

// ---- dying and coming back

TEST_F(ASlot, WhoseServerDiesTellsItsSessionsAndStartsForThoseThatAskAgain) {
  reach(Life::Ready, one_);
  lose();
  EXPECT_EQ(slot_->life(), Life::Dying);
  EXPECT_THAT(one_.departures, ElementsAre(router::Departure::Died));
  ask(one_);
  EXPECT_EQ(parts_.started(), 1U) << "never two at a time";
  exit(1 << 8);
  EXPECT_EQ(parts_.started(), 2U) << "the first restart does not wait";
  EXPECT_EQ(slot_->life(), Life::Restarting);
  parts_.open_servers();
  EXPECT_EQ(one_.told(), 2U);
}

TEST_F(ASlot, ThatNobodyAsksAfterADeathIsGivenUp) {
  reach(Life::Ready, one_);
  exit(1 << 8);
  EXPECT_TRUE(slot_->is_vacant());
  EXPECT_THAT(parts_.unused, ElementsAre(slot_->id()));
  EXPECT_EQ(parts_.started(), 1U);
}

TEST_F(ASlot, WaitsLongerBeforeTheSecondRestartUnlessTheUserAllowsIt) {
  reach(Life::Waiting, one_);
  const std::size_t started = parts_.started();
  parts_.settle();
  EXPECT_EQ(parts_.started(), started);
  EXPECT_TRUE(slot_->allow());
  EXPECT_EQ(slot_->life(), Life::Restarting);
  EXPECT_EQ(parts_.started(), started + 1);
}

TEST_F(ASlot, ThatWaitsForItsRestartIsGivenUpWithItsLastSession) {
  reach(Life::Waiting, one_);
  const std::size_t told = one_.told();
  EXPECT_EQ(leave(one_), Slot::Left::Stays);
  EXPECT_TRUE(slot_->is_vacant());
  EXPECT_THAT(parts_.unused, ElementsAre(slot_->id()));
  parts_.pass(std::chrono::hours(1));
  EXPECT_EQ(one_.told(), told);
}

TEST_F(ASlot, ThatIsBrokenRefusesAtOnceAndTriesAgainAfterARest) {
  reach(Life::Broken, one_);
  const std::size_t started = parts_.started();
  ask(two_);
  ASSERT_EQ(two_.told(), 1U);
  EXPECT_EQ(two_.last(), Opened::Kind::Failed);
  EXPECT_THAT(two_.answers[0].text, HasSubstr("times in a row and is not started again for now"));
  EXPECT_EQ(parts_.started(), started);
  parts_.pass(std::chrono::minutes(2));
  EXPECT_EQ(slot_->life(), Life::Empty);
  ask(two_);
  EXPECT_EQ(parts_.started(), started + 1);
  EXPECT_FALSE(slot_->allow()) << "there was nothing to allow";
}

TEST_F(ASlot, WhoseServerHangsIsKilled) {
  reach(Life::Ready, one_);
  slot_->apply(Trigger::Hung);
  EXPECT_EQ(slot_->life(), Life::Dying);
  EXPECT_EQ(parts_.server().stops_told(), 1U);
  EXPECT_EQ(one_.departures.size(), 1U);
}

// ---- ending

TEST_F(ASlot, ThatIsUnusedEndsItsInstanceAndParksItsSessions) {
  reach(Life::Ready, one_);
  std::vector<pool::InstanceEnd> ends;
  slot_->when_ended([&ends](const pool::InstanceEnd& end) { ends.push_back(end); });
  slot_->end_unused(Cause::Parked);
  EXPECT_TRUE(is_ending(slot_->life()));
  EXPECT_TRUE(slot_->run().was_lost_by(one_.id()));
  EXPECT_THAT(one_.departures, ElementsAre(router::Departure::Parked));
  EXPECT_THAT(ends, IsEmpty());
  exit();
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].cause, Cause::Parked);
  EXPECT_TRUE(ends[0].ending.proved_empty);
  EXPECT_FALSE(slot_->run().was_lost_by(one_.id()));
  EXPECT_EQ(parts_.disposed.size(), 1U);
}

TEST_F(ASlot, ThatIsEndingStartsAgainForASessionThatAsksMeanwhile) {
  reach(Life::Ending, one_);
  ask(two_);
  EXPECT_EQ(parts_.started(), 1U);
  exit();
  EXPECT_EQ(parts_.started(), 2U);
  parts_.open_servers();
  EXPECT_EQ(two_.told(), 1U);
  EXPECT_THAT(parts_.unused, IsEmpty());
}

TEST_F(ASlot, ThatIsRetiredAnswersThoseWhoWaitOnceAndLetsThemWaitForARestart) {
  ask(one_);
  slot_->retire(Cause::Stopped, [](const auto&) {});
  ASSERT_EQ(one_.told(), 1U);
  EXPECT_EQ(one_.last(), Opened::Kind::Failed);
  exit();
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_TRUE(slot_->is_vacant());

  ask(two_);
  slot_->retire(Cause::Restarted, [](const auto&) {});
  EXPECT_EQ(two_.told(), 0U);
  exit();
  parts_.open_servers();
  EXPECT_EQ(two_.told(), 1U);
  EXPECT_EQ(two_.last(), Opened::Kind::Ready);
}

TEST_F(ASlot, ThatIsRecycledEndsItsInstanceOnceItsCallsAreAnswered) {
  reach(Life::Ready, one_);
  slot_->retire(Cause::Recycled, {});
  EXPECT_EQ(slot_->life(), Life::Draining);
  EXPECT_THAT(one_.departures, IsEmpty());
  parts_.settle();
  EXPECT_EQ(slot_->life(), Life::Ending);
  EXPECT_EQ(slot_->run().cause(), Cause::Recycled);
  EXPECT_THAT(one_.departures, ElementsAre(router::Departure::Replaced));
}

TEST_F(ASlot, ThatIsRecycledLetsASessionThatWaitsGoOnWaiting) {
  reach(Life::Ready, one_);
  slot_->add_waiter(two_, "{}");  // its earlier instance is still ending, so it asks later

  slot_->retire(Cause::Recycled, {});
  parts_.settle();
  EXPECT_EQ(two_.told(), 0U);
  exit();
  parts_.open_servers();

  EXPECT_EQ(two_.told(), 1U);
  EXPECT_EQ(two_.last(), Opened::Kind::Ready);
}

TEST_F(ASlot, ThatDrainsEndsAtOnceWhenItIsUnused) {
  reach(Life::Draining, one_);
  slot_->apply(Trigger::Unused);
  EXPECT_EQ(slot_->life(), Life::Ending);
  EXPECT_EQ(one_.departures.size(), 1U);
  parts_.settle();  // the router says that it has drained
  EXPECT_EQ(slot_->life(), Life::Ending);
  EXPECT_EQ(one_.departures.size(), 1U);
}

TEST_F(ASlot, HandsASharedInstanceToTheSessionObjectThatStillUsesIt) {
  FakePort first(1, "a");
  FakePort second(2, "b");
  ask(first);
  ask(second);
  parts_.open_servers();
  EXPECT_EQ(slot_->holder().object(), "a");
  EXPECT_EQ(leave(first, Ends::SessionObject), Slot::Left::Stays);
  EXPECT_EQ(slot_->holder().object(), "b");
  EXPECT_FALSE(slot_->end_with_owner({})) << "b uses it";
  EXPECT_EQ(leave(second, Ends::SessionObject), Slot::Left::Ends) << "it ends with b";
  EXPECT_EQ(slot_->run().cause(), Cause::SessionEnded);
}

TEST_F(ASlot, StaysTakenUntilTheTreeOfALostKeeperHasEnded) {
  FakePort port(1, "object");
  reach(Life::Ready, port);
  std::vector<pool::InstanceEnd> ends;
  slot_->when_ended([&ends](const pool::InstanceEnd& end) { ends.push_back(end); });
  parts_.server().lose_keeper();
  for (int second = 0; second < 30 && ends.empty(); ++second) {
    EXPECT_NE(slot_->router(), nullptr);
    parts_.pass(std::chrono::seconds(1));
  }
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(slot_->router(), nullptr);
  EXPECT_EQ(parts_.unproved.size(), ends[0].ending.proved_empty ? 0U : 1U);
}

TEST_F(ASlot, ThatIsGoneIsNotTouchedWhenTheTreeOfALostKeeperHasEnded) {
  reach(Life::Ready, one_);
  slot_->when_ended([](const pool::InstanceEnd&) { FAIL(); });
  parts_.forgotten = slot_->id();
  parts_.server().lose_keeper();
  for (int second = 0; second < 30; ++second) parts_.pass(std::chrono::seconds(1));
  EXPECT_NE(slot_->router(), nullptr);
  EXPECT_TRUE(parts_.disposed.empty());
}

TEST_F(ASlot, EndsAfterItsIdleTimeAndNotBefore) {
  reach(Life::Ready, one_);
  EXPECT_EQ(leave(one_), Slot::Left::Stays);
  parts_.pass(spec_->entry.idle - std::chrono::seconds(1));
  EXPECT_EQ(slot_->life(), Life::Ready);
  parts_.pass(std::chrono::seconds(2));
  EXPECT_EQ(slot_->life(), Life::Ending);
  EXPECT_EQ(slot_->run().cause(), Cause::Idle);
}

TEST_F(ASlot, WithoutAnIdleTimeEndsWithItsLastSession) {
  spec_->entry.idle = std::chrono::seconds(0);
  spec_->entry.park = true;
  reach(Life::Ready, one_);
  ask(two_);
  parts_.pass(std::chrono::hours(2));
  EXPECT_EQ(slot_->life(), Life::Ready) << "its sessions may be silent";
  leave(one_);
  parts_.settle();
  EXPECT_EQ(slot_->life(), Life::Ready) << "one session is left";
  leave(two_);
  parts_.settle();
  EXPECT_EQ(slot_->life(), Life::Ending);
  EXPECT_EQ(slot_->run().cause(), Cause::Idle);
}

}  // namespace
}  // namespace corral::tests
