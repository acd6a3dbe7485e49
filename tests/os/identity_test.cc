// The identity of a process, when its pid is not enough.
#include "proc/identity.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/kernel.h"

namespace corral::proc {
namespace {

/// A child that waits to be killed, for a minute at most.
class SleepingChild {
 public:
  SleepingChild() : pid_(fork()) {
    if (pid_ == 0) {
      alarm(60);
      for (;;) pause();
    }
    pidfd_ = UniqueFd(keeper::pidfd_open(pid_));
  }
  SleepingChild(const SleepingChild&) = delete;
  SleepingChild& operator=(const SleepingChild&) = delete;
  ~SleepingChild() { end(); }

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
  UniqueFd pidfd_;
};

TEST(Identity, NamesBootAndProcess) {
  const SleepingChild child;

  const Result<Identity> identity = identify(child.pidfd());

  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->pid, child.pid());
  EXPECT_EQ(identity->uid, getuid());
  EXPECT_EQ(identity->boot_id.size(), 36U);
  EXPECT_GT(identity->start_ticks, 0U);
}

TEST(Identity, WithoutAFreeDescriptorItIsNotKnownWhetherAProcessLives) {
  SleepingChild child;
  const Identity identity = *identify(child.pidfd());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};

  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const Whereabouts hidden = look_for(identity);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const Whereabouts there = look_for(identity);
  child.end();
  const Whereabouts gone = look_for(identity);

  EXPECT_FALSE(hidden.known);
  EXPECT_FALSE(hidden.process);
  EXPECT_TRUE(there.known && there.process);
  EXPECT_TRUE(gone.known);
  EXPECT_FALSE(gone.process);
}

TEST(Identity, IsTheSameEachTimeAndAnotherForAnother) {
  const SleepingChild one;
  const SleepingChild two;

  EXPECT_EQ(*identify(one.pidfd()), *identify(one.pidfd()));
  EXPECT_NE(*identify(one.pidfd()), *identify(two.pidfd()));
}

/// Each rung of the ladder: what newer kernels add is taken away.
class IdentityRung : public testing::TestWithParam<const char*> {
 protected:
  static Identity cut_down(Identity identity) {
    const std::string rung = GetParam();
    if (rung != "handle") identity.handle.clear();
    if (rung == "start") identity.pidfs_inode = 0;
    return identity;
  }
};

TEST_P(IdentityRung, ReopensTheSameProcess) {
  const SleepingChild child;
  const Identity identity = cut_down(*identify(child.pidfd()));

  const std::optional<UniqueFd> again = reopen(identity);

  ASSERT_TRUE(again);
  EXPECT_EQ(identify(again->get())->pid, child.pid());
  EXPECT_EQ(keeper::pidfd_send_signal(again->get(), 0), 0);
}

TEST_P(IdentityRung, FindsNothingOnceTheProcessIsGone) {
  SleepingChild child;
  const Identity identity = cut_down(*identify(child.pidfd()));

  child.end();

  EXPECT_FALSE(reopen(identity));
}

TEST_P(IdentityRung, NeverOpensAnotherProcessOfTheSamePid) {
  const SleepingChild former;
  const SleepingChild present;
  Identity identity = cut_down(*identify(former.pidfd()));
  identity.pid = present.pid();  // as if the number had been given away
  identity.start_ticks -= 1;     // the last rung has nothing but the time to tell them apart

  const std::optional<UniqueFd> opened = reopen(identity);

  // A handle leads to the process that was meant, whatever the number says; the others must find nobody.
  if (opened) {
    EXPECT_EQ(identify(opened->get())->pid, former.pid());
  }
  if (std::string(GetParam()) != "handle") {
    EXPECT_FALSE(opened);
  }
}

TEST_P(IdentityRung, MeansNothingAfterAReboot) {
  const SleepingChild child;
  Identity identity = cut_down(*identify(child.pidfd()));

  identity.boot_id = "00000000-0000-0000-0000-000000000000";

  EXPECT_FALSE(reopen(identity));
}

INSTANTIATE_TEST_SUITE_P(Ladder, IdentityRung, testing::Values("handle", "inode", "start"),
                         [](const auto& rung) { return std::string(rung.param); });

}  // namespace
}  // namespace corral::proc
