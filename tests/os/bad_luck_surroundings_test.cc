// Odd places to be started in: descriptors closed, no /proc, pid 1, no terminal, no parent.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using ClosedDescriptor = OsTest;

TEST_F(ClosedDescriptor, ZeroIsRefused) {
  Launch launch = corral({});
  launch.in = Stdio::Closed;
  Session session(launch);

  EXPECT_EQ(session.wait(), 125);
  EXPECT_NE(errors().find("stdin"), std::string::npos) << errors();
  EXPECT_NE(errors().find("closed"), std::string::npos) << errors();
}

TEST_F(ClosedDescriptor, OneIsRefused) {
  Launch launch = corral({});
  launch.out = Stdio::Closed;
  Session session(launch);

  EXPECT_EQ(session.wait(), 125);
  EXPECT_NE(errors().find("stdout"), std::string::npos) << errors();
  EXPECT_NE(errors().find("closed"), std::string::npos) << errors();
}

TEST_F(ClosedDescriptor, TwoDoesNotPreventASession) {
  Launch launch = corral({.options = {"-v"}, .server = {"--grow=daemons:3"}});
  launch.stderr_path.clear();
  Session session(launch);
  EXPECT_EQ(session.ask("echo", "ready"), "ready");
  EXPECT_EQ(session.ask("fds"), "0 1 2");  // never one of our files where stderr should be

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  expect_clean(report());
}

TEST_F(ClosedDescriptor, AllThreeAreRefusedInSilence) {
  Launch launch = corral({});
  launch.in = launch.out = Stdio::Closed;
  launch.stderr_path.clear();
  Session session(launch);

  EXPECT_EQ(session.wait(), 125);
}

// The mount happens in a namespace that only the program under test sees.
std::function<void()> with_proc_replaced(const char* kind, const char* options) {
  return [kind, options] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount(kind, "/proc", kind, 0, options) != 0) {
      _exit(96);
    }
  };
}

class StrangeProc : public OsTest, public testing::WithParamInterface<Setting> {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root to mount";
    if (!may_mount())
      GTEST_SKIP() << "this root may not mount in a namespace of its own (a chroot, a container)";
  }

  static bool may_mount() {
    const pid_t probe = fork();
    if (probe == 0) {
      with_proc_replaced("tmpfs", nullptr)();
      _exit(0);
    }
    int status = 0;
    return waitpid(probe, &status, 0) == probe && status == 0;
  }
};

INSTANTIATE_TEST_SUITE_P(Each, StrangeProc,
                         testing::Values(Setting{Level::Auto, User::Root},
                                         Setting{Level::Auto, User::Ordinary},
                                         Setting{Level::Basic, User::Ordinary}),
                         [](const auto& test) { return name(test.param); });

TEST_P(StrangeProc, NotMountedIsRefused) {
  if (kSanitized) GTEST_SKIP() << "the runtime of the sanitizers itself needs /proc";
  Launch launch = corral({.level = GetParam().level, .user = GetParam().user});
  launch.before_exec = with_proc_replaced("tmpfs", nullptr);
  Session session(launch);

  EXPECT_EQ(session.wait(), 125);
  EXPECT_NE(errors().find("/proc is not mounted"), std::string::npos) << errors();
  EXPECT_NE(errors().find("mount -t proc"), std::string::npos) << errors();
  EXPECT_EQ(session.output_to_end(), "");
}

TEST_P(StrangeProc, HiddenProcessesOfOthersAreNoObstacle) {
  Launch launch = corral({.level = GetParam().level, .user = GetParam().user, .server = {"--grow=mixed:18"}});
  launch.before_exec = with_proc_replaced("proc", "hidepid=2");
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

// The first process of a container: nobody above it, and signals that it does not handle are lost.
class PidOne : public OsTest {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root to make a PID namespace";
  }

  Launch first_process(const RunLine& line) const {
    Launch launch = corral(line);
    launch.before_exec = [] {
      if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) _exit(96);
      const pid_t first = fork();
      if (first == 0) {
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        if (mount("proc", "/proc", "proc", 0, nullptr) != 0) _exit(96);
        return;
      }
      close_range(0, ~0U, 0);
      alarm(60);
      int status = 0;
      waitpid(first, &status, 0);
      _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    };
    return launch;
  }
};

