// Kernels that lack a call, and containers whose seccomp filter answers as if they did: Docker's default one
// knows no clone3 without CAP_SYS_ADMIN.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "support/os_test.h"

namespace corral::os_tests {
namespace {

/// From now on, and for everything started from here, the call does not exist.
std::function<void()> without(unsigned call) {
  return [call] {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{4, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
      _exit(96);
    }
  };
}

class OldKernel : public OsTest, public testing::WithParamInterface<Setting> {
 protected:
  void SetUp() override {
    if (const auto reason = why_not_here(GetParam())) GTEST_SKIP() << *reason;
  }
  Launch corral_without(unsigned call) const {
    Launch launch =
        corral({.level = GetParam().level, .user = GetParam().user, .server = {"--grow=mixed:18"}});
    launch.before_exec = without(call);
    return launch;
  }
};

INSTANTIATE_TEST_SUITE_P(Each, OldKernel,
                         testing::Values(Setting{Level::Auto, User::Root},
                                         Setting{Level::Basic, User::Ordinary},
                                         Setting{Level::Strict, User::Root},
                                         Setting{Level::Strict, User::Ordinary}),
                         [](const auto& test) { return name(test.param); });

TEST_P(OldKernel, WithoutClone3HoldsTheTreeAllTheSame) {
  Session session(corral_without(SYS_clone3));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

TEST_P(OldKernel, WithoutCloseRangeLeaksNoDescriptor) {
  Session session(corral_without(SYS_close_range));

  EXPECT_EQ(session.ask("fds"), "0 1 2") << errors();
}

TEST_P(OldKernel, WithoutPidfdsStillSeesTheEnd) {
  Session session(corral_without(SYS_pidfd_open));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

}  // namespace
}  // namespace corral::os_tests
