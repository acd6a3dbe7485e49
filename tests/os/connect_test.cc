// `corral connect` against a daemon without servers (EmptyDaemon): the client's pipes, the signals, the end,
// and what happens without a daemon.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "support/empty_daemon.h"
#include "support/eventually.h"
#include "support/os_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using Words = std::vector<std::string>;

constexpr int kNoDaemon = 69;
constexpr int kDaemonDied = 75;

class Connect : public OsTest {
 protected:
  std::string runtime_dir() const { return path("run"); }
  void start_daemon(EmptyDaemon::Manner manner = EmptyDaemon::Manner::Usual) {
    daemon_.emplace(runtime_dir(), uid_of(User::Ordinary), manner);
  }
  EmptyDaemon& daemon() { return *daemon_; }

  Launch connect(const Words& words, const Words& options = {}) const {
    Launch launch = corral({});
    launch.argv = {programs().corral, "connect", "--runtime-dir", runtime_dir()};
    launch.argv.insert(launch.argv.end(), options.begin(), options.end());
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    return launch;
  }

  /// The adversary as a command of the client's own.
  Launch connect_command(const Words& options = {}) const {
    return connect({"--", programs().adversary, "--tag=" + tag()}, options);
  }

  /// What the daemon saw of a shim that was started like this.
  std::string described(Launch launch) const {
    Session session(launch);
    const std::string line = session.output_to_end();
    EXPECT_EQ(session.wait(), 0) << errors();
    return line;
  }

  bool says(const std::string& text) const { return errors().find(text) != std::string::npos; }

 private:
  std::optional<EmptyDaemon> daemon_;
};

