// `corral guard` at a real terminal: below real shells with job control, an interactive program must behave
// as without it.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/eventually.h"
#include "support/os_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using Words = std::vector<std::string>;

class GuardTerminal : public OsTest {
 protected:
  std::string guard(const std::string& client) const { return programs().corral + " guard -- " + client; }
  std::string client(const std::string& options = "") const {
    return programs().interactive_client + " --tag=" + tag() + " " + options;
  }

  Launch shell(const Words& argv) {
    Launch launch;
    launch.argv = argv;
    launch.env = {"CORRAL_TEST_TAG=" + tag(), "TERM=dumb",         "PS1=<prompt>",
                  "HISTFILE=/dev/null",       "INPUTRC=/dev/null", "ENV="};
    launch.in = Stdio::Terminal;
    launch.out = Stdio::Terminal;
    launch.terminal = &terminal_;
    launch.stderr_path = path("stderr");
    launch.before_exec = [] { dup2(0, 2); };  // a shell talks to people on stderr
    return launch;
  }

  // The pid that the client tells when it is ready.
  pid_t ready() {
    if (!terminal_.shows("<ready ")) return -1;
    std::string number;
    eventually([&] {
      (void)terminal_.shows("");
      return terminal_.screen().find('>') != std::string::npos;
    });
    return std::atoi(terminal_.screen().c_str());
  }

  pid_t parent_of(pid_t pid) { return process_by_pid(pid).value().parent; }

  // A prompt only says that the shell's own children stand still. A client that has not yet come to its stop
  // would take the next keys, which are meant for the shell.
  bool stands_still(pid_t pid) {
    return eventually([&] { return process_by_pid(pid).value().state == 'T'; });
  }

  Terminal terminal_;
};

class GuardInShell : public GuardTerminal, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    Words argv = {GetParam(), "-i"};
    if (std::string(GetParam()) == "bash") argv = {"bash", "--norc", "--noprofile", "-i"};
    if (access((std::string("/bin/") + GetParam()).c_str(), X_OK) != 0) GTEST_SKIP() << "no such shell here";
    shell_.emplace(shell(argv));
    ASSERT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  }

  void TearDown() override {
    if (!shell_) return;
    terminal_.type("exit 0\nexit 0\n");  // a shell asks again while a job is stopped
    EXPECT_TRUE(shell_->wait().has_value()) << terminal_.screen();
  }

  // Given to the shell; what the shell says to it comes next on the screen.
  void command(const std::string& line) { terminal_.type(line + "\n"); }

  // The exit code of the last command, as the shell sees it.
  bool last_code_is(int code) {
    command("echo \"code=$?;\"");
    return terminal_.shows("code=" + std::to_string(code) + ";");
  }

  std::optional<Session> shell_;
};

TEST_P(GuardInShell, CtrlCReachesTheClientAndNotGuard) {
  command(guard(client()));
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();
  EXPECT_EQ(process_by_pid(pid).value().group, pid);
  EXPECT_NE(process_by_pid(parent_of(pid)).value().group, pid);

  for (int i = 0; i < 2; ++i) {
    terminal_.type(Terminal::kCtrlC);
    ASSERT_TRUE(terminal_.shows("<signal 2>")) << terminal_.screen();
  }
  terminal_.type("say still here\nexit 7\n");

  EXPECT_TRUE(terminal_.shows("<said still here>")) << terminal_.screen();
  EXPECT_TRUE(terminal_.shows("<prompt>"));
  EXPECT_TRUE(last_code_is(7)) << terminal_.screen();
}

TEST_P(GuardInShell, AClientThatCtrlCEndsLooksThatWayToTheShell) {
  command(guard("sh -c 'echo \"<rea\"\"dy>\"; exec sleep 50'"));
  ASSERT_TRUE(terminal_.shows("<ready>")) << terminal_.screen();

  terminal_.type(Terminal::kCtrlC);

  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  EXPECT_TRUE(last_code_is(130)) << terminal_.screen();
}

