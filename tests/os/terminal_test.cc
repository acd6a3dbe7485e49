// A real terminal. Many clients keep their servers in their own process group, so what a person types reaches
// corral too: while stdin is not a terminal it must neither end nor stop the session, nor reach the server.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/eventually.h"
#include "support/os_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

class TerminalTest : public OsTest {
 protected:
  Launch client_that_handles_ctrl_c(const RunLine& line) {
    Launch launch = through_client(line);
    launch.argv.insert(launch.argv.begin() + 1, "--handle-signals");
    launch.terminal = &terminal_;
    launch.before_exec = as_foreground_job(terminal_);
    return launch;
  }

  Launch person_at_the_keys(const RunLine& line) {
    Launch launch = corral(line);
    launch.in = Stdio::Terminal;
    launch.terminal = &terminal_;
    launch.before_exec = as_foreground_job(terminal_);
    return launch;
  }

  Terminal terminal_;
};

TEST_F(TerminalTest, KeysReachTheClientButNeitherCorralNorTheServer) {
  Session client(
      client_that_handles_ctrl_c({.options = {"--term-grace", "200ms"}, .server = {"--count-signals"}}));
  const auto server_pid = client.ask("pid");
  ASSERT_TRUE(server_pid) << errors();
  const pid_t outer = client.notice("server").value();
  client.send("block", "1500");

  for (const auto& [keys, number] : {std::pair{Terminal::kCtrlC, SIGINT},
                                     {Terminal::kCtrlBackslash, SIGQUIT},
                                     {Terminal::kCtrlZ, SIGTSTP},
                                     {Terminal::kCtrlC, SIGINT}}) {
    terminal_.type(keys);
    ASSERT_EQ(client.notice("signal"), number);
  }

  EXPECT_EQ(client.answer(), "unblocked");
  EXPECT_EQ(client.ask("pid"), server_pid);
  EXPECT_EQ(client.ask("signals"), "INT=0 QUIT=0 TSTP=0 TERM=0 HUP=0 CONT=0");
  EXPECT_NE(process_by_pid(outer).value().state, 'T');
  EXPECT_EQ(process_by_pid(outer).value().group, process_by_pid(process_by_pid(outer)->parent).value().group);

  ASSERT_EQ(kill(outer, SIGINT), 0);
  EXPECT_EQ(report().reason, "signal");
  expect_clean(report());
  EXPECT_EQ(client.notice("exit"), 128 + SIGKILL);  // it counted SIGTERM and went on
}

// The proof that the keys do arrive in this set-up.
TEST_F(TerminalTest, WithoutCorralTheKeysHitTheServer) {
  Launch launch = client_that_handles_ctrl_c({});
  launch.argv = {programs().relay_client, "--handle-signals", programs().adversary, "--tag=" + tag(),
                 "--count-signals"};
  Session client(launch);
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();

  for (const auto& [keys, number] : {std::pair{Terminal::kCtrlC, SIGINT}, {Terminal::kCtrlZ, SIGTSTP}}) {
    terminal_.type(keys);
    ASSERT_EQ(client.notice("signal"), number);
  }

  EXPECT_EQ(client.ask("signals"), "INT=1 QUIT=0 TSTP=1 TERM=0 HUP=0 CONT=0");
}

TEST_F(TerminalTest, AStoppedCorralWouldHaveBeenSeen) {
  Session client(client_that_handles_ctrl_c({}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();
  const pid_t outer = client.notice("server").value();

  ASSERT_EQ(kill(outer, SIGSTOP), 0);

  EXPECT_TRUE(eventually([&] { return process_by_pid(outer).value().state == 'T'; }));
  ASSERT_EQ(kill(outer, SIGCONT), 0);
  EXPECT_TRUE(eventually([&] { return process_by_pid(outer).value().state != 'T'; }));
}

class TerminalKeys : public TerminalTest, public testing::WithParamInterface<const char*> {};

TEST_P(TerminalKeys, EndASessionThatIsTypedByHand) {
  Session session(person_at_the_keys({.server = {"--grow=daemons:5"}}));
  terminal_.type("{\"id\":1,\"method\":\"echo\",\"arg\":\"typed\"}\n");
  ASSERT_EQ(session.answer(), "typed") << errors();

  terminal_.type(GetParam());

  EXPECT_EQ(report().reason, "signal");
  expect_clean(report());
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
}

INSTANTIATE_TEST_SUITE_P(Each, TerminalKeys, testing::Values(Terminal::kCtrlC, Terminal::kCtrlBackslash),
                         [](const auto& test) {
                           return test.param == Terminal::kCtrlC ? "CtrlC" : "CtrlBackslash";
                         });

TEST_F(TerminalTest, ClosingTheWindowEndsASessionThatIsTypedByHand) {
  Session session(person_at_the_keys({.server = {"--grow=daemons:5"}}));
  terminal_.type("{\"id\":1,\"method\":\"echo\",\"arg\":\"typed\"}\n");
  ASSERT_EQ(session.answer(), "typed") << errors();

  terminal_.close_window();

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

}  // namespace
}  // namespace corral::os_tests
