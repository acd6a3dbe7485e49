// `corral guard` without a terminal, as in CI: the client must not notice it, and nothing that the client
// started may outlive it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using Words = std::vector<std::string>;

constexpr int kLeaked = 120;

class Guard : public OsTest {
 protected:
  Launch guarded(const Words& client, const Words& options = {}) const {
    Launch launch = corral({});
    launch.argv = {programs().corral, "guard", "--report", path("report.json")};
    launch.argv.insert(launch.argv.end(), options.begin(), options.end());
    launch.argv.push_back("--");
    launch.argv.insert(launch.argv.end(), client.begin(), client.end());
    return launch;
  }

  Launch guarded_adversary(Words arguments, const Words& options = {}) const {
    arguments.insert(arguments.begin(), {programs().adversary, "--tag=" + tag()});
    return guarded(arguments, options);
  }

  Launch guarded_shell(const std::string& script, const Words& options = {}) const {
    return guarded({"sh", "-c", script}, options);
  }

  // While it has no orphans, which are guard's children, too.
  std::optional<pid_t> client_of(pid_t guard) const {
    for (const Process& process : processes()) {
      if (process.parent == guard) return process.pid;
    }
    return std::nullopt;
  }

  bool report_names(const std::string& text) const { return errors().find(text) != std::string::npos; }
};

TEST_F(Guard, ExitCodeIsTheClients) {
  for (const int code : {0, 1, 3, 255}) {
    EXPECT_EQ(Session(guarded_shell("exit " + std::to_string(code))).wait(), code);
  }
}

// Opening it would wait for a reader, before the client is even started.
TEST_F(Guard, AReportPipeThatNobodyReadsIsAnErrorAndNoWait) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0666), 0);
  ASSERT_EQ(chmod(path("pipe").c_str(), 0666), 0);  // the guard may be an ordinary user
  Launch launch = guarded_shell("touch " + path("started"));
  std::replace(launch.argv.begin(), launch.argv.end(), path("report.json"), path("pipe"));
  Session session(launch);

  EXPECT_EQ(session.wait(), 125) << errors();
  EXPECT_TRUE(report_names("is a pipe without a reader")) << errors();
  EXPECT_FALSE(std::filesystem::exists(path("started")));
}

class GuardDeath : public Guard, public testing::WithParamInterface<int> {};

TEST_P(GuardDeath, ASignalThatEndsTheClientEndsGuard) {
  Launch launch = guarded_shell("kill -" + std::to_string(GetParam()) + " $$");
  const pid_t guard = fork();
  if (guard == 0) {  // not a Session: its exit code cannot tell a death from an exit with 128+n
    const int null = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(null, fd);
    signal(SIGPIPE, SIG_DFL);
    std::vector<char*> argv;
    for (std::string& word : launch.argv) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(98);
  }

  int status = 0;
  ASSERT_TRUE(eventually([&] { return waitpid(guard, &status, WNOHANG) == guard; }));

  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), GetParam());
  EXPECT_FALSE(WCOREDUMP(status));
}

INSTANTIATE_TEST_SUITE_P(Each, GuardDeath,
                         testing::Values(SIGTERM, SIGINT, SIGHUP, SIGKILL, SIGABRT, SIGUSR1, SIGPIPE),
                         [](const auto& test) { return std::string(sigabbrev_np(test.param)); });

TEST_F(Guard, FailsAsAShellDoesIfTheClientCannotStart) {
  std::ofstream(path("data")) << "no program";
  std::ofstream(path("script")) << "#!/no/such/interpreter\n";
  chmod(path("script").c_str(), 0755);

  EXPECT_EQ(Session(guarded({"no-such-program-anywhere"})).wait(), 127);
  EXPECT_EQ(Session(guarded({path("nothing")})).wait(), 127);
  EXPECT_EQ(Session(guarded({path("data")})).wait(), 126);
  EXPECT_EQ(Session(guarded({path("script")})).wait(), 127);
  EXPECT_TRUE(report_names("/no/such/interpreter")) << errors();
}

TEST_F(Guard, WithoutACommandItSaysWhatIsMissing) {
  EXPECT_EQ(Session(guarded({})).wait(), 125);
  EXPECT_TRUE(report_names("no command given")) << errors();
}

TEST_F(Guard, SaysNothingIfNothingIsLeft) {
  EXPECT_EQ(Session(guarded_shell("sleep 0.1 & wait", {"--fail-on-leak"})).wait(), 0);

  EXPECT_EQ(errors(), "");
  EXPECT_EQ(report().reason, "client-exited");
  EXPECT_EQ(report().level, "guard");
  expect_clean(report());
}

