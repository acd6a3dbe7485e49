// Starts that are unusual but right: other kinds of stdin and stdout, other ways to be found,
// one corral in another.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using OddStart = OsTest;

TEST_F(OddStart, StdinFromAFileIsReadToItsEnd) {
  std::ofstream(path("requests")) << "{\"id\":1,\"method\":\"echo\",\"arg\":\"from a file\"}\n";
  Launch launch = corral({});
  launch.in = Stdio::Null;
  launch.before_exec = [this] { dup2(open(path("requests").c_str(), O_RDONLY | O_CLOEXEC), 0); };
  Session session(launch);

  EXPECT_EQ(session.answer(), "from a file") << errors();
  EXPECT_EQ(session.wait(), 0);
  expect_clean(report());
}

TEST_F(OddStart, StdoutToNowhereIsNotAReaderThatLeft) {
  Launch launch = corral({});
  launch.out = Stdio::Null;
  Session session(launch);
  session.send("block", "1200");  // longer than a vanished reader is given
  session.close_stdin();

  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_NE(report().reason, "stdout-closed");
  expect_clean(report());
}

TEST_F(OddStart, OneSocketForBothDirections) {
  Launch launch =
      corral({.options = {"--stdin-grace", "200ms"}, .server = {"--ignore-eof", "--grow=daemons:3"}});
  launch.in = launch.out = Stdio::Socket;
  launch.before_exec = [] { dup2(0, 1); };
  Session session(launch);
  session.send("exit", "8");

  EXPECT_EQ(session.wait(), 8) << errors();
  expect_clean(report());
}

TEST_F(OddStart, OneCorralInAnother) {
  Launch launch = corral({.command = {programs().corral, "run", "--", programs().adversary, "--tag=" + tag(),
                                      "--grow=mixed:18", alive_lock(), "--exit-code=3"}});
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 3);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

TEST_F(OddStart, OneStrictCorralInAnother) {
  if (const auto reason = why_not_here({Level::Strict, User::Ordinary})) GTEST_SKIP() << *reason;
  Launch launch =
      corral({.level = Level::Strict,
              .command = {programs().corral, "run", "--containment", "strict", "--", programs().adversary,
                          "--tag=" + tag(), "--grow=mixed:18", alive_lock()}});
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  ASSERT_TRUE(kill_now(session.pid()));

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

TEST_F(OddStart, ThroughASymbolicLink) {
  std::filesystem::create_symlink(programs().corral, path("link"));
  Launch launch = corral({});
  launch.argv[0] = path("link");
  Session session(launch);

  EXPECT_EQ(session.ask("echo", "found"), "found") << errors();
}

TEST_F(OddStart, WithoutItsHelperSaysWhatIsMissing) {
  std::filesystem::copy_file(programs().corral, path("corral"));
  Launch launch = corral({});
  launch.argv[0] = path("corral");
  Session session(launch);

  EXPECT_EQ(session.wait(), 125);
  EXPECT_NE(errors().find("corral-keeper"), std::string::npos) << errors();
  EXPECT_NE(errors().find("install"), std::string::npos) << errors();
}

TEST_F(OddStart, WithAnEmptyEnvironment) {
  Launch launch = corral({.command = {"echo", "found"}});
  launch.before_exec = [] { clearenv(); };
  Session session(launch);

  EXPECT_EQ(session.output_to_end(), "found\n") << errors();
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(OddStart, InADirectoryThatIsGone) {
  Launch launch = corral({});
  launch.before_exec = [this] {
    if (mkdir(path("gone").c_str(), 0755) != 0 || chdir(path("gone").c_str()) != 0) _exit(97);
    rmdir(path("gone").c_str());
  };
  Session session(launch);

  EXPECT_EQ(session.ask("echo", "ready"), "ready") << errors();
}

TEST_F(OddStart, WithFewDescriptorsWorksOrSaysSo) {
  std::vector<bool> outcome;
  // With less than 5 not even the loader of shared libraries works, and a sanitizer opens some itself.
  for (rlim_t room = kSanitized ? 24 : 5; room <= 32; ++room) {
    SCOPED_TRACE("with room for " + std::to_string(room));
    std::filesystem::remove(path("stderr"));
    Launch launch = corral({});
    launch.env.push_back("ASAN_OPTIONS=detect_leaks=0");  // the leak checker wants descriptors of its own
    launch.before_exec = [room] {
      close_range(3, ~0U, 0);
      const rlimit limit{room, room};
      setrlimit(RLIMIT_NOFILE, &limit);
    };
    Session session(launch);
    session.close_stdin();
    const auto code = session.wait();
    EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
    outcome.push_back(code == 0);
    if (code == 0) continue;
    EXPECT_EQ(code, 125) << errors();
    EXPECT_TRUE(errors().starts_with("corral run: ")) << errors();
  }
  EXPECT_TRUE(outcome.back());
  EXPECT_TRUE(std::is_sorted(outcome.begin(), outcome.end())) << testing::PrintToString(outcome);
}

// A file system that does not answer, as a dead network mount: a process that executes the file hangs in the
// kernel. Here a watcher of that file plays it, by not answering when asked for permission.
TEST_F(OddStart, AnExecThatHangsDoesNotHoldUpTheEnd) {
  std::filesystem::copy_file(programs().adversary, path("server"));
  const int watcher = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_CLOEXEC);
  if (watcher < 0 ||
      fanotify_mark(watcher, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, path("server").c_str()) != 0) {
    if (watcher >= 0) close(watcher);
    GTEST_SKIP() << "needs root and a kernel with fanotify permission events: " << std::strerror(errno);
  }
  Session session(corral({.command = {path("server"), "--tag=" + tag()}}));
  pollfd asked{watcher, POLLIN, 0};
  const bool hangs = poll(&asked, 1, 15'000) == 1;

  kill(session.pid(), SIGTERM);
  const auto code = session.wait();

  close(watcher);  // lets go of the process that still waits
  EXPECT_TRUE(hangs);
  EXPECT_EQ(code, 128 + SIGTERM) << errors();
  EXPECT_EQ(report().reason, "signal");
  expect_clean(report());
}

TEST_F(OddStart, AProcessWithAnUglyNameDoesNotBreakTheReport) {
  Session session(corral({}));
  ASSERT_EQ(session.ask("misname"), "named") << errors();
  ASSERT_EQ(session.ask("block", "100"), "unblocked");

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  expect_clean(report());
  EXPECT_GE(report().ended_total, 1);
}

// Nobody needs the outer for the end: the keeper sees the pipes itself.
TEST_F(OddStart, AStoppedOuterDoesNotKeepTheTree) {
  Session client(through_client({.server = {"--grow=mixed:18", alive_lock()}}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();
  const pid_t outer = client.notice("server").value();
  ASSERT_EQ(kill(outer, SIGSTOP), 0);

  ASSERT_TRUE(kill_now(client.pid()));

  EXPECT_TRUE(eventually([&] {
    const auto left = survivors(tag());
    return left.empty() || (left.size() == 1 && left[0].pid == outer);
  })) << testing::PrintToString(processes());
  expect_clean(report());
  kill(outer, SIGCONT);
  EXPECT_TRUE(all_gone());
}

}  // namespace
}  // namespace corral::os_tests
