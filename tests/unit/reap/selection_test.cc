#include "reap/selection.h"

#include <gtest/gtest.h>

#include "reap/watch.h"
#include "survey/scene.h"

namespace corral::reap {
namespace {

using survey::Scene;
using survey::Survey;

const survey::Asker kMe{1000, {}};

/// Codex (40) holds copies 50..61; 70 and 71 are orphans of Codex.
Scene scene() {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.configure("codex", "files", "file:/usr/bin/files");
  for (pid_t pid = 50; pid < 62; ++pid) {
    scene.process(pid, 40, {"files"});
    scene.connect(pid, 40);
  }
  for (const pid_t pid : {70, 71}) {
    scene.process(pid, 1, {"files"});
    scene.strand(pid);
  }
  return scene;
}

std::vector<pid_t> pids(const Survey& survey, const std::vector<std::size_t>& servers) {
  std::vector<pid_t> found;
  for (const std::size_t index : servers) found.push_back(survey.servers[index].pid);
  return found;
}

std::vector<pid_t> chosen(const Survey& survey, const Selectors& selectors,
                          const survey::Asker& asker = kMe) {
  std::vector<pid_t> found;
  for (const Group& group : select(survey, selectors, asker).groups) {
    for (const pid_t pid : pids(survey, group.end)) found.push_back(pid);
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Selection, WithoutASelectorOrphansAndTheOldestCopiesBeyondN) {
  EXPECT_EQ(chosen(scene().judged(), {}), (std::vector<pid_t>{50, 51, 52, 70, 71}));
}

TEST(Selection, OrphansAloneAreAllOfThem) {
  EXPECT_EQ(chosen(scene().judged(), {.orphans = true, .keep = 9}), (std::vector<pid_t>{70, 71}));
}

TEST(Selection, PileUpsKeepTheNewest) {
  const Survey survey = scene().judged();

  const Selection selection = select(survey, {.pile_ups = true, .keep = 10}, kMe);

  ASSERT_EQ(selection.groups.size(), 1U);
  EXPECT_EQ(pids(survey, selection.groups[0].end), (std::vector<pid_t>{50, 51}));
  EXPECT_EQ(selection.groups[0].keep.size(), 10U);
  EXPECT_EQ(selection.groups[0].client, "Codex (pid 40)");
}

TEST(Selection, KeepZeroTakesAllCopies) {
  EXPECT_EQ(chosen(scene().judged(), {.pile_ups = true, .keep = 0}).size(), 12U);
}

// `"keep": 0` says that the daemon keeps no idle instance. Nobody asked for the end of servers in use.
TEST(Selection, WhatTheDaemonEndsUnaskedIsNothingInUseIfKeepIsZero) {
  const Survey survey = scene().judged();

  EXPECT_EQ(chosen(survey, unasked(0)), (std::vector<pid_t>{70, 71}));
  EXPECT_EQ(chosen(survey, unasked(10)), (std::vector<pid_t>{50, 51, 70, 71}));
}

TEST(Selection, FiltersOnlyNarrow) {
  const Survey survey = scene().judged();

  EXPECT_EQ(chosen(survey, {.client = "codex"}).size(), 5U);
  EXPECT_EQ(chosen(survey, {.client = "CODEX"}).size(), 5U);
  EXPECT_EQ(chosen(survey, {.client = "Claude Code"}).size(), 0U);
  EXPECT_EQ(chosen(survey, {.match = "FILE"}).size(), 5U);
  EXPECT_EQ(chosen(survey, {.match = "other"}).size(), 0U);
  EXPECT_EQ(chosen(survey, {.parent = 40}), (std::vector<pid_t>{50, 51, 52}));
  // Process 50 is 9,950 s old.
  EXPECT_EQ(chosen(survey, {.older_than = std::chrono::milliseconds(9'949'500)}), (std::vector<pid_t>{50}));
}

TEST(Selection, AFilterDoesNotChangeWhichCopiesAreTheNewest) {
  // Only the youngest three are asked for, and none of them is beyond the newest nine.
  Scene machine = scene();
  for (pid_t pid = 59; pid < 62; ++pid) machine[pid].argv = {"files", "--young"};

  EXPECT_TRUE(chosen(machine.judged(), {.match = "--young"}).empty());
}

TEST(Selection, ProcessesOfAnotherUserAreSpared) {
  Scene machine = scene();
  machine[70].uid = 1001;
  const Survey survey = machine.judged();

  const Selection selection = select(survey, {.orphans = true}, kMe);

  ASSERT_EQ(selection.spared.size(), 1U);
  EXPECT_NE(selection.spared[0].reason.find("another user"), std::string::npos);
  EXPECT_EQ(chosen(survey, {.orphans = true}), (std::vector<pid_t>{71}));
}

TEST(Selection, ADebuggersTargetAndOurOwnAncestorsAreSpared) {
  Survey survey = scene().judged();
  for (survey::Server& server : survey.servers) server.debugged = server.pid == 70;

  EXPECT_TRUE(chosen(survey, {.orphans = true}, {1000, {99, 71}}).empty());
  EXPECT_EQ(select(survey, {.orphans = true}, {1000, {99, 71}}).spared.size(), 2U);
}

TEST(Selection, ContainersAndTreesWithAClientInsideAreSpared) {
  Survey survey = scene().judged();
  for (survey::Server& server : survey.servers) {
    server.in_container = server.pid == 70;
    server.client_inside = server.pid == 71 ? 99 : 0;
  }

  EXPECT_TRUE(chosen(survey, {.orphans = true}).empty());
  EXPECT_EQ(select(survey, {.orphans = true}, kMe).spared.size(), 2U);
}

TEST(Selection, PossibleServersOnlyIfAskedFor) {
  Scene machine;
  machine.process(50, 1, {"mcp-server-foo"});
  machine.strand(50);

  EXPECT_TRUE(chosen(machine.judged(), {}).empty());
  EXPECT_EQ(chosen(machine.judged(), {.possible = true}), (std::vector<pid_t>{50}));
}

TEST(Selection, KeptServersAreNeverChosen) {
  Scene machine;
  machine.process(46, 1, {"corral-keeper"}).comm = "corral-keeper";
  machine.process(50, 46, {"files"});
  machine.strand(50);
  machine.configure("codex", "files", "file:/usr/bin/files");

  EXPECT_TRUE(chosen(machine.judged(), {.keep = 0}).empty());
}

TEST(Watch, TellsOfAFindingOnceAndAgainWhenItGrows) {
  LeakWatch watch({}, kMe);
  Scene machine = scene();

  EXPECT_EQ(watch.look(machine.judged()).news.size(), 2U);
  EXPECT_EQ(watch.look(machine.judged()).news.size(), 0U);

  machine.process(72, 1, {"files"});
  machine.strand(72);
  const LeakWatch::Step step = watch.look(machine.judged());
  ASSERT_EQ(step.news.size(), 1U);
  EXPECT_EQ(step.news[0].kind, survey::Finding::Kind::Orphan);
}

TEST(Watch, TellsOnlyOfWhatTheFiltersLetThrough) {
  LeakWatch watch({.match = "nothing like it"}, kMe);

  EXPECT_TRUE(watch.look(scene().judged()).news.empty());
}

TEST(Watch, EndsAnOrphanOnlyWhenItIsSeenAgain) {
  LeakWatch watch({.orphans = true}, kMe);
  Scene machine = scene();

  EXPECT_TRUE(watch.look(machine.judged()).selection.groups.empty());

  machine.process(72, 1, {"files"});
  machine.strand(72);
  const Survey survey = machine.judged();
  const LeakWatch::Step step = watch.look(survey);
  ASSERT_EQ(step.selection.groups.size(), 1U);
  EXPECT_EQ(pids(survey, step.selection.groups[0].end), (std::vector<pid_t>{70, 71}));
}

TEST(Watch, EndsCopiesBeyondNAtOnce) {
  LeakWatch watch({.pile_ups = true, .keep = 3}, kMe);

  const LeakWatch::Step step = watch.look(scene().judged());

  ASSERT_EQ(step.selection.groups.size(), 1U);
  EXPECT_EQ(step.selection.groups[0].end.size(), 9U);
}

TEST(WantedServers, AreThoseThatEveryFilterLetsThrough) {
  survey::Server server;
  server.age = std::chrono::milliseconds(1000);
  server.client.id = "codex";
  server.client.name = "Codex CLI";
  server.client.pid = 40;
  server.shown = "npx one";
  server.command.name = "two";
  server.command.script = "/srv/three.js";
  const auto wanted = [&](auto change) {
    Selectors selectors;
    change(selectors);
    return is_wanted(server, selectors);
  };
  EXPECT_TRUE(wanted([](Selectors&) {}));
  EXPECT_TRUE(wanted([](Selectors& s) { s.older_than = std::chrono::milliseconds(1000); }));
  EXPECT_FALSE(wanted([](Selectors& s) { s.older_than = std::chrono::milliseconds(1001); }));
  EXPECT_TRUE(wanted([](Selectors& s) { s.parent = 40; }));
  EXPECT_FALSE(wanted([](Selectors& s) { s.parent = 41; }));
  for (const char* client : {"codex", "CODEX", "codex cli"}) {
    EXPECT_TRUE(wanted([&](Selectors& s) { s.client = client; })) << client;
  }
  EXPECT_FALSE(wanted([](Selectors& s) { s.client = "code"; }));
  for (const char* match : {"npx o", "two", "three"}) {
    EXPECT_TRUE(wanted([&](Selectors& s) { s.match = match; })) << match;
  }
  EXPECT_FALSE(wanted([](Selectors& s) { s.match = "four"; }));
  EXPECT_FALSE(wanted([](Selectors& s) { s.client = "codex", s.match = "four"; }));
  EXPECT_FALSE(wanted([](Selectors& s) { s.client = "cursor", s.match = "two"; }));
}

}  // namespace
}  // namespace corral::reap