TEST_P(GuardInShell, CtrlZStopsTheJobAndFgContinuesIt) {
  command(guard(client()));
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();

  for (int round = 0; round < 2; ++round) {
    terminal_.type(Terminal::kCtrlZ);
    ASSERT_TRUE(terminal_.shows("topped")) << terminal_.screen();
    ASSERT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
    EXPECT_TRUE(stands_still(pid));
    EXPECT_TRUE(stands_still(parent_of(pid)));
    command("echo us''able");
    ASSERT_TRUE(terminal_.shows("usable")) << terminal_.screen();

    command("fg");
    ASSERT_TRUE(terminal_.shows("<signal 18>")) << terminal_.screen();
    terminal_.type("say back\n");
    ASSERT_TRUE(terminal_.shows("<said back>")) << terminal_.screen();
  }
  terminal_.type("exit 4\n");

  EXPECT_TRUE(terminal_.shows("<prompt>"));
  EXPECT_TRUE(last_code_is(4)) << terminal_.screen();
}

TEST_P(GuardInShell, BgRunsItAndFgOfARunningJobHandsItTheKeys) {
  command(guard(client("--deaf")));
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();
  terminal_.type(Terminal::kCtrlZ);
  ASSERT_TRUE(terminal_.shows("topped")) << terminal_.screen();
  ASSERT_TRUE(stands_still(pid));

  command("bg");
  ASSERT_TRUE(terminal_.shows("<signal 18>")) << terminal_.screen();
  command("echo us''able");
  ASSERT_TRUE(terminal_.shows("usable")) << terminal_.screen();
  EXPECT_NE(process_by_pid(pid).value().state, 'T');

  command("fg; echo fore''ground over");
  // bash says nothing to a job that runs: the first key comes to guard, which then hands over. dash says
  // SIGCONT.
  const pid_t guard_group = process_by_pid(parent_of(pid)).value().group;
  ASSERT_TRUE(eventually([&] {
    const pid_t group = terminal_.foreground_group();
    return group == guard_group || group == pid;
  })) << terminal_.screen();
  terminal_.type(Terminal::kCtrlC);
  ASSERT_TRUE(terminal_.shows("<signal 2>")) << terminal_.screen();
  EXPECT_EQ(terminal_.foreground_group(), pid);
  terminal_.type(Terminal::kCtrlC);
  ASSERT_TRUE(terminal_.shows("<signal 2>")) << terminal_.screen();

  ASSERT_TRUE(kill_now(pid));
  EXPECT_TRUE(terminal_.shows("foreground over")) << terminal_.screen();
}

TEST_P(GuardInShell, AReaderInTheBackgroundStopsUntilFg) {
  command(guard(client()) + " &");
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();
  ASSERT_TRUE(stands_still(pid));
  ASSERT_TRUE(stands_still(parent_of(pid)));

  command("fg");
  ASSERT_TRUE(terminal_.shows("<signal 18>")) << terminal_.screen();
  terminal_.type("say hello\nexit 0\n");

  EXPECT_TRUE(terminal_.shows("<said hello>")) << terminal_.screen();
  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
}

TEST_P(GuardInShell, AStopByItselfInRawModeIsSeenAndTheModesComeBack) {
  command(guard(client("--raw")));
  ASSERT_GT(ready(), 0) << terminal_.screen();
  ASSERT_FALSE(terminal_.is_cooked());

  terminal_.type("z");
  ASSERT_TRUE(terminal_.shows("topped")) << terminal_.screen();
  ASSERT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  command("stty sane");
  ASSERT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  command("fg");

  EXPECT_TRUE(terminal_.shows("<modes raw>")) << terminal_.screen();
  terminal_.type("q");
  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  command("stty sane");
}

TEST_P(GuardInShell, TheClientSeesANewWindowSize) {
  command(guard(client()));
  ASSERT_GT(ready(), 0) << terminal_.screen();

  terminal_.resize(101, 31);

  EXPECT_TRUE(terminal_.shows("<size 101x31>")) << terminal_.screen();
  terminal_.type("exit 0\n");
  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
}

TEST_P(GuardInShell, ADaemonThatTheClientLeavesIsEndedAndNamed) {
  command(guard(client()));
  ASSERT_GT(ready(), 0) << terminal_.screen();
  terminal_.type("daemon\nexit 3\n");

  EXPECT_TRUE(terminal_.shows("corral guard: interactive_client left 1 process behind; ended:"))
      << terminal_.screen();
  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  EXPECT_TRUE(last_code_is(3)) << terminal_.screen();
}

