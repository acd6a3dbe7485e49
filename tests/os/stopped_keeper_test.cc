// A keeper that does not run: stopped by a signal, or held by a debugger. `corral run` must end all the same.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class StoppedKeeper : public OsTest {
 protected:
  Launch with_short_graces() const {
    return corral({.options = {"--stdin-grace", "100ms", "--term-grace", "100ms", "--kill-grace", "500ms"},
                   .server = {"--ignore-eof"}});
  }
};

TEST_F(StoppedKeeper, HearsOfTheEndOfInput) {
  Session session(with_short_graces());
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);

  ASSERT_EQ(kill(keeper->pid, SIGSTOP), 0);
  session.close_stdin();

  EXPECT_TRUE(session.wait()) << errors();
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

TEST_F(StoppedKeeper, HearsOfASignalToTheOuter) {
  Session session(with_short_graces());
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);

  ASSERT_EQ(kill(keeper->pid, SIGSTOP), 0);
  ASSERT_EQ(kill(session.pid(), SIGTERM), 0);

  EXPECT_TRUE(session.wait()) << errors();
  EXPECT_EQ(report().reason, "signal");
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// SIGCONT does not help here. After the time that its work may take the keeper is killed, and its work is
// done by the outer.
TEST_F(StoppedKeeper, ThatCannotGoOnIsReplacedWhenItsTimeIsOver) {
  Session session(with_short_graces());
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);
  if (ptrace(PTRACE_SEIZE, keeper->pid, nullptr, nullptr) != 0) GTEST_SKIP() << "nobody may be traced here";
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, keeper->pid, nullptr, nullptr), 0);
  int status = 0;
  ASSERT_EQ(waitpid(keeper->pid, &status, __WALL), keeper->pid);

  ASSERT_EQ(kill(session.pid(), SIGTERM), 0);
  // The kernel tells a tracer of the death first, and the parent only when the tracer has heard it.
  const bool killed = eventually(
      [&] { return waitpid(keeper->pid, &status, WNOHANG | __WALL) == keeper->pid && WIFSIGNALED(status); });
  if (!killed) ptrace(PTRACE_DETACH, keeper->pid, nullptr, nullptr);

  EXPECT_TRUE(killed);
  EXPECT_EQ(session.wait(), 125);
  EXPECT_NE(errors().find("the keeper makes no progress; ending it and the processes that it held"),
            std::string::npos)
      << errors();
  EXPECT_EQ(report().reason, "keeper-lost");
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

}  // namespace
}  // namespace corral::os_tests
