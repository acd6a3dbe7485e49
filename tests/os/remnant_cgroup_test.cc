// The cgroup of an instance that a killed daemon has left: it is killed as one only if nobody in it is to be
// spared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "reap/remnants.h"
#include "support/crashed_daemon.h"
#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using reap::Outcome;
using reap::Remnants;
using testing::HasSubstr;
using testing::Not;

constexpr int kTreeStands = 4;

class RemnantCgroup : public OsTest {
 protected:
  std::unique_ptr<CrashedDaemon> crash(const std::vector<std::string>& server) const {
    auto daemon = std::make_unique<CrashedDaemon>(path("records"), tag(), "auto",
                                                  CrashedDaemon::Blow{kTreeStands, false, "djk"}, server);
    EXPECT_TRUE(daemon->wait_for_janitor());
    return daemon;
  }

  static bool has_cgroup(const registry::Unfinished& unfinished) {
    return !unfinished.instances.empty() && !unfinished.instances.front().cgroup.empty();
  }

  // A piece of a shell's script: waits until the last job has become this program.
  static std::string until_it_is(const std::string& comm) {
    return "until grep -qx " + comm + " /proc/$!/comm; do sleep 0.02; done; ";
  }

  static std::string texts(const Remnants& remnants) {
    std::string all = remnants.why;
    for (const reap::Remnant& one : remnants.processes) all += one.text + "\n";
    return all;
  }

  static const reap::Remnant* about(const Remnants& remnants, pid_t pid) {
    const auto found = std::find_if(remnants.processes.begin(), remnants.processes.end(),
                                    [pid](const reap::Remnant& one) { return one.outcome.pid == pid; });
    return found == remnants.processes.end() ? nullptr : &*found;
  }
};

TEST_F(RemnantCgroup, IsNotKilledWhileSomebodyInItIsDebugged) {
  const auto daemon = crash({programs().adversary, "--tag=" + tag(), "--grow=daemons:3", "--ignore-eof"});
  const auto unfinished = daemon->unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  if (!has_cgroup(unfinished.front())) {
    end_tagged(tag());
    GTEST_SKIP() << "no cgroup v2 of our own here";
  }
  const pid_t debugged = find_server(tag()).value().pid;
  if (ptrace(PTRACE_SEIZE, debugged, nullptr, nullptr) != 0) {
    end_tagged(tag());
    GTEST_SKIP() << "nobody may be traced here";
  }

  const Remnants ended = end_remnants(unfinished.front(), hasty_rules());

  EXPECT_FALSE(ended.settled);
  const auto left = survivors(tag());
  ASSERT_EQ(left.size(), 1U) << testing::PrintToString(left);
  EXPECT_EQ(left.front().pid, debugged);
  ASSERT_NE(about(ended, debugged), nullptr);
  EXPECT_EQ(about(ended, debugged)->outcome.kind, Outcome::Kind::Debugged);
  EXPECT_THAT(about(ended, debugged)->text, HasSubstr("is being debugged and was left alone"));

  ptrace(PTRACE_DETACH, debugged, nullptr, nullptr);  // refused while it runs; it ends with the next search
  kill(debugged, SIGKILL);
  waitpid(debugged, nullptr, __WALL);
  EXPECT_TRUE(eventually([&] { return daemon->reconcile(); }));
}

// Without any mark it is ended because of its cgroup alone, and nobody has asked it before.
TEST_F(RemnantCgroup, IsToldAsWhatEndedAProcessWithoutMarks) {
  const auto daemon = crash({"/bin/sh", "-c",
                             "read line; env -i CORRAL_TEST_TAG=" + tag() +
                                 " prlimit --rttime=1000:1000 sleep 50 </dev/null >/dev/null 2>&1 & " +
                                 until_it_is("sleep") + "echo up; exec sleep 50"});
  const auto unfinished = daemon->unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  const auto all = processes();
  if (!has_cgroup(unfinished.front()) || all.empty()) {
    end_tagged(tag());
    GTEST_SKIP() << "no cgroup v2 of our own here";
  }

  reap::RemnantRules rules = hasty_rules();
  rules.graces.term = std::chrono::seconds(15);  // so that a busy machine makes nobody look stubborn

  const Remnants ended = end_remnants(unfinished.front(), rules);

  EXPECT_TRUE(ended.settled) << texts(ended);
  EXPECT_TRUE(survivors(tag()).empty());
  bool by_cgroup = false;
  for (const reap::Remnant& one : ended.processes) {
    SCOPED_TRACE(one.text);
    EXPECT_THAT(one.text, Not(HasSubstr("did not exit after SIGTERM")));
    by_cgroup = by_cgroup || one.text.find("in the cgroup of") != std::string::npos;
  }
  EXPECT_TRUE(by_cgroup) << texts(ended);
}

