// What a daemon has left that was killed together with everybody who could have cleaned up after it.
#include "reap/remnants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_id.h"
#include "instance/journal.h"
#include "keeper/kernel.h"
#include "support/crashed_daemon.h"
#include "support/eventually.h"
#include "support/os_test.h"
#include "support/small_namespace.h"

namespace corral::os_tests {
namespace {

using reap::end_remnants;
using reap::Outcome;
using reap::Remnants;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kTreeStands = 4;

class RemnantsTest : public OsTest, public testing::WithParamInterface<const char*> {
 protected:
  CrashedDaemon::Blow everybody() const { return {kTreeStands, false, "djk"}; }
  std::vector<std::string> server(const std::string& tree) const {
    return {programs().adversary, "--tag=" + tag(), "--grow=" + tree, alive_lock()};
  }
  bool runs_strict_here() const {
    return !why_no_pid_namespace(running_as_root() ? User::Root : User::Ordinary);
  }
};

INSTANTIATE_TEST_SUITE_P(At, RemnantsTest, testing::Values("basic", "auto", "strict"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(RemnantsTest, OfEveryKindAreEnded) {
  if (GetParam() == std::string("strict") && !runs_strict_here()) GTEST_SKIP() << "no PID namespace";
  CrashedDaemon daemon(path("records"), tag(), GetParam(), everybody(), server("mixed:10"));
  ASSERT_TRUE(daemon.wait_for_janitor());
  // The kernel ends a namespace whose init is gone; elsewhere nobody is left who would.
  ASSERT_TRUE(GetParam() == std::string("strict") || any_alive());

  const std::vector<registry::Unfinished> unfinished = daemon.unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  const Remnants ended = end_remnants(unfinished.front(), hasty_rules());

  EXPECT_TRUE(ended.settled);
  EXPECT_EQ(ended.why, "");
  EXPECT_FALSE(any_alive());
  EXPECT_TRUE(GetParam() == std::string("strict") || !ended.processes.empty());
  for (const reap::Remnant& remnant : ended.processes) {
    EXPECT_TRUE(remnant.outcome.gone()) << remnant.text;
    EXPECT_THAT(remnant.text, HasSubstr("server victim"));
  }
}

// An `at` job, a terminal or an editor's new window has all of the environment, but not the limits.
TEST_P(RemnantsTest, AProcessThatCopiedTheEnvironmentIsLeftAlone) {
  if (GetParam() == std::string("strict") && !runs_strict_here()) GTEST_SKIP() << "no PID namespace";
  CrashedDaemon daemon(path("records"), tag(), GetParam(), everybody(), server("mixed:10"));
  ASSERT_TRUE(daemon.wait_for_janitor());
  const std::vector<registry::Unfinished> unfinished = daemon.unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  TagGuard copy;
  Launch launch;
  launch.argv = {"/bin/sh", "-c",
                 "setsid " + programs().adversary + " --tag=" + copy.tag() +
                     " --ignore-eof </dev/null >/dev/null 2>&1 &"};
  launch.env = {"CORRAL_INSTANCE=" + unfinished.front().instances.front().id};
  ASSERT_EQ(Session(launch).wait(), 0);
  ASSERT_TRUE(eventually([&] { return find_server(copy.tag()).has_value(); }));

  const Remnants ended = end_remnants(unfinished.front(), hasty_rules());

  EXPECT_FALSE(any_alive());
  ASSERT_EQ(survivors(copy.tag()).size(), 1U);
  bool told = false;
  for (const reap::Remnant& one : ended.processes) told |= one.outcome.kind == Outcome::Kind::NotProved;
  EXPECT_TRUE(told) << "that it may be one";
  end_tagged(copy.tag());
}

class InnocentTest : public OsTest {
 protected:
  Launch with_cookie(const std::string& cookie, const TagGuard& guard) const {
    Launch launch;
    launch.argv = {programs().adversary, "--tag=" + guard.tag()};
    launch.env = {"CORRAL_INSTANCE=" + cookie};
    return launch;
  }
};

TEST_F(InnocentTest, ProcessesThatCarryTheRecordedCookieButAreNotOursToEndAreLeftAlone) {
  TagGuard below;
  TagGuard another;
  CrashedDaemon daemon(path("records"), tag(), "basic", {kTreeStands, false, "djk"},
                       {programs().adversary, "--tag=" + tag(), "--grow=daemons:1"});
  ASSERT_TRUE(daemon.wait_for_janitor());
  const std::vector<registry::Unfinished> unfinished = daemon.unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  const std::string cookie = unfinished.front().instances.front().id;
  Session started_by_us(with_cookie(cookie, below));
  ASSERT_TRUE(started_by_us.ask("pid"));
  Launch stranger = with_cookie(cookie, another);
  stranger.uid = uid_of(User::Ordinary);
  const bool can_be_another = running_as_root();
  Session of_another_user(stranger);
  ASSERT_TRUE(of_another_user.ask("pid"));

  const Remnants ended = end_remnants(unfinished.front(), hasty_rules());

  EXPECT_THAT(survivors(tag()), IsEmpty());
  EXPECT_TRUE(started_by_us.ask("pid"));
  EXPECT_EQ(of_another_user.ask("pid").has_value(), can_be_another);
}

TEST_F(InnocentTest, OfALivingDaemonOnlyTheTreeOfALostKeeperIsEnded) {
  TagGuard neighbour;
  const registry::DaemonRecord self = instance::record_of_this_process("0");
  registry::InstanceRecord lost;
  lost.id = random_hex(16);
  Launch of_it = with_cookie(lost.id, neighbour);
  of_it.argv[1] = "--tag=" + tag();
  Session process(of_it);
  Session other(with_cookie(random_hex(16), neighbour));
  ASSERT_TRUE(process.ask("pid") && other.ask("pid"));

  registry::InstanceRecord held = lost;
  held.keeper = self.process;  // lives
  EXPECT_FALSE(reap::end_instance(self, held, hasty_rules()).settled);
  EXPECT_TRUE(process.ask("pid"));
  EXPECT_TRUE(reap::end_instance(self, lost, hasty_rules()).settled);

  EXPECT_THAT(survivors(tag()), IsEmpty());
  EXPECT_TRUE(other.ask("pid"));
}

TEST_F(InnocentTest, WhatALivingDaemonHasIsLeftAlone) {
  CrashedDaemon daemon(path("records"), tag(), "basic", {}, {"/bin/sleep", "30"});
  ASSERT_TRUE(eventually([&] {
    const auto left = daemon.unfinished();
    return !left.empty() && !left.front().instances.empty() &&
           left.front().instances.front().process.pid != 0;
  }));
  const std::size_t before = processes().size();

  const Remnants ended = end_remnants(daemon.unfinished().front(), hasty_rules());

  EXPECT_FALSE(ended.settled);
  EXPECT_THAT(ended.why, HasSubstr("still running"));
  EXPECT_EQ(processes().size(), before);
}

// ---- numbers that change hands

enum class Rung { Handle, Inode, StartTime };

registry::ProcessFacts facts_at(pid_t pid, Rung rung) {
  registry::ProcessFacts facts = instance::facts_of(UniqueFd(keeper::pidfd_open(pid)).get());
  if (rung != Rung::Handle) facts.handle.clear();
  if (rung == Rung::StartTime) facts.pidfs_inode = 0;
  return facts;
}

enum Answer { AsWished = 0, NoReuse = 2, WrongKill = 3, NotEnded = 4, Broken = 5 };

/// In a process of its own: a process below the one that reconciles is safe anyway.
bool reconcile_in_a_child(const registry::Unfinished& unfinished) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const Remnants ended = end_remnants(unfinished, hasty_rules());
    _exit(ended.why.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

registry::Unfinished record_of_a_dead_daemon(Rung rung) {
  registry::Unfinished unfinished;
  unfinished.daemon = instance::record_of_this_process("0");
  const pid_t dead = fork_as(0);
  unfinished.daemon.process = facts_at(dead, rung);
  end_and_reap(dead);
  registry::InstanceRecord& instance = unfinished.instances.emplace_back();
  instance.id = random_hex(16);
  instance.server = "victim";
  return unfinished;
}

int reuse_a_number(Rung rung) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries; ++i) {
    registry::Unfinished unfinished = record_of_a_dead_daemon(rung);
    const pid_t victim = fork_as(0);
    unfinished.instances.front().keeper = facts_at(victim, rung);
    unfinished.instances.front().process = facts_at(victim, rung);
    end_and_reap(victim);
    const pid_t innocent = fork_as(victim);
    if (innocent < 0) return NoReuse;
    if (!reconcile_in_a_child(unfinished)) return Broken;
    if (!runs(innocent)) return WrongKill;
    end_and_reap(innocent);
  }
  return AsWished;
}

/// The other half of the claim: without a new owner of the number, the process is ended; unless nothing
/// proves it.
int keep_a_number(Rung rung) {
  registry::Unfinished unfinished = record_of_a_dead_daemon(rung);
  const pid_t victim = fork_as(0);
  unfinished.instances.front().process = facts_at(victim, rung);
  if (!reconcile_in_a_child(unfinished)) return Broken;
  const bool ended = !runs(victim);
  if (!ended) end_and_reap(victim);
  return ended == (rung != Rung::StartTime) ? AsWished : NotEnded;
}

class RecycledNumber : public testing::TestWithParam<Rung> {
 protected:
  void SetUp() override {
    const User user = running_as_root() ? User::Root : User::Ordinary;
    if (const auto reason = why_no_pid_namespace(user)) GTEST_SKIP() << *reason;
  }
  static int in_namespace(const std::function<int()>& body) {
    return in_small_namespace(running_as_root() ? User::Root : User::Ordinary, body);
  }
};

INSTANTIATE_TEST_SUITE_P(By, RecycledNumber, testing::Values(Rung::Handle, Rung::Inode, Rung::StartTime),
                         [](const auto& test) {
                           return std::string(test.param == Rung::Handle  ? "Handle"
                                              : test.param == Rung::Inode ? "Inode"
                                                                          : "StartTime");
                         });

TEST_P(RecycledNumber, NeverLeadsToAWrongKill) {
  EXPECT_EQ(in_namespace([] { return reuse_a_number(GetParam()); }), AsWished);
}

TEST_P(RecycledNumber, IsNeededToSurvive) {
  EXPECT_EQ(in_namespace([] { return keep_a_number(GetParam()); }), AsWished);
}

}  // namespace
}  // namespace corral::os_tests
