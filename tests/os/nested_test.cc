// A gateway behind `corral run` whose own backends are behind `corral run`, too. The outer one must not end
// the inner ones before they have done what belongs to their end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class Nested : public OsTest, public testing::WithParamInterface<Level> {
 protected:
  // The gateway is a relay_client: it leaves when its input ends, and its backend with it.
  std::vector<std::string> gateway(const std::vector<std::string>& inner_options,
                                   const std::vector<std::string>& backend = {}) const {
    std::vector<std::string> words = {programs().relay_client, programs().corral, "run"};
    words.insert(words.end(), inner_options.begin(), inner_options.end());
    words.insert(words.end(), {"--", programs().adversary, "--tag=" + tag()});
    words.insert(words.end(), backend.begin(), backend.end());
    return words;
  }

  // Takes longer than any grace of the outer one.
  std::vector<std::string> slow_end() const { return {"--on-stop", "sleep 2; echo done > " + path("noted")}; }

  // The keepers of this test; the inner one is not a child of `outer`.
  std::optional<Process> inner_keeper(pid_t outer_keeper) const {
    for (const Process& one : processes()) {
      if (one.comm == "corral-keeper" && one.pid != outer_keeper) return one;
    }
    return std::nullopt;
  }
};

INSTANTIATE_TEST_SUITE_P(At, Nested, testing::Values(Level::Auto, Level::Basic, Level::Strict),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST_P(Nested, EndsOfTheInnerOneAreFinished) {
  const User user = running_as_root() ? User::Root : User::Ordinary;
  if (const auto reason = why_not_here({GetParam(), user})) GTEST_SKIP() << *reason;
  Session session(
      corral({.level = GetParam(), .user = user, .command = gateway(slow_end(), {"--ignore-eof"})}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_TRUE(session.wait()) << errors();
  EXPECT_EQ(file("noted"), "done\n") << errors();
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

TEST_P(Nested, EndsOfTheInnerOneAreFinishedWhenTheGatewayIsKilled) {
  const User user = running_as_root() ? User::Root : User::Ordinary;
  if (const auto reason = why_not_here({GetParam(), user})) GTEST_SKIP() << *reason;
  Session session(
      corral({.level = GetParam(), .user = user, .command = gateway(slow_end(), {"--ignore-eof"})}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto all = processes();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Process& one) { return one.comm == "relay-client"; });
  ASSERT_NE(found, all.end());

  ASSERT_TRUE(kill_now(found->pid));

  EXPECT_TRUE(session.wait()) << errors();
  EXPECT_EQ(file("noted"), "done\n") << errors();
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// The backend leaves by itself, so that what belongs to its end runs when the outer one asks everybody to
// end.
TEST_P(Nested, EndsOfTheInnerOneAreNotCutOff) {
  const User user = running_as_root() ? User::Root : User::Ordinary;
  if (const auto reason = why_not_here({GetParam(), user})) GTEST_SKIP() << *reason;
  const std::vector<std::string> slow = {
      "--on-stop", "echo begun > " + path("begun") + "; sleep 2.5; echo done > " + path("noted")};
  Session session(corral({.level = GetParam(), .user = user, .command = gateway(slow, {})}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();
  ASSERT_TRUE(eventually([this] { return file("begun") == "begun\n"; })) << errors();

  EXPECT_TRUE(session.wait()) << errors();
  EXPECT_EQ(file("noted"), "done\n") << errors();
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

class NestedLoss : public Nested {
 protected:
  // As a debugger does: it does not run, and SIGCONT does not help.
  static bool hold(pid_t pid) {
    return ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 &&
           ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr) == 0 && waitpid(pid, nullptr, __WALL) == pid;
  }

  // Its parent hears of the death only when its tracer has.
  static bool is_killed(pid_t pid) {
    int status = 0;
    const bool killed =
        eventually([&] { return waitpid(pid, &status, WNOHANG | __WALL) == pid && WIFSIGNALED(status); });
    if (!killed) ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
    return killed;
  }

  // A shell that started something for itself and then became corral.
  Launch after_a_job(Launch launch) const {
    launch.argv.insert(launch.argv.begin(), {"/bin/sh", "-c",
                                             "env -u CORRAL_TEST_TAG sleep 50 </dev/null >/dev/null 2>&1 & "
                                             "echo $! >" +
                                                 path("job") + "; exec \"$@\"",
                                             "shell"});
    return launch;
  }

  pid_t job() const {
    eventually([this] { return file("job").ends_with('\n'); });
    return std::atoi(file("job").c_str());
  }

  bool job_lives() const {
    const auto process = process_by_pid(job());
    return process && process->state != 'Z';
  }

  // It carries no tag, so that corral takes it for a stranger's: nobody else would end it.
  void TearDown() override {
    if (!file("job").empty() && job_lives()) kill(job(), SIGKILL);
    Nested::TearDown();
  }
};

TEST_F(NestedLoss, OfTheOuterKeeperLetsTheInnerOneFinish) {
  Session session(corral({.command = gateway(slow_end(), {"--ignore-eof"})}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);

  ASSERT_TRUE(kill_now(keeper->pid));

  EXPECT_EQ(session.wait(), 125) << errors();
  EXPECT_EQ(file("noted"), "done\n") << errors();
  EXPECT_EQ(report().reason, "keeper-lost");
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// An inner keeper that never finishes is ended when its time is over, with its tree.
TEST_F(NestedLoss, DoesNotWaitForAnInnerKeeperWithoutEnd) {
  Session session(corral({.command = gateway({}, {"--grow=daemons:3"})}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);
  const auto inner = inner_keeper(keeper->pid);
  ASSERT_TRUE(inner);
  if (!hold(inner->pid)) GTEST_SKIP() << "nobody may be traced here";

  ASSERT_TRUE(kill_now(keeper->pid));

  EXPECT_TRUE(is_killed(inner->pid));
  EXPECT_EQ(session.wait(), 125) << errors();
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// The servers of the inner one carry its marks, not ours. A shell that had children before it became corral
// makes marks count; then they must be told by those of their keeper.
TEST_F(NestedLoss, ProvesNothingWhileServersOfTheInnerOneLive) {
  Session session(after_a_job(corral({.command = gateway({}, {"--grow=daemons:3"})})));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  ASSERT_TRUE(job_lives());
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);
  const auto inner = inner_keeper(keeper->pid);
  ASSERT_TRUE(inner);
  if (!hold(inner->pid)) GTEST_SKIP() << "nobody may be traced here";

  ASSERT_TRUE(kill_now(keeper->pid));

  EXPECT_TRUE(is_killed(inner->pid));
  EXPECT_EQ(session.wait(), 125) << errors();
  EXPECT_TRUE(survivors(tag()).empty()) << testing::PrintToString(processes());
  expect_clean(report());
  EXPECT_TRUE(job_lives()) << "it was ended, but is not part of the tree";
  end_tagged(tag());
}

// Nobody is left who could tell whose they are. They are left alone, and nothing is called proved.
TEST_F(NestedLoss, DoubtsServersWhoseKeepersWereGoneBefore) {
  Session session(after_a_job(corral({.command = gateway({}, {"--ignore-eof"})})));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  ASSERT_TRUE(job_lives());
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);
  const auto inner = inner_keeper(keeper->pid);
  ASSERT_TRUE(inner);
  const auto server = find_server(tag());
  ASSERT_TRUE(server);

  // All of them stand still first: each would do the work of another.
  for (const pid_t pid : {session.pid(), inner->parent, inner->pid}) ASSERT_EQ(kill(pid, SIGSTOP), 0);
  for (const pid_t pid : {keeper->pid, inner->parent, inner->pid}) {
    kill_now(pid);
    ASSERT_TRUE(eventually([pid] {
      const auto process = process_by_pid(pid);
      return !process || process->state == 'Z';
    }));
  }
  ASSERT_EQ(kill(session.pid(), SIGCONT), 0);

  EXPECT_EQ(session.wait(), 125) << errors();
  const Report result = report();
  EXPECT_TRUE(result.leaked);
  EXPECT_EQ(result.proof, "none");
  ASSERT_EQ(result.survivors.size(), 1U);
  EXPECT_EQ(result.survivors[0].pid, server->pid);
  EXPECT_TRUE(job_lives()) << "it was ended, but is not part of the tree";
  end_tagged(tag());
}

}  // namespace
}  // namespace corral::os_tests
