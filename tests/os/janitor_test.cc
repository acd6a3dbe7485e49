// The janitor above the daemon, with a shell script in the daemon's place: what it passes on, what it ends,
// and what it leaves alone. And with the real daemon: killing either of the two leaves nothing.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/daemon_test.h"
#include "support/eventually.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kLock = 9;

class Janitor : public DaemonTest {
 protected:
  // $1 and $2 of the script are the descriptors of lock and lifeline.
  Launch above(const std::string& script) const {
    Launch launch;
    launch.argv = {"/bin/false"};
    launch.env = {"CORRAL_TEST_TAG=" + tag()};
    launch.stderr_path = path("stderr");
    launch.in = Stdio::Pipe;
    launch.out = Stdio::Null;
    launch.before_exec = [this, script] { become_janitor(script); };
    return launch;
  }

  bool lock_is_free() const {
    const int fd = open(path("lock").c_str(), O_RDWR | O_CLOEXEC);
    const bool free = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0) close(fd);
    return free;
  }

  std::string adversary(const std::string& options) const {
    return programs().adversary + " --tag=" + tag() + " " + options;
  }

  // A tree that nobody waits for and that does not listen.
  std::string stubborn_tree() const {
    return "echo $$ > " + path("pid") + R"(; echo '{"id":1,"method":"echo","arg":"all"}' | )" +
           adversary("--grow=mixed:60 --ignore-eof") + " > " + path("stands") + " & wait";
  }
  // It answers when it has grown.
  bool stands() const {
    return eventually([this] { return !file("stands").empty(); });
  }

  pid_t script() const {
    eventually([this] { return file("pid").ends_with('\n'); });
    return std::atoi(file("pid").c_str());
  }

  bool grown() const {
    return eventually([this] { return processes().size() >= 60; });
  }

 private:
  // Stays who the test is; the name of a program is its argv[0], which a Launch cannot choose.
  [[noreturn]] void become_janitor(const std::string& script) const {
    const int lock = open(path("lock").c_str(), O_RDWR | O_CREAT, 0600);
    if (flock(lock, LOCK_EX | LOCK_NB) != 0 || dup2(lock, kLock) != kLock) _exit(97);
    if (lock != kLock) close(lock);
    const std::string number = std::to_string(kLock);
    const std::string folder = runtime_dir();
    setenv("CORRAL_TEST_TAG", tag().c_str(), 1);
    execl(programs().keeper.c_str(), "corral-janitor", folder.c_str(), number.c_str(), "/bin/sh", "-c",
          script.c_str(), nullptr);
    _exit(98);
  }
};

TEST_F(Janitor, ExitsWithTheCodeOfTheDaemon) {
  Session session(above("exit 7"));

  EXPECT_EQ(session.wait(), 7);
  EXPECT_TRUE(lock_is_free());
}

TEST_F(Janitor, ExitsWithTheSignalThatEndedTheDaemonAndSaysSo) {
  Session session(above("kill -9 $$"));

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_THAT(errors(), HasSubstr("was ended by signal 9"));
}

TEST_F(Janitor, PassesSignalsOn) {
  for (const auto& [signo, code] : {std::pair(SIGTERM, 3), std::pair(SIGINT, 4), std::pair(SIGHUP, 5)}) {
    Session session(above("trap 'exit 3' TERM; trap 'exit 4' INT; trap 'exit 5' HUP; echo $$ > " +
                          path("pid") + "; while :; do sleep 0.05; done"));
    ASSERT_GT(script(), 0) << errors();

    kill(session.pid(), signo);

    EXPECT_EQ(session.wait(), code);
    unlink(path("pid").c_str());
  }
}

TEST_F(Janitor, NamesTheDaemonInVariablesThatNamedItself) {
  Launch launch = above("echo $LISTEN_PID $WATCHDOG_PID $$ > " + path("pids"));
  const auto become = launch.before_exec;
  launch.before_exec = [become] {
    setenv("LISTEN_PID", std::to_string(getpid()).c_str(), 1);
    setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
    become();
  };
  Session session(launch);

  EXPECT_EQ(session.wait(), 0);
  long listen = 0;
  long watchdog = 0;
  long own = -1;
  std::ifstream(path("pids")) >> listen >> watchdog >> own;
  EXPECT_EQ(listen, own);
  EXPECT_EQ(watchdog, own);
}