TEST_P(GuardInShell, InAPipelineTheWholeJobHearsTheKeys) {
  command(guard(client()) + " | cat");
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();
  EXPECT_EQ(process_by_pid(pid).value().group, process_by_pid(parent_of(pid)).value().group);

  terminal_.type(Terminal::kCtrlZ);
  ASSERT_TRUE(terminal_.shows("topped")) << terminal_.screen();
  ASSERT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  ASSERT_TRUE(stands_still(pid));
  command("fg");
  ASSERT_TRUE(terminal_.shows("<signal 18>")) << terminal_.screen();
  terminal_.type("say through the pipe\n");
  EXPECT_TRUE(terminal_.shows("<said through the pipe>")) << terminal_.screen();

  terminal_.type("exit 0\n");
  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
}

TEST_P(GuardInShell, APagerBehindItMayReadTheKeys) {
  command(guard("sh -c 'echo text; exec sleep 1' ") +
          "| sh -c 'read line; echo \"<$line>\"; read key < /dev/tty; echo \"<key $key>\"'");
  ASSERT_TRUE(terminal_.shows("<text>")) << terminal_.screen();

  terminal_.type("down\n");

  EXPECT_TRUE(terminal_.shows("<key down>")) << terminal_.screen();
  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
}

TEST_P(GuardInShell, CtrlCEndsTheScriptAroundIt) {
  command("sh -c '" + guard("sleep 50") + "; echo scr\"\"ipt goes on'; echo do''ne");
  ASSERT_TRUE(eventually([&] {
    for (const Process& process : processes()) {
      if (process.comm == "sleep") return true;
    }
    return false;
  }));

  terminal_.type(Terminal::kCtrlC);

  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  EXPECT_EQ(terminal_.screen().find("script goes on"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return processes().size() == 1; })) << testing::PrintToString(processes());
}

TEST_P(GuardInShell, GuardBelowGuardPassesStopsAndKeysOn) {
  command(guard(programs().corral + " guard -- " + client()));
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();

  terminal_.type(Terminal::kCtrlZ);
  ASSERT_TRUE(terminal_.shows("topped")) << terminal_.screen();
  ASSERT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  ASSERT_TRUE(stands_still(pid));
  command("fg");
  ASSERT_TRUE(terminal_.shows("<signal 18>")) << terminal_.screen();
  terminal_.type(Terminal::kCtrlC);
  ASSERT_TRUE(terminal_.shows("<signal 2>")) << terminal_.screen();
  terminal_.type("exit 8\n");

  EXPECT_TRUE(terminal_.shows("<prompt>")) << terminal_.screen();
  EXPECT_TRUE(last_code_is(8)) << terminal_.screen();
}

INSTANTIATE_TEST_SUITE_P(Each, GuardInShell, testing::Values("bash", "dash"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(GuardTerminal, ModesAreRestoredAfterAClientInRawModeWasKilled) {
  Launch launch = shell({programs().corral, "guard", "--", programs().interactive_client, "--raw"});
  launch.before_exec = as_foreground_job(terminal_);  // no shell, which would restore them as well
  Session session(launch);
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();
  ASSERT_FALSE(terminal_.is_cooked());

  ASSERT_TRUE(kill_now(pid));

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_TRUE(terminal_.is_cooked());
}

TEST_F(GuardTerminal, AStoppedClientWithoutAShellDoesNotMakeGuardSpin) {
  // The leader of the session: its group is orphaned, so the kernel discards the stop, as without guard.
  Launch launch = shell({programs().corral, "guard", "--", programs().interactive_client});
  Session session(launch);
  const pid_t pid = ready();
  ASSERT_GT(pid, 0) << terminal_.screen();

  terminal_.type(Terminal::kCtrlZ);
  terminal_.type("say unstopped\n");
  EXPECT_TRUE(terminal_.shows("<said unstopped>")) << terminal_.screen();

  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return process_by_pid(session.pid()).value().state == 'T'; }));
  ASSERT_EQ(kill(session.pid(), SIGCONT), 0);
  terminal_.type("exit 5\n");
  EXPECT_EQ(session.wait(), 5);
}

TEST_F(GuardTerminal, AClosedWindowReachesTheClient) {
  Launch launch = shell({programs().corral, "guard", "--", "sleep", "50"});
  Session session(launch);
  ASSERT_TRUE(eventually([&] { return processes().size() == 2; }));

  terminal_.close_window();

  EXPECT_EQ(session.wait(), 128 + SIGHUP);
}

}  // namespace
}  // namespace corral::os_tests