// A corral inside the server: its keeper ends its own servers, and does what belongs to their end.
TEST_F(RemnantCgroup, IsNotKilledWhileAKeeperInItFinishes) {
  const auto daemon =
      crash({programs().corral, "run", "--on-stop", "sleep 1; echo done > " + path("noted"), "--",
             programs().adversary, "--tag=" + tag(), "--ignore-eof", "--grow=daemons:2"});
  const auto unfinished = daemon->unfinished();
  ASSERT_EQ(unfinished.size(), 1U);

  const Remnants ended = end_remnants(unfinished.front(), hasty_rules());

  EXPECT_TRUE(ended.settled);
  EXPECT_TRUE(survivors(tag()).empty()) << testing::PrintToString(processes());
  EXPECT_EQ(file("noted"), "done\n");
  EXPECT_TRUE(eventually([&] { return daemon->reconcile(); }));
}

// Such a keeper has a cookie of its own, so it is none of those whom the search has found and woken.
TEST_F(RemnantCgroup, WakesAStoppedKeeperInIt) {
  const auto daemon = crash({programs().corral, "run", "--on-stop", "echo done > " + path("noted"), "--",
                             programs().adversary, "--tag=" + tag(), "--ignore-eof"});
  const auto unfinished = daemon->unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  if (!has_cgroup(unfinished.front())) {
    end_tagged(tag());
    GTEST_SKIP() << "no cgroup v2 of our own here";
  }
  const auto all = processes();
  const auto keeper = std::find_if(all.begin(), all.end(),
                                   [](const Process& process) { return process.comm == "corral-keeper"; });
  ASSERT_NE(keeper, all.end()) << testing::PrintToString(all);
  // While its owner runs, that one would wake it.
  ASSERT_EQ(kill(keeper->parent, SIGSTOP), 0);
  ASSERT_EQ(kill(keeper->pid, SIGSTOP), 0);
  ASSERT_EQ(kill(keeper->parent, SIGKILL), 0);

  const Remnants ended = end_remnants(unfinished.front(), hasty_rules());

  EXPECT_TRUE(ended.settled) << texts(ended);
  EXPECT_TRUE(survivors(tag()).empty()) << testing::PrintToString(processes());
  EXPECT_EQ(file("noted"), "done\n");
}

// Any program can look like a keeper, and have a cookie of its own.
TEST_F(RemnantCgroup, IsKilledWhenWhatLooksLikeAKeeperHasHadItsTime) {
  std::filesystem::copy_file("/bin/sleep", path("corral-keeper"));
  const auto daemon = crash({"/bin/sh", "-c",
                             "read line; CORRAL_INSTANCE=fedcba9876543210fedcba9876543210 " +
                                 path("corral-keeper") + " 50 </dev/null >/dev/null 2>&1 & " +
                                 until_it_is("corral-keeper") + "echo up; exec sleep 50"});
  const auto unfinished = daemon->unfinished();
  ASSERT_EQ(unfinished.size(), 1U);
  if (!has_cgroup(unfinished.front())) {
    end_tagged(tag());
    GTEST_SKIP() << "no cgroup v2 of our own here";
  }
  ASSERT_FALSE(survivors(tag()).empty());
  reap::RemnantRules rules = hasty_rules();
  rules.keepers = std::chrono::milliseconds(300);

  const Remnants ended = end_remnants(unfinished.front(), rules);

  EXPECT_TRUE(ended.settled) << texts(ended);
  EXPECT_TRUE(survivors(tag()).empty()) << testing::PrintToString(processes());
  end_tagged(tag());
}

}  // namespace
}  // namespace corral::os_tests
