#include "keeper/ending.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace corral::keeper {
namespace {

using Action = Ending::Action;
using Below = Ending::Below;
using Input = Ending::Input;
using Phase = Ending::Phase;
using std::chrono::milliseconds;

constexpr Micros kStart{1'000'000'000};

Micros at(int ms) { return kStart + milliseconds(ms); }

/// An Ending that has come to the given phase at time 0, with nothing else having happened.
Ending in_phase(Phase phase) {
  Ending ending{Graces{}};
  if (phase == Phase::Open) return ending;
  ending.stdin_closed(at(-20'000));
  if (phase == Phase::Draining) {
    Ending fresh{Graces{}};
    fresh.stdin_closed(at(0));
    return fresh;
  }
  ending.tick(at(phase == Phase::Terminating ? 0 : -10'000), Input::Read);
  if (phase == Phase::Terminating) return ending;
  if (phase == Phase::Yielding) {
    ending.tick(at(0), Input::Read, Below::Keepers);
    return ending;
  }
  ending.tick(at(phase == Phase::Killing ? 0 : -5'000), Input::Read);
  if (phase == Phase::Killing) return ending;
  ending.tick(at(0), Input::Read);
  return ending;
}

struct Pair {
  const char* name;
  Phase before;
  std::function<Action(Ending&)> event;
  Action action;
  Phase after;
  int deadline_ms;  // -1 = none
};

Action stdin_closed(Ending& ending) { return ending.stdin_closed(at(0)); }
Action client_gone(Ending& ending) { return ending.client_gone(Reason::ClientGone, at(0)); }
Action demanded(Ending& ending) { return ending.demanded(Reason::Signal, at(0)); }
Action owner_gone(Ending& ending) { return ending.owner_gone(at(0)); }
Action server_exited(Ending& ending) { return ending.server_exited(at(0)); }
Action early_tick(Ending& ending) { return ending.tick(at(0), Input::Read); }
Action late_tick(Ending& ending) { return ending.tick(at(10'000), Input::Read); }
Action unread_tick(Ending& ending) { return ending.tick(at(10'000), Input::Unread); }
Action early_keepers(Ending& ending) { return ending.tick(at(0), Input::Read, Below::Keepers); }
Action late_keepers(Ending& ending) { return ending.tick(at(10'000), Input::Read, Below::Keepers); }

std::vector<Pair> before_anybody_is_asked() {
  return {
      {"open, stdin closed", Phase::Open, stdin_closed, Action::None, Phase::Draining, 2000},
      {"open, client gone", Phase::Open, client_gone, Action::None, Phase::Draining, 500},
      {"open, demanded", Phase::Open, demanded, Action::Terminate, Phase::Terminating, 1500},
      {"open, owner gone", Phase::Open, owner_gone, Action::Terminate, Phase::Terminating, 500},
      {"open, server exited", Phase::Open, server_exited, Action::Terminate, Phase::Terminating, 500},
      {"open, early tick", Phase::Open, early_tick, Action::None, Phase::Open, -1},
      {"open, late tick", Phase::Open, late_tick, Action::None, Phase::Open, -1},
      {"open, unread", Phase::Open, unread_tick, Action::None, Phase::Open, -1},
      {"open, early, keepers", Phase::Open, early_keepers, Action::None, Phase::Open, -1},
      {"open, late, keepers", Phase::Open, late_keepers, Action::None, Phase::Open, -1},

      {"draining, stdin closed", Phase::Draining, stdin_closed, Action::None, Phase::Draining, 2000},
      {"draining, client gone", Phase::Draining, client_gone, Action::None, Phase::Draining, 500},
      {"draining, demanded", Phase::Draining, demanded, Action::Terminate, Phase::Terminating, 1500},
      {"draining, owner gone", Phase::Draining, owner_gone, Action::Terminate, Phase::Terminating, 500},
      {"draining, server exited", Phase::Draining, server_exited, Action::Terminate, Phase::Terminating, 500},
      {"draining, early tick", Phase::Draining, early_tick, Action::None, Phase::Draining, 2000},
      {"draining, late tick", Phase::Draining, late_tick, Action::Terminate, Phase::Terminating, 11'500},
      {"draining, unread", Phase::Draining, unread_tick, Action::None, Phase::Draining, 12'000},
      {"draining, early, keepers", Phase::Draining, early_keepers, Action::None, Phase::Draining, 2000},
      {"draining, late, keepers", Phase::Draining, late_keepers, Action::Terminate, Phase::Terminating,
       11'500},
  };
}

std::vector<Pair> while_they_are_asked() {
  return {
      {"terminating, stdin closed", Phase::Terminating, stdin_closed, Action::None, Phase::Terminating, 1500},
      {"terminating, client gone", Phase::Terminating, client_gone, Action::None, Phase::Terminating, 500},
      {"terminating, demanded", Phase::Terminating, demanded, Action::None, Phase::Terminating, 1500},
      {"terminating, owner gone", Phase::Terminating, owner_gone, Action::None, Phase::Terminating, 500},
      {"terminating, server exited", Phase::Terminating, server_exited, Action::None, Phase::Terminating,
       500},
      {"terminating, early tick", Phase::Terminating, early_tick, Action::None, Phase::Terminating, 1500},
      {"terminating, late tick", Phase::Terminating, late_tick, Action::Kill, Phase::Killing, 12'000},
      {"terminating, unread", Phase::Terminating, unread_tick, Action::Kill, Phase::Killing, 12'000},
      {"terminating, early, keepers", Phase::Terminating, early_keepers, Action::None, Phase::Terminating,
       1500},
      {"terminating, late, keepers", Phase::Terminating, late_keepers, Action::Yield, Phase::Yielding,
       15'000},

      {"yielding, stdin closed", Phase::Yielding, stdin_closed, Action::None, Phase::Yielding, 5000},
      {"yielding, client gone", Phase::Yielding, client_gone, Action::None, Phase::Yielding, 5000},
      {"yielding, demanded", Phase::Yielding, demanded, Action::None, Phase::Yielding, 5000},
      {"yielding, owner gone", Phase::Yielding, owner_gone, Action::None, Phase::Yielding, 5000},
      {"yielding, server exited", Phase::Yielding, server_exited, Action::None, Phase::Yielding, 5000},
      {"yielding, early tick", Phase::Yielding, early_tick, Action::Kill, Phase::Killing, 2000},
      {"yielding, late tick", Phase::Yielding, late_tick, Action::Kill, Phase::Killing, 12'000},
      {"yielding, unread", Phase::Yielding, unread_tick, Action::Kill, Phase::Killing, 12'000},
      {"yielding, early, keepers", Phase::Yielding, early_keepers, Action::None, Phase::Yielding, 5000},
      {"yielding, late, keepers", Phase::Yielding, late_keepers, Action::Kill, Phase::Killing, 12'000},
  };
}

std::vector<Pair> while_they_are_killed() {
  return {
      {"killing, stdin closed", Phase::Killing, stdin_closed, Action::None, Phase::Killing, 2000},
      {"killing, client gone", Phase::Killing, client_gone, Action::None, Phase::Killing, 2000},
      {"killing, demanded", Phase::Killing, demanded, Action::None, Phase::Killing, 2000},
      {"killing, owner gone", Phase::Killing, owner_gone, Action::None, Phase::Killing, 2000},
      {"killing, server exited", Phase::Killing, server_exited, Action::None, Phase::Killing, 2000},
      {"killing, early tick", Phase::Killing, early_tick, Action::None, Phase::Killing, 2000},
      {"killing, late tick", Phase::Killing, late_tick, Action::GiveUp, Phase::GaveUp, -1},
      {"killing, unread", Phase::Killing, unread_tick, Action::GiveUp, Phase::GaveUp, -1},
      {"killing, early, keepers", Phase::Killing, early_keepers, Action::None, Phase::Killing, 2000},
      {"killing, late, keepers", Phase::Killing, late_keepers, Action::GiveUp, Phase::GaveUp, -1},

      {"gave up, stdin closed", Phase::GaveUp, stdin_closed, Action::None, Phase::GaveUp, -1},
      {"gave up, client gone", Phase::GaveUp, client_gone, Action::None, Phase::GaveUp, -1},
      {"gave up, demanded", Phase::GaveUp, demanded, Action::None, Phase::GaveUp, -1},
      {"gave up, owner gone", Phase::GaveUp, owner_gone, Action::None, Phase::GaveUp, -1},
      {"gave up, server exited", Phase::GaveUp, server_exited, Action::None, Phase::GaveUp, -1},
      {"gave up, early tick", Phase::GaveUp, early_tick, Action::None, Phase::GaveUp, -1},
      {"gave up, late tick", Phase::GaveUp, late_tick, Action::None, Phase::GaveUp, -1},
      {"gave up, unread", Phase::GaveUp, unread_tick, Action::None, Phase::GaveUp, -1},
      {"gave up, early, keepers", Phase::GaveUp, early_keepers, Action::None, Phase::GaveUp, -1},
      {"gave up, late, keepers", Phase::GaveUp, late_keepers, Action::None, Phase::GaveUp, -1},
  };
}

/// Every state with every event: 6 x 10.
const std::vector<Pair>& table() {
  static const std::vector<Pair> pairs = [] {
    std::vector<Pair> all = before_anybody_is_asked();
    for (const auto& more : {while_they_are_asked(), while_they_are_killed()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return pairs;
}

TEST(Ending, AnswersEveryPairOfStateAndEvent) {
  ASSERT_EQ(table().size(), 6U * 10U);
  for (const Pair& pair : table()) {
    Ending ending = in_phase(pair.before);
    ASSERT_EQ(ending.phase(), pair.before) << pair.name;

    EXPECT_EQ(pair.event(ending), pair.action) << pair.name;

    EXPECT_EQ(ending.phase(), pair.after) << pair.name;
    EXPECT_EQ(ending.deadline().has_value(), pair.deadline_ms >= 0) << pair.name;
    if (ending.deadline()) {
      EXPECT_EQ(*ending.deadline(), at(pair.deadline_ms)) << pair.name;
    }
  }
}

TEST(Ending, TheFirstReasonStays) {
  Ending ending{Graces{}};

  ending.stdin_closed(at(0));
  ending.client_gone(Reason::ClientGone, at(10));
  ending.demanded(Reason::Signal, at(20));
  ending.server_exited(at(30));

  EXPECT_EQ(ending.reason(), Reason::StdinClosed);
  EXPECT_EQ(ending.began(), at(0));
}

TEST(Ending, ASecondDemandShortensTheGrace) {
  Ending ending{Graces{}};

  ending.demanded(Reason::Signal, at(0));
  ending.demanded(Reason::Signal, at(100));

  EXPECT_EQ(*ending.deadline(), at(600));
}

TEST(Ending, UnreadInputHoldsTheClockUpToTheCap) {
  Ending ending{Graces{}};
  ending.stdin_closed(at(0));

  EXPECT_EQ(ending.tick(at(59'000), Input::Unread), Action::None);
  EXPECT_EQ(*ending.deadline(), at(60'000));
  EXPECT_EQ(ending.tick(at(60'000), Input::Unread), Action::Terminate);
}

TEST(Ending, OnceEverythingIsReadTheGraceRunsFromThere) {
  Ending ending{Graces{}};
  ending.stdin_closed(at(0));

  ending.tick(at(5'000), Input::Unread);

  EXPECT_EQ(ending.tick(at(6'999), Input::Read), Action::None);
  EXPECT_EQ(ending.tick(at(7'000), Input::Read), Action::Terminate);
}

TEST(Ending, AVanishedClientMakesUnreadInputPointless) {
  Ending ending{Graces{}};
  ending.stdin_closed(at(0));

  ending.client_gone(Reason::ClientGone, at(100));

  EXPECT_EQ(ending.tick(at(600), Input::Unread), Action::Terminate);
  EXPECT_EQ(*ending.deadline(), at(1100));
}

TEST(Ending, GracesOfZeroEndAtOnce) {
  Graces graces;
  graces.stdin_closed = graces.term = Micros(0);
  Ending ending{graces};

  ending.stdin_closed(at(0));

  EXPECT_EQ(ending.tick(at(0), Input::Read), Action::Terminate);
  EXPECT_EQ(ending.tick(at(0), Input::Read), Action::Kill);
}

TEST(Ending, NamesWhatBeganIt) {
  const std::vector<std::pair<std::function<Action(Ending&)>, Reason>> events = {
      {stdin_closed, Reason::StdinClosed}, {client_gone, Reason::ClientGone},     {demanded, Reason::Signal},
      {owner_gone, Reason::OwnerGone},     {server_exited, Reason::ServerExited},
  };
  for (const auto& [event, reason] : events) {
    Ending ending{Graces{}};
    event(ending);
    EXPECT_EQ(ending.reason(), reason);
    EXPECT_EQ(ending.began(), at(0));
  }
}

}  // namespace
}  // namespace corral::keeper
