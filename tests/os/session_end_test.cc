// The ways in which a session ends, the reason that the report gives for each, and the exit code.
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using SessionEnd = OsTest;

// Short waits for servers that use them up.
const std::vector<std::string> kShortGrace = {"--stdin-grace", "200ms", "--term-grace", "200ms"};

TEST_F(SessionEnd, ClosedStdinEndsItWithTheExitCodeOfTheServer) {
  Session session(corral({.server = {"--exit-code=7"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 7);
  EXPECT_EQ(report().exit_code, 7);
  expect_clean(report());
}

// It exits before the keeper can list the namespace, and was still ended with the session.
TEST_F(SessionEnd, AServerInANamespaceThatExitsAtOnceIsInTheReport) {
  if (const auto reason = why_no_pid_namespace(User::Root)) GTEST_SKIP() << *reason;
  for (int start = 0; start < 10; ++start) {
    std::filesystem::remove(path("report.json"));
    Session session(corral({.level = Level::Strict}));
    session.close_stdin();
    EXPECT_EQ(session.wait(), 0) << errors();
    EXPECT_GE(report().ended_total, 1);
  }
}

TEST_F(SessionEnd, ClosedStdinIsTheReasonWhileTheServerStays) {
  Session session(corral({.options = kShortGrace, .server = {"--ignore-eof"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  EXPECT_EQ(report().reason, "stdin-closed");
  EXPECT_EQ(report().exit_signal, "SIGTERM");
  EXPECT_EQ(report().signals["SIGKILL"], 0);
  expect_clean(report());
}

TEST_F(SessionEnd, AServerThatIgnoresEverythingIsKilled) {
  Session session(corral({.options = kShortGrace, .server = {"--ignore-eof", "--ignore-term"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_EQ(report().reason, "stdin-closed");
  EXPECT_EQ(report().exit_signal, "SIGKILL");
  EXPECT_GE(report().signals["SIGKILL"], 1);
  expect_clean(report());
}

TEST_F(SessionEnd, WithoutOptionsAServerThatIgnoresEverythingIsKilledToo) {
  Session session(corral({.server = {"--ignore-eof", "--ignore-term"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  expect_clean(report());
}

TEST_F(SessionEnd, ReaderOfStdoutGone) {
  Session session(corral({.server = {"--ignore-term"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdout();

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_EQ(report().reason, "stdout-closed");
  expect_clean(report());
}

TEST_F(SessionEnd, HalfClosedSocketEndsItAfterTheLastAnswer) {
  Launch launch = corral({.options = kShortGrace, .server = {"--ignore-eof"}});
  launch.in = Stdio::Socket;
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.send("echo", "last");
  session.half_close();

  EXPECT_EQ(session.answer(), "last");
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  EXPECT_EQ(report().reason, "stdin-closed");
  expect_clean(report());
}

// printf request | corral run -- slow-server
TEST_F(SessionEnd, ARequestBeforeEndOfInputIsAnsweredHoweverSlowTheStart) {
  Session session(corral({.options = kShortGrace, .server = {"--slow-start=1500", "--ignore-eof"}}));

  session.send("echo", "early");
  session.close_stdin();

  EXPECT_EQ(session.answer(), "early");
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  expect_clean(report());
}

TEST_F(SessionEnd, WorkThatFitsTheGraceIsFinishedAfterEndOfInput) {
  Session session(corral({}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.send("block", "700");
  session.close_stdin();

  EXPECT_EQ(session.answer(), "unblocked");
  EXPECT_EQ(session.wait(), 0);
  expect_clean(report());
}

TEST_F(SessionEnd, ExitOfTheServer) {
  Session session(corral({}));

  session.send("exit", "3");

  EXPECT_EQ(session.wait(), 3);
  EXPECT_EQ(report().reason, "server-exited");
  EXPECT_EQ(report().exit_code, 3);
  expect_clean(report());
}

TEST_F(SessionEnd, DeathOfTheServerBySignal) {
  Session session(corral({}));

  session.send("die", std::to_string(SIGTERM));

  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  EXPECT_EQ(report().reason, "server-exited");
  EXPECT_EQ(report().exit_code, std::nullopt);
  EXPECT_EQ(report().exit_signal, "SIGTERM");
}

TEST_F(SessionEnd, ServerExitsWhileItsGrandchildrenLive) {
  Session session(corral({.server = {"--grow=daemons:20", "--grow=flat:20"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.send("exit", "0");

  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(all_gone());
  EXPECT_GE(report().ended_total, 40);
  EXPECT_GE(report().signals["SIGKILL"], 20);
  expect_clean(report());
}

TEST_F(SessionEnd, AGrandchildThatHoldsStdoutDoesNotKeepTheClientWaiting) {
  Session session(corral({.server = {"--grow=holder:2"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.send("exit", "0");

  EXPECT_TRUE(session.output_ends());
  EXPECT_EQ(session.wait(), 0);
  expect_clean(report());
}

TEST_F(SessionEnd, ReportToStderrIsTheLastLineThere) {
  Session session(corral({.options = {"--report", "-"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  expect_clean(parse_report(errors()));
  EXPECT_EQ(session.output_to_end(), "");
}

class SessionEndBySignal : public OsTest, public testing::WithParamInterface<int> {};

TEST_P(SessionEndBySignal, SentByAProcess) {
  Session session(corral({.server = {"--grow=daemons:5"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  ASSERT_EQ(kill(session.pid(), GetParam()), 0);

  EXPECT_EQ(session.wait(), 128 + SIGTERM);  // what the server got and died of
  EXPECT_EQ(report().reason, "signal");
  EXPECT_GE(report().signals["SIGTERM"], 1);
  expect_clean(report());
}

INSTANTIATE_TEST_SUITE_P(Each, SessionEndBySignal, testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT),
                         [](const auto& test) { return std::string(sigabbrev_np(test.param)); });

TEST_F(SessionEnd, ASecondSignalDoesNotWaitForTheGrace) {
  Session session(corral({.options = {"--term-grace", "1m"}, .server = {"--ignore-term"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  ASSERT_EQ(kill(session.pid(), SIGTERM), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // two equal pending signals would become one
  ASSERT_EQ(kill(session.pid(), SIGTERM), 0);

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  expect_clean(report());
}

// A client whose pipes stay open in another process (here: the test) after it died, as happens when a sibling
// inherited them by accident. Only its death says that the session is over.
std::function<void()> below_a_client_without_pipes() {
  return [] {
    const pid_t pid = fork();
    if (pid == 0) return;
    close_range(0, ~0U, 0);
    alarm(60);
    for (;;) pause();
  };
}

TEST_F(SessionEnd, DeathOfTheParentEndsItEvenIfThePipesStayOpen) {
  Launch launch = corral({.server = {"--ignore-term", "--grow=daemons:5"}});
  launch.before_exec = below_a_client_without_pipes();
  Session client(launch);
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();

  ASSERT_TRUE(kill_now(client.pid()));

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  EXPECT_EQ(report().reason, "client-gone");
  expect_clean(report());
}

TEST_F(SessionEnd, DetachedOutlivesItsParentButNotItsStdin) {
  Launch launch = corral({.options = {"--detached"}});
  launch.before_exec = below_a_client_without_pipes();
  Session client(launch);
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();

  ASSERT_TRUE(kill_now(client.pid()));
  ASSERT_TRUE(client.wait());

  EXPECT_EQ(client.ask("block", "1200"), "unblocked");  // longer than a vanished client is given
  client.close_stdin();
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

}  // namespace
}  // namespace corral::os_tests