TEST_F(Janitor, IsNotFoundByTheCommandLineOfTheDaemon) {
  Session session(above("echo $$ > " + path("pid") + "; sleep 60"));
  ASSERT_GT(script(), 0) << errors();

  std::ifstream stream("/proc/" + std::to_string(session.pid()) + "/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(stream), {}};

  EXPECT_THAT(line, Not(HasSubstr("sleep")));
  EXPECT_THAT(line, HasSubstr(runtime_dir()));
  EXPECT_EQ(process_by_pid(session.pid()).value().comm, "corral-janitor");
  kill(session.pid(), SIGTERM);
  EXPECT_EQ(session.wait(), 128 + SIGTERM);
}

TEST_F(Janitor, IsNeededForATreeThatAKilledDaemonLeaves) {
  Launch launch;
  launch.argv = {"/bin/sh", "-c", stubborn_tree()};
  launch.env = {"CORRAL_TEST_TAG=" + tag()};
  Session session(launch);
  ASSERT_TRUE(stands());

  ASSERT_TRUE(kill_now(script()));

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_GE(survivors(tag()).size(), 60U);
  end_tagged(tag());
}

TEST_F(Janitor, EndsTheTreeThatAKilledDaemonLeaves) {
  Session session(above(stubborn_tree()));
  ASSERT_TRUE(stands()) << errors();

  EXPECT_FALSE(lock_is_free());
  ASSERT_TRUE(kill_now(script()));

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_TRUE(survivors(tag()).empty()) << "it was gone before its tree was";
  EXPECT_TRUE(lock_is_free());
}

TEST_F(Janitor, LetsKeepersEndTheirOwnTrees) {
  Session session(above("echo $$ > " + path("pid") + "; exec " + programs().corral +
                        " run --detached --report " + path("report.json") + " -- " +
                        adversary("--grow=mixed:60")));
  ASSERT_TRUE(grown()) << errors();

  ASSERT_TRUE(kill_now(script()));

  EXPECT_EQ(session.wait(), 128 + SIGKILL);
  EXPECT_TRUE(survivors(tag()).empty());
  EXPECT_EQ(report().reason, "owner-gone");
  expect_clean(report());
}

TEST_F(Janitor, EndsTheTreeWhenTheKeeperWasKilledWithTheDaemon) {
  Session session(above("echo $$ > " + path("pid") + "; exec " + programs().corral + " run --detached -- " +
                        adversary("--grow=mixed:60 --ignore-eof --ignore-term")));
  ASSERT_TRUE(grown()) << errors();
  const auto keeper = find_keeper(tag(), script());
  ASSERT_TRUE(keeper);

  ASSERT_TRUE(kill_now(keeper->pid));
  kill_now(script());

  EXPECT_TRUE(session.wait().has_value());
  EXPECT_TRUE(survivors(tag()).empty());
}

TEST_F(Janitor, TellsTheDaemonOfItsOwnDeath) {
  Session session(above("eval \"cat <&$2\" > /dev/null; echo gone > " + path("gone")));
  ASSERT_TRUE(eventually([this] { return processes().size() >= 2; })) << errors();

  ASSERT_TRUE(kill_now(session.pid()));

  EXPECT_TRUE(eventually([this] { return file("gone") == "gone\n"; }));
}

TEST_F(Janitor, LeavesChildrenAloneThatItHadBefore) {
  Launch launch = above("exit 0");
  const auto become = launch.before_exec;
  launch.before_exec = [this, become] {
    if (fork() == 0) {
      execl(programs().adversary.c_str(), "adversary", ("--tag=" + tag()).c_str(), "--ignore-eof", nullptr);
      _exit(98);
    }
    become();
  };
  Session session(launch);

  EXPECT_EQ(session.wait(), 0);
  // While the child is being executed it has neither arguments nor an environment, and cannot be found.
  EXPECT_TRUE(eventually([this] { return survivors(tag()).size() == 1; }));
  end_tagged(tag());
}

// ---- with the real daemon, and a session whose server has grown a tree that does not want to go

class DaemonEnd : public Janitor {
 protected:
  Launch connect() const {
    Launch launch =
        command("connect", {"--require-daemon", "--share", "session", "--", programs().adversary,
                            "--tag=" + tag(), "--grow=mixed:60", "--ignore-eof", "--ignore-term"});
    launch.in = Stdio::Pipe;
    return launch;
  }

  // The first message starts the server; that this one never answers it does not matter here.
  static void begin(const Session& client) {
    const std::string line =
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
        R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
        "\n";
    ASSERT_EQ(write(client.stdin_fd(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
};

TEST_F(DaemonEnd, ByAKillLeavesNothing) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();
  Session client(connect());
  begin(client);
  ASSERT_TRUE(grown()) << errors();

  ASSERT_TRUE(kill_now(daemon()));

  EXPECT_EQ(serving.wait(), 128 + SIGKILL);
  EXPECT_EQ(client.wait(), 75);
  EXPECT_TRUE(all_gone());
}

TEST_F(DaemonEnd, ByAKillAfterThatOfTheKeeperLeavesNothing) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();
  Session client(connect());
  begin(client);
  ASSERT_TRUE(grown()) << errors();
  const auto keeper = find_keeper(tag(), daemon());
  ASSERT_TRUE(keeper);

  const pid_t pid = daemon();
  EXPECT_TRUE(kill_now(keeper->pid));
  EXPECT_TRUE(kill_now(pid));

  EXPECT_EQ(serving.wait(), 128 + SIGKILL);
  EXPECT_TRUE(all_gone());
}

TEST_F(DaemonEnd, FollowsInOrderIfTheJanitorIsKilled) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();
  Session client(connect());
  begin(client);
  ASSERT_TRUE(grown()) << errors();

  ASSERT_TRUE(kill_now(serving.janitor()));

  EXPECT_EQ(serving.wait(), 128 + SIGKILL);
  EXPECT_TRUE(all_gone());
  EXPECT_THAT(errors(), HasSubstr("Shutting down (the janitor was killed, 1 sessions, 1 instances, "));
  EXPECT_NE(access(in_runtime_dir("corral.pid").c_str(), F_OK), 0);
}

TEST_F(DaemonEnd, ByAKillTogetherWithTheJanitorLeavesNothing) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();
  Session client(connect());
  begin(client);
  ASSERT_TRUE(grown()) << errors();

  const pid_t pid = daemon();
  EXPECT_TRUE(kill_now(serving.janitor()));
  EXPECT_TRUE(kill_now(pid));

  EXPECT_EQ(serving.wait(), 128 + SIGKILL);
  EXPECT_TRUE(all_gone());
}

TEST_F(DaemonEnd, BySigtermEndsTheServersAndCountsThem) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();
  Session client(connect());
  begin(client);
  ASSERT_TRUE(grown()) << errors();

  serving.signal(SIGTERM);

  EXPECT_EQ(serving.wait(), 0);
  for (const Process& left : survivors(tag())) {
    // A leak checker at the end of the client is a process of its own.
    const bool of_client = left.pid == client.pid() || left.parent == client.pid();
    EXPECT_TRUE(of_client) << "it left before its servers did: " << left.comm << " " << left.pid;
  }
  EXPECT_THAT(errors(), HasSubstr("Shutting down (SIGTERM, 1 sessions, 1 instances, "));
  EXPECT_TRUE(all_gone());
}