TEST_F(PidOne, EndsWithItsStdin) {
  Session session(first_process({.user = User::Root, .server = {"--grow=mixed:18", "--exit-code=4"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 4);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

TEST_F(PidOne, EndsWithItsStdinAsAnOrdinaryUserToo) {
  Session session(first_process({.server = {"--grow=mixed:18", "--exit-code=4"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 4);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

TEST_F(PidOne, ObeysASignal) {
  Session session(first_process({.server = {"--grow=daemons:5"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  pid_t outer = 0;
  for (const Process& process : processes()) {
    if (process.parent == session.pid()) outer = process.pid;
  }

  ASSERT_EQ(kill(outer, SIGTERM), 0);

  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  EXPECT_EQ(report().reason, "signal");
  expect_clean(report());
}

using Surroundings = OsTest;

TEST_F(Surroundings, WithoutAControllingTerminalAllIsWell) {
  Launch launch = corral({.server = {"--grow=daemons:3"}});
  launch.before_exec = [] { setsid(); };
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  expect_clean(report());
}

TEST_F(Surroundings, AParentThatIgnoresSigchldCostsNeitherTheExitCodeNorTheTree) {
  Launch launch = corral({.server = {"--grow=mixed:18", "--exit-code=6"}});
  launch.before_exec = [] { signal(SIGCHLD, SIG_IGN); };
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 6);
  EXPECT_EQ(report().exit_code, 6);
  expect_clean(report());
}

// The real starter is gone before corral looks; the process that adopts orphans (here: the test) is the
// parent.
class OrphanAtStart : public OsTest {
 protected:
  void SetUp() override { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  void TearDown() override { prctl(PR_SET_CHILD_SUBREAPER, 0); }

  Launch orphan(const RunLine& line) const {
    Launch launch = corral(line);
    launch.before_exec = [] {
      setsid();
      const pid_t starter = getpid();
      if (fork() != 0) _exit(0);
      while (getppid() == starter) usleep(1000);
    };
    return launch;
  }

  std::optional<int> exit_code_of_the_orphan() const {
    int status = 0;
    if (!eventually([&] { return waitpid(-1, &status, WNOHANG) > 0; })) return std::nullopt;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
};

TEST_F(OrphanAtStart, WithoutAPipeIsRefused) {
  Launch launch = orphan({});
  launch.in = Stdio::Null;
  Session starter(launch);
  ASSERT_EQ(starter.wait(), 0);

  EXPECT_EQ(exit_code_of_the_orphan(), 125);
  EXPECT_NE(errors().find("already exited"), std::string::npos) << errors();
  EXPECT_NE(errors().find("--detached"), std::string::npos) << errors();
  EXPECT_TRUE(all_gone());
}

TEST_F(OrphanAtStart, WithAPipeRunsUntilItHangsUp) {
  Session starter(orphan({.server = {"--grow=mixed:18"}}));
  ASSERT_EQ(starter.wait(), 0);
  ASSERT_EQ(starter.ask("echo", "ready"), "ready") << errors();
  EXPECT_EQ(starter.ask("block", "1200"), "unblocked");  // longer than a vanished client is given

  starter.close_stdin();

  EXPECT_EQ(exit_code_of_the_orphan(), 0);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

TEST_F(OrphanAtStart, DetachedRunsWithoutAPipe) {
  Launch launch = orphan({.options = {"--detached"}, .server = {"--exit-code=0"}});
  launch.in = Stdio::Null;
  Session starter(launch);
  ASSERT_EQ(starter.wait(), 0);

  EXPECT_EQ(exit_code_of_the_orphan(), 0)
      << errors();  // /dev/null is at its end, so the server goes by itself
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(report().exit_code, 0);
}

}  // namespace
}  // namespace corral::os_tests