void write_line(int fd, const std::string& text) {
  ASSERT_EQ(write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

bool reads(int fd, const std::string& text) {
  std::string seen;
  while (seen.size() < text.size()) {
    char bytes[256];
    const ssize_t size = read(fd, bytes, std::min(sizeof bytes, text.size() - seen.size()));
    if (size <= 0) return false;
    seen.append(bytes, static_cast<std::size_t>(size));
  }
  return seen == text;
}

/// Accepted, and its own copies let go.
bool has_let_go(pid_t shim) {
  return eventually([&] { return link_of(shim, 0) == "/dev/null" && link_of(shim, 1) == "/dev/null"; });
}

class ConnectStdio : public Connect, public testing::WithParamInterface<Stdio> {};

TEST_P(ConnectStdio, BytesDoNotPassThroughTheShim) {
  start_daemon();
  Launch launch = connect({"echo"});
  launch.in = launch.out = GetParam();
  Session session(launch);
  ASSERT_TRUE(has_let_go(session.pid())) << errors();
  ASSERT_EQ(kill(session.pid(), SIGSTOP), 0);

  write_line(session.stdin_fd(), "hello\n");

  EXPECT_TRUE(reads(session.stdout_fd(), "hello\n"));
  kill(session.pid(), SIGCONT);
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0) << errors();
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConnectStdio, testing::Values(Stdio::Pipe, Stdio::Socket));

TEST_F(Connect, TheDaemonLearnsWhoWantsWhatFromWhere) {
  start_daemon();
  Launch launch = connect({"describe"}, {"--share", "session"});
  launch.before_exec = [this] {
    if (chdir(path("").c_str()) != 0) _exit(95);
  };

  const std::string line = described(launch);

  EXPECT_NE(line.find("client=" + std::to_string(getpid()) + " watched=yes"), std::string::npos) << line;
  EXPECT_NE(line.find(" cwd=" + path("").substr(0, path("").size() - 1) + " "), std::string::npos) << line;
  EXPECT_NE(line.find(" share=session "), std::string::npos) << line;
  EXPECT_EQ(line.find("variables=0"), std::string::npos) << line;
}

TEST_F(Connect, NotesAndTheServersStderrComeOutOnStderr) {
  start_daemon();

  described(connect({"describe"}));

  EXPECT_TRUE(says("corral connect: a note for people\n")) << errors();
  EXPECT_TRUE(says("from the server\n")) << errors();
}

TEST_F(Connect, FilesAreCopied) {
  start_daemon();
  const std::string text(300'000, 'q');
  std::ofstream(path("in")) << text;
  Launch launch = connect({"echo"});
  launch.in = launch.out = Stdio::Null;
  launch.before_exec = [this] {
    dup2(open(path("in").c_str(), O_RDONLY), 0);
    dup2(open(path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
  };

  EXPECT_EQ(Session(launch).wait(), 0) << errors();

  EXPECT_EQ(file("out").size(), text.size());
  EXPECT_TRUE(file("out") == text);  // too long to be shown
}

TEST_F(Connect, DevNullEndsAtOnce) {
  start_daemon();
  Launch launch = connect({"echo"});
  launch.in = launch.out = Stdio::Null;

  EXPECT_EQ(Session(launch).wait(), 0) << errors();
}

TEST_F(Connect, ATerminalIsCopied) {
  start_daemon();
  Terminal terminal;
  Launch launch = connect({"echo"}, {"--verbose"});
  launch.terminal = &terminal;
  launch.in = launch.out = Stdio::Terminal;
  Session session(launch);
  ASSERT_TRUE(eventually([&] { return says("accepted the session"); })) << errors();

  terminal.type("hello\n");

  EXPECT_TRUE(terminal.shows("hello\r\n")) << terminal.screen();  // the terminal's own echo
  EXPECT_TRUE(terminal.shows("hello\r\n")) << terminal.screen();
  terminal.type("\x04");
  EXPECT_EQ(session.wait(), 0) << errors();
}

TEST_F(Connect, CtrlCAtItsOwnTerminalEndsIt) {
  start_daemon();
  Terminal terminal;
  Launch launch = connect({"echo"}, {"--verbose"});
  launch.terminal = &terminal;
  launch.in = launch.out = Stdio::Terminal;
  Session session(launch);
  ASSERT_TRUE(eventually([&] { return says("accepted the session"); })) << errors();

  terminal.type(Terminal::kCtrlC);

  EXPECT_EQ(session.wait(), 128 + SIGINT) << errors();
}

TEST_F(Connect, CtrlCAtTheClientsTerminalDoesNotReachTheSession) {
  start_daemon();
  Terminal terminal;
  Launch launch = connect({"echo"});
  launch.terminal = &terminal;  // the shim is in the foreground, but its stdin is the client's pipe
  Session session(launch);
  ASSERT_TRUE(has_let_go(session.pid())) << errors();

  terminal.type(std::string(Terminal::kCtrlC) + Terminal::kCtrlBackslash + Terminal::kCtrlZ);
  terminal.close_window();

  write_line(session.stdin_fd(), "still here\n");
  EXPECT_TRUE(reads(session.stdout_fd(), "still here\n"));
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0) << errors();
}

class ConnectSignal : public Connect, public testing::WithParamInterface<int> {};

TEST_P(ConnectSignal, SentByAProcessEndsTheSession) {
  start_daemon();
  Session session(connect({"echo"}));
  ASSERT_TRUE(has_let_go(session.pid())) << errors();

  ASSERT_EQ(kill(session.pid(), GetParam()), 0);

  EXPECT_TRUE(session.output_ends());
  EXPECT_EQ(session.wait(), 128 + GetParam()) << errors();
}

INSTANTIATE_TEST_SUITE_P(Ends, ConnectSignal, testing::Values(SIGTERM, SIGINT, SIGHUP));

TEST_F(Connect, AKilledShimEndsTheSession) {
  start_daemon();
  Session session(connect({"echo"}));
  ASSERT_TRUE(has_let_go(session.pid())) << errors();

  ASSERT_TRUE(kill_now(session.pid()));

  EXPECT_TRUE(session.output_ends());
}

TEST_F(Connect, FlagsOfTheClientsPipesAreRestored) {
  start_daemon();
  int in[2];
  int out[2];
  ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
  Launch launch = connect({"echo"});
  launch.in = launch.out = Stdio::Null;
  launch.before_exec = [&] {
    dup2(in[0], 0);
    dup2(out[1], 1);
  };
  Session session(launch);
  ASSERT_TRUE(eventually([&] { return (fcntl(in[0], F_GETFL) & O_NONBLOCK) != 0; })) << errors();

  close(in[1]);

  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_EQ(fcntl(in[0], F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(out[1], F_GETFL) & O_NONBLOCK, 0);
  for (const int fd : {in[0], out[0], out[1]}) close(fd);
}

TEST_F(Connect, ADeadDaemonIsExitCode75) {
  start_daemon();
  Session session(connect({"echo"}));
  ASSERT_TRUE(has_let_go(session.pid())) << errors();

  daemon().kill();

  EXPECT_TRUE(session.output_ends());
  EXPECT_EQ(session.wait(), kDaemonDied);
  EXPECT_TRUE(says("the daemon died")) << errors();
}

TEST_F(Connect, ExitCodeIsTheDaemons) {
  start_daemon();
  for (const int code : {0, 3, 255}) {
    EXPECT_EQ(Session(connect({"exit-" + std::to_string(code)})).wait(), code) << errors();
  }
}

TEST_F(Connect, ARefusalIsSaidAndItsCodeReturned) {
  start_daemon();

  EXPECT_EQ(Session(connect({"refuse"})).wait(), 7);

  EXPECT_TRUE(says("corral connect: the test refuses\n")) << errors();
}

TEST_F(Connect, NobodyWhoReadsStderrHoldsUpTheSession) {
  start_daemon();
  int err[2];
  ASSERT_EQ(pipe2(err, O_CLOEXEC), 0);  // never read
  Launch launch = connect({"noisy"});
  launch.before_exec = [&] { dup2(err[1], 2); };
  Session session(launch);

  write_line(session.stdin_fd(), "hello\n");

  EXPECT_TRUE(reads(session.stdout_fd(), "hello\n"));
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(fcntl(err[0], F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(err[1], F_GETFL) & O_NONBLOCK, 0);
  close(err[0]);
  close(err[1]);
}

TEST_F(Connect, WhatTheDaemonDoesNotTakeRunsHere) {
  start_daemon();
  Session session(connect_command());

  EXPECT_EQ(session.ask("echo", "me"), "me") << errors();

  EXPECT_TRUE(says("corral connect: the test says so; running the server here")) << errors();
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(all_gone());
}

TEST_F(Connect, WithoutAnyPlaceForADaemonTheServerRunsHere) {
  mkdir(runtime_dir().c_str(), 0755);  // belongs to another user, or lets others in
  chmod(runtime_dir().c_str(), 0755);
  Session session(connect_command());

  EXPECT_EQ(session.ask("echo", "me"), "me") << errors();

  EXPECT_TRUE(says("running the server here")) << errors();
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(all_gone());
}

TEST_F(Connect, RequiringADaemonMakesThatAnError) {
  mkdir(runtime_dir().c_str(), 0755);
  chmod(runtime_dir().c_str(), 0755);

  EXPECT_EQ(Session(connect_command({"--require-daemon"})).wait(), kNoDaemon);

  EXPECT_TRUE(says(runtime_dir())) << errors();
}

TEST_F(Connect, NoDaemonIsStartedBelowASubreaper) {
  Launch launch = connect_command();
  launch.before_exec = [] {
    // A parent that takes every orphan, as `corral guard` does.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = fork();
    if (child == 0) return;
    for (const int fd : {0, 1}) close(fd);
    close_range(3, ~0U, 0);  // also the test's own ends of the pipes
    int status = 0;
    while (waitpid(child, &status, 0) != child) {
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 94);
  };
  Session session(launch);

  EXPECT_EQ(session.ask("echo", "me"), "me") << errors();

  EXPECT_TRUE(says("no daemon was started")) << errors();
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(all_gone());
}

TEST_F(Connect, NoDaemonIsStartedByAConfinedShim) {
  Launch launch = connect_command();
  launch.before_exec = [] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); };
  std::ifstream status("/proc/1/status");
  for (std::string line; std::getline(status, line);) {
    if (line == "NoNewPrivs:\t1") GTEST_SKIP() << "everybody is confined in this container";
  }
  Session session(launch);

  EXPECT_EQ(session.ask("echo", "me"), "me") << errors();

  EXPECT_TRUE(says("no daemon was started")) << errors();
  session.close_stdin();
  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_TRUE(all_gone());
}

TEST_F(Connect, ADaemonThatIsMoreConfinedIsNotUsed) {
  start_daemon(EmptyDaemon::Manner::Confined);

  EXPECT_EQ(Session(connect({"echo"}, {"--require-daemon"})).wait(), kNoDaemon);

  EXPECT_TRUE(says("the daemon is more confined than this process (no_new_privs)")) << errors();
}

TEST_F(Connect, ADaemonThatHangsUpBeforehandIsAskedOnceMore) {
  start_daemon(EmptyDaemon::Manner::HangsUpFirst);

  EXPECT_EQ(Session(connect({"exit-3"}, {"--require-daemon"})).wait(), 3) << errors();
}

TEST_F(Connect, AfterADaemonThatShutsDownItsSuccessorIsAsked) {
  start_daemon();

  EXPECT_EQ(Session(connect({"leaving"}, {"--require-daemon"})).wait(), 0) << errors();
}

TEST_F(Connect, AServerWithAListOfToolsDoesNotRunWithoutADaemon) {
  mkdir(runtime_dir().c_str(), 0755);
  chmod(runtime_dir().c_str(), 0755);
  std::ofstream(path("config.json")) << R"({"mcpServers":{"a":{"command":"true","tools":["read"]}}})";

  EXPECT_EQ(Session(connect({"a"}, {"--config", path("config.json")})).wait(), kNoDaemon);

  EXPECT_TRUE(says("cannot run without the daemon")) << errors();
  EXPECT_FALSE(says("running the server here")) << errors();
}

TEST_F(Connect, ANameThatIsNotConfiguredIsAnErrorThatListsThem) {
  mkdir(runtime_dir().c_str(), 0755);
  chmod(runtime_dir().c_str(), 0755);
  std::ofstream(path("config.json")) << R"({"mcpServers":{"filesystem":{"command":"true"}}})";

  EXPECT_NE(Session(connect({"filesytem"}, {"--config", path("config.json")})).wait(), 0);

  EXPECT_TRUE(says("did you mean filesystem?")) << errors();
}

TEST_F(Connect, AnUnconfinedShimIsNotConfined) {
  start_daemon();

  const std::string line = described(connect({"describe"}));

  EXPECT_NE(line.find("confined=()"), std::string::npos) << line;
}

TEST_F(Connect, NoNewPrivsIsSeen) {
  start_daemon();
  Launch launch = connect({"describe"});
  launch.before_exec = [] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); };

  const std::string line = described(launch);

  EXPECT_NE(line.find("confined=(no_new_privs)"), std::string::npos) << line;
}

TEST_F(Connect, NamespacesOfItsOwnAreSeen) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to make a mount and a network namespace";
  start_daemon();
  Launch launch = connect({"describe"});
  launch.before_exec = [] {
    if (unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) _exit(95);
  };

  const std::string line = described(launch);

  EXPECT_NE(line.find("confined=(its own mount namespace, its own network namespace)"), std::string::npos)
      << line;
}

}  // namespace
}  // namespace corral::os_tests