// A package manager puts new files in the place of the old ones while the daemon runs. Its keepers are still
// keepers to its janitor, and get the time that they need.
TEST_F(DaemonEnd, ByAKillAfterAnUpgradeLetsKeepersFinish) {
  const std::filesystem::path prefix = path("prefix");
  const std::filesystem::path helper = prefix / "libexec/corral/corral-keeper";
  std::filesystem::create_directories(prefix / "bin");
  std::filesystem::create_directories(helper.parent_path());
  std::filesystem::copy_file(programs().corral, prefix / "bin/corral");
  std::filesystem::copy_file(programs().keeper, helper);
  std::ofstream(path("servers.json"))
      << R"({"mcpServers":{"slow":{"command":")" << programs().adversary << R"(","args":["--tag=)" << tag()
      << R"(","--ignore-eof"],"corral":{"on_stop":"sleep 2; echo done > )" << path("noted") << R"("}}}})";
  Launch launch = serve({"--config", path("servers.json")});
  launch.argv.front() = prefix / "bin/corral";
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();
  std::filesystem::copy_file(programs().keeper, path("new-keeper"));
  std::filesystem::rename(path("new-keeper"), helper);

  Launch connect = command("connect", {"--require-daemon", "slow"});
  connect.in = Stdio::Pipe;
  Session client(connect);
  begin(client);
  ASSERT_TRUE(eventually([this] { return find_server(tag()).has_value(); })) << errors();
  ASSERT_TRUE(kill_now(daemon()));

  EXPECT_EQ(serving.wait(), 128 + SIGKILL);
  EXPECT_EQ(file("noted"), "done\n") << errors();
  EXPECT_TRUE(all_gone());
}

}  // namespace
}  // namespace corral::os_tests