TEST_F(Guard, WithoutItTheDaemonWouldLive) {
  Launch launch = guarded_adversary({"--life=10", "--grow=daemons:1"});
  launch.argv = {programs().adversary, "--tag=" + tag(), "--life=10", "--grow=daemons:1"};
  Session client(launch);
  ASSERT_EQ(client.ask("echo", "ready"), "ready");
  client.close_stdin();
  ASSERT_EQ(client.wait(), 0);

  EXPECT_EQ(processes().size(), 1U);

  end_tagged(tag());
}

class GuardTree : public Guard, public testing::WithParamInterface<const char*> {};

TEST_P(GuardTree, IsEndedAndReportedWhenTheClientLeaves) {
  Session session(guarded_adversary({alive_lock(), std::string("--grow=") + GetParam(), "--exit-code=9"},
                                    {"--term-grace", "300ms"}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 9) << errors();
  EXPECT_FALSE(any_alive());
  EXPECT_TRUE(report_names("corral guard: adversary left ")) << errors();
  EXPECT_TRUE(report_names("ended:\n")) << errors();
  expect_clean(report());
}

INSTANTIATE_TEST_SUITE_P(Each, GuardTree,
                         testing::Values("flat:5", "tree:13", "chain:5", "groups:4", "daemons:4", "closed:2",
                                         "stopped:2", "bare:2", "hoppers:2", "session-hoppers:2", "mixed:12"),
                         [](const auto& test) {
                           std::string kind = test.param;
                           std::erase_if(kind, [](char c) { return c == ':' || c == '-'; });
                           return kind;
                         });

TEST_F(Guard, AKilledClientsTreeIsEndedToo) {
  Session session(guarded_adversary({"--grow=daemons:3"}, {"--term-grace", "200ms"}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  ASSERT_TRUE(kill_now(find_server(tag()).value().pid));

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_TRUE(all_gone());
  EXPECT_TRUE(report_names("left 3 processes behind; all ended:")) << errors();
  EXPECT_EQ(report().exit_signal, "SIGKILL");
}

TEST_F(Guard, NamesWhatItEndedAndHow) {
  const std::string script =
      "setsid sleep 50 & setsid sh -c 'trap \"\" TERM; while :; do sleep 51; done' & sleep 0.3; exit 2";
  EXPECT_EQ(Session(guarded_shell(script, {"--term-grace", "300ms"})).wait(), 2);

  EXPECT_TRUE(report_names("SIGTERM  sleep 50\n")) << errors();
  EXPECT_TRUE(report_names("SIGKILL  sh -c 'trap ")) << errors();
  EXPECT_TRUE(report_names("corral guard: sh left ")) << errors();
}

TEST_F(Guard, DoesNotShowSecretsOrControlCharacters) {
  const std::string script =
      "sh -c 'sleep 40; :' \"$(printf '\\033[31m')\" "
      "--api-token hunter2 PASSWORD=hunter3 & sleep 0.2";
  EXPECT_EQ(Session(guarded_shell(script)).wait(), 0);

  EXPECT_TRUE(report_names("[31m' --api-token *** PASSWORD=***")) << errors();
  EXPECT_FALSE(report_names("\x1b")) << errors();
  EXPECT_FALSE(report_names("hunter")) << errors();
}

TEST_F(Guard, KeepsWhatItIsToldToKeep) {
  const std::string script =
      "setsid sleep 52 & setsid sleep 53 & setsid sh -c 'sleep 54; sleep 55' & sleep 0.2";
  EXPECT_EQ(Session(guarded_shell(script, {"--keep", "sleep 52", "--keep", "* 'sleep 54*'", "--keep",
                                           "sh -c sleep 54*", "--fail-on-leak"}))
                .wait(),
            kLeaked);

  EXPECT_TRUE(report_names("left 1 process behind; ended:")) << errors();
  EXPECT_TRUE(report_names("SIGTERM  sleep 53\n")) << errors();
  EXPECT_TRUE(report_names("kept 3 processes")) << errors();
  EXPECT_TRUE(report_names("kept     sleep 52\n")) << errors();
  EXPECT_TRUE(report_names("kept     sleep 54\n")) << errors();  // below one that matches
  EXPECT_EQ(processes().size(), 3U);
  end_tagged(tag());
}

TEST_F(Guard, AProcessToKeepIsNotCountedAsALeak) {
  EXPECT_EQ(
      Session(guarded_shell("setsid sleep 52 & sleep 0.2", {"--keep", "sleep*", "--fail-on-leak"})).wait(),
      0);

  EXPECT_EQ(processes().size(), 1U);
  end_tagged(tag());
}

TEST_F(Guard, ALeakIsAFailureOnlyOnDemand) {
  EXPECT_EQ(Session(guarded_shell("setsid sleep 50 &")).wait(), 0);
  EXPECT_EQ(Session(guarded_shell("setsid sleep 50 &", {"--fail-on-leak"})).wait(), kLeaked);
  EXPECT_EQ(Session(guarded_shell("setsid sleep 50 & sleep 0.1; kill -9 $$", {"--fail-on-leak"})).wait(),
            kLeaked);
}

TEST_F(Guard, AProcessThatEndsByItselfIsNotALeak) {
  EXPECT_EQ(Session(guarded_shell("setsid sleep 0.05 &", {"--fail-on-leak"})).wait(), 0);

  EXPECT_EQ(errors(), "");
}

class GuardForwards : public Guard, public testing::WithParamInterface<int> {};

TEST_P(GuardForwards, ASignalFromAProcess) {
  Session session(guarded_shell("trap 'echo heard; exit 5' " + std::to_string(GetParam()) +
                                "; echo ready; while :; do sleep 0.05; done"));
  char line[6] = {};
  ASSERT_EQ(read(session.stdout_fd(), line, sizeof line), 6) << errors();

  ASSERT_EQ(kill(session.pid(), GetParam()), 0);

  EXPECT_EQ(session.wait(), 5) << errors();
  EXPECT_EQ(session.output_to_end(), "heard\n");
}

INSTANTIATE_TEST_SUITE_P(Each, GuardForwards,
                         testing::Values(SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH),
                         [](const auto& test) { return std::string(sigabbrev_np(test.param)); });

TEST_F(Guard, WithoutATerminalTheClientStaysInItsGroup) {
  Launch launch = guarded_adversary({});
  launch.before_exec = [] { setsid(); };
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  const Process client = find_server(tag()).value();
  EXPECT_EQ(client.group, session.pid());
  EXPECT_EQ(client.session, session.pid());
  kill(-session.pid(), SIGKILL);  // a runner that ends the group gets both
  EXPECT_TRUE(all_gone());
}

TEST_F(Guard, AWordFromTheClientToItsParentDoesNotComeBack) {
  Session session(guarded_shell("kill -USR1 $PPID; sleep 0.3; echo alive"));

  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(session.output_to_end(), "alive\n");
}

TEST_F(Guard, NohupStaysInForce) {
  Launch launch = guarded_adversary({});
  launch.before_exec = [] { signal(SIGHUP, SIG_IGN); };
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  kill(session.pid(), SIGHUP);
  kill(client_of(session.pid()).value(), SIGHUP);

  EXPECT_EQ(session.ask("echo", "alive"), "alive");
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0);
}

TEST_F(Guard, TheClientInheritsSignalsAndDescriptorsAsWithoutGuard) {
  const auto prepare = [] {
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigprocmask(SIG_SETMASK, &some, nullptr);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    close_range(3, ~0U, 0);
    dup2(0, 7);
    dup2(1, 40);
  };
  Launch with = guarded_adversary({});
  Launch without = with;
  without.argv = {programs().adversary, "--tag=" + tag()};
  with.before_exec = without.before_exec = prepare;
  Session guarded(with);
  Session alone(without);

  for (const char* const question : {"fds", "sigstate", "cwd", "tty"}) {
    EXPECT_EQ(guarded.ask(question), alone.ask(question)) << question;
  }
}

TEST_F(Guard, HoldsNoPipeOfTheClient) {
  Session session(guarded_shell("exec >&-; sleep 20"));

  EXPECT_TRUE(session.output_ends());

  kill(session.pid(), SIGTERM);
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
}

TEST_F(Guard, DoesNotReadForTheClient) {
  Session session(guarded_shell("exec <&-; sleep 20"));

  EXPECT_TRUE(eventually([&] {
    pollfd writer{session.stdin_fd(), POLLOUT, 0};
    return poll(&writer, 1, 0) == 1 && (writer.revents & POLLERR) != 0;  // nobody has the other end
  }));

  kill(session.pid(), SIGTERM);
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
}

TEST_F(Guard, TheClientDoesNotOutliveAKilledGuard) {
  Session session(guarded_shell("exec sleep 50"));
  std::optional<pid_t> client;
  ASSERT_TRUE(eventually([&] { return (client = client_of(session.pid())).has_value(); }));
  ASSERT_TRUE(eventually([&] { return process_by_pid(*client).value().comm == "sleep"; }));

  ASSERT_TRUE(kill_now(session.pid()));

  EXPECT_TRUE(eventually([&] { return is_gone(*client); }));
}

TEST_F(Guard, ChildrenOfTheShellThatBecameGuardAreNotTouchedNorTheirOrphans) {
  const std::string wait_for = "while ! [ -e \"$0/%\" ]; do sleep 0.02; done; ";
  const auto until = [&](const std::string& name) {
    return std::string(wait_for).replace(wait_for.find('%'), 1, name);
  };
  Launch launch =
      guarded({"sh", "-c", ": > \"$0/started\"; " + until("orphan") + "setsid sleep 50 &", path("")});
  std::string line = "exec";
  for (std::size_t i = 0; i < launch.argv.size(); ++i) line += " \"$" + std::to_string(i + 1) + "\"";
  ASSERT_LE(launch.argv.size(), 9U);
  const std::string script =
      "sleep 51 & (" + until("started") + "setsid sleep 52 & : > \"$0/orphan\") & " + line;
  launch.argv.insert(launch.argv.begin(), {"sh", "-c", script, path("")});
  Session session(launch);

  EXPECT_EQ(session.wait(), 0);

  EXPECT_TRUE(report_names("left 1 process behind; ended:")) << errors();
  EXPECT_TRUE(report_names("sleep 50\n")) << errors();
  EXPECT_EQ(processes().size(), 2U) << testing::PrintToString(processes());
  end_tagged(tag());
}

TEST_F(Guard, ASessionOfCorralRunEndsByItselfAndIsNotALeak) {
  Launch launch =
      guarded({programs().relay_client, programs().corral, "run", "--report", path("session.json"), "--",
               programs().adversary, "--tag=" + tag(), "--ignore-eof", "--grow=daemons:3"},
              {"--fail-on-leak"});
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  std::optional<pid_t> client = client_of(session.pid());

  ASSERT_TRUE(kill_now(client.value()));

  EXPECT_EQ(session.wait(), 128 + SIGKILL) << errors();
  EXPECT_NE(file("session.json"), "") << "guard leaves after the session";
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(errors(), "");
  expect_clean(parse_report(file("session.json")));
}

TEST_F(Guard, GuardedCorralRunIsAClientLikeAnyOther) {
  Session session(guarded({programs().corral, "run", "--", programs().adversary, "--tag=" + tag(),
                           "--grow=daemons:3", "--exit-code=6"},
                          {"--fail-on-leak"}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 6) << errors();
  EXPECT_EQ(errors(), "");
}

TEST_F(Guard, ASecondSignalDoesNotWaitForTheGrace) {
  Session session(guarded_adversary({"--grow=daemons:2"}, {"--term-grace", "1m"}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  session.close_stdin();
  ASSERT_TRUE(eventually([&] { return !find_server(tag()); }));

  EXPECT_TRUE(eventually([&] {
    kill(session.pid(), SIGTERM);
    return is_gone(session.pid()) || process_by_pid(session.pid())->state == 'Z';
  }));

  EXPECT_EQ(session.wait(), 0);
}

TEST_F(Guard, SaysWhatItCouldNotEnd) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to make a set-uid program";
  const std::string program = path("setuid-adversary");
  std::filesystem::copy_file(programs().adversary, program);
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  Session session(guarded_adversary({"--life=8", "--setuid-program=" + program, "--grow=setuid:1"},
                                    {"--term-grace", "100ms", "--kill-grace", "200ms", "--fail-on-leak"}));
  const auto ready = session.ask("echo", "ready");
  if (ready != "ready") GTEST_SKIP() << "this file system ignores set-uid";

  session.close_stdin();

  EXPECT_EQ(session.wait(), kLeaked);
  EXPECT_TRUE(report_names("1 could not be ended:")) << errors();
  EXPECT_TRUE(report_names("it runs as another user; end it with `sudo kill -KILL ")) << errors();
  EXPECT_TRUE(report().leaked);
  end_tagged(tag());
}

}  // namespace
}  // namespace corral::os_tests
