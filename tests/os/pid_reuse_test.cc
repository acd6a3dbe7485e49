// A pid that changes hands between the look and the signal. In a small PID namespace the test
// decides who gets which number (ns_last_pid), so what takes years of bad luck elsewhere happens here two
// hundred times in a row.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "keeper/kernel.h"
#include "reap/end_trees.h"
#include "support/platform.h"
#include "support/small_namespace.h"

namespace corral::reap {
namespace {

using os_tests::end_and_reap;
using os_tests::fork_as;
using os_tests::in_small_namespace;
using os_tests::let_a_tick_pass;
using os_tests::runs;
using os_tests::User;

constexpr int kTries = 200;

/// What newer kernels know of a process is taken away.
enum class Rung { Handle, Inode, StartTime };

survey::Server record_of(pid_t pid, Rung rung) {
  survey::Server server;
  server.pid = pid;
  server.tree = {pid};
  server.uid = geteuid();
  server.identities = {*proc::identify(UniqueFd(keeper::pidfd_open(pid)).get())};
  proc::Identity& identity = server.identities.front();
  if (rung != Rung::Handle) identity.handle.clear();
  if (rung == Rung::StartTime) identity.pidfs_inode = 0;
  return server;
}

constexpr Graces kShort{std::chrono::milliseconds(50), std::chrono::milliseconds(50)};

/// Exit codes of what runs in the namespace.
enum Verdict { Proved = 0, NoReuse = 2, WrongKill = 3, WrongOutcome = 4, NeverDifferent = 5 };

/// One victim after the other is looked at, ended and followed by an innocent with its number.
int reuse_numbers(Rung rung, const std::function<void()>& between) {
  for (int i = 0; i < kTries; ++i) {
    const pid_t victim = fork_as(0);
    const survey::Server record = record_of(victim, rung);
    end_and_reap(victim);
    between();
    const pid_t innocent = fork_as(victim);
    if (innocent < 0) return NoReuse;
    const std::vector<EndedTree> ended = end_trees({&record}, kShort);
    if (!runs(innocent)) return WrongKill;
    end_and_reap(innocent);
    const bool right = ended.size() == 1 && ended.front().outcomes.size() == 1 &&
                       ended.front().outcomes.front().kind == Outcome::Kind::AlreadyGone &&
                       ended.front().outcomes.front().signal == 0;
    if (!right) return WrongOutcome;
  }
  return Proved;
}

class PidReuse : public testing::TestWithParam<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::Root && !os_tests::running_as_root()) GTEST_SKIP() << "needs root";
    if (const auto reason = os_tests::why_no_pid_namespace(GetParam())) GTEST_SKIP() << *reason;
  }
};

INSTANTIATE_TEST_SUITE_P(As, PidReuse, testing::Values(User::Root, User::Ordinary),
                         [](const auto& test) { return std::string(os_tests::name(test.param)); });

TEST_P(PidReuse, EndsNoInnocentInTwoHundredTries) {
  EXPECT_EQ(in_small_namespace(GetParam(), [] { return reuse_numbers(Rung::Handle, [] {}); }), Proved);
}

TEST_P(PidReuse, EndsNoInnocentByInodeAlone) {  // Linux 6.9 to 6.13
  EXPECT_EQ(in_small_namespace(GetParam(), [] { return reuse_numbers(Rung::Inode, [] {}); }), Proved);
}

// Before Linux 6.9 there is only the start time, in ticks of 10 ms. A number that comes back in another tick
// is told apart; the kernel needs longer than that to hand out all numbers once, unless somebody asks for one
// by name, as here.
TEST_P(PidReuse, EndsNoInnocentByStartTimeOnceATickHasPassed) {
  EXPECT_EQ(in_small_namespace(GetParam(), [] { return reuse_numbers(Rung::StartTime, let_a_tick_pass); }),
            Proved);
}

// And what is *not* proved: within one tick, same number, same user, no pidfs. Such a pair cannot be told
// apart, so this test only pins down that the start time is what is compared, and that the pair really was
// one.
TEST_P(PidReuse, WithoutPidfsTellsApartExactlyThoseOfDifferentTicks) {
  const auto compare = [] {
    int apart = 0;
    for (int i = 0; i < 20; ++i) {
      const pid_t first = fork_as(0);
      const proc::Identity before = record_of(first, Rung::StartTime).identities.front();
      end_and_reap(first);
      if (i % 2 == 0) let_a_tick_pass();
      const pid_t second = fork_as(first);
      if (second < 0) return NoReuse;
      const proc::Identity after = record_of(second, Rung::StartTime).identities.front();
      const bool reopened = proc::reopen(before).has_value();
      end_and_reap(second);
      if (reopened != (before.start_ticks == after.start_ticks)) return WrongOutcome;
      apart += reopened ? 0 : 1;
    }
    return apart >= 10 ? Proved : NeverDifferent;
  };

  EXPECT_EQ(in_small_namespace(GetParam(), compare), Proved);
}

/// A tree of which one member is gone and replaced: the rest is ended, the stranger is not.
TEST_P(PidReuse, EndsTheRestOfATreeAndNotTheStrangerInIt) {
  const auto body = [] {
    const pid_t victim = fork_as(0);
    const pid_t other = fork_as(0);
    survey::Server record = record_of(other, Rung::Handle);
    const survey::Server gone = record_of(victim, Rung::Handle);
    record.tree.push_back(victim);
    record.identities.push_back(gone.identities.front());
    end_and_reap(victim);
    const pid_t innocent = fork_as(victim);
    if (innocent < 0) return NoReuse;
    end_trees({&record}, kShort);
    const bool right = runs(innocent) && !runs(other);
    end_and_reap(innocent);
    return right ? Proved : WrongKill;
  };

  EXPECT_EQ(in_small_namespace(GetParam(), body), Proved);
}

}  // namespace
}  // namespace corral::reap
