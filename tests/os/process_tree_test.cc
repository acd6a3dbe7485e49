// The Spawner seam and the handle that it gives, as a program uses them that owns several servers.
#include "proc/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "keeper/proc_fs.h"
#include "keeper/sweep.h"
#include "proc/keeper_spawner.h"
#include "proc/plan_bytes.h"
#include "proc/start_failure.h"
#include "support/eventually.h"
#include "support/os_test.h"
#include "support/processes.h"
#include "version.h"

namespace corral::proc {
namespace {

using os_tests::eventually;
using os_tests::survivors;
using os_tests::TagGuard;

/// A server with its pipes in our hands.
class OwnedServer {
 public:
  explicit OwnedServer(LaunchSpec spec) {
    int input[2];
    int output[2];
    EXPECT_EQ(pipe2(input, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
    UniqueFd server_input(input[0]);
    UniqueFd server_output(output[1]);
    input_ = UniqueFd(input[1]);
    output_ = UniqueFd(output[0]);
    spec.input = server_input.get();
    spec.output = server_output.get();
    KeeperSpawner spawner(CORRAL_KEEPER_BIN);
    Result<ProcessTree> spawned = spawner.spawn(spec);
    if (spawned) tree_.emplace(std::move(*spawned));
  }

  ProcessTree& tree() { return *tree_; }
  bool spawned() const { return tree_.has_value(); }
  void close_input() { input_.reset(); }
  void drop() { tree_.reset(); }

  /// The line that the server prints when it is up.
  std::string line() const {
    std::string text;
    char byte = 0;
    while (read(output_.get(), &byte, 1) == 1 && byte != '\n') text += byte;
    return text;
  }

 private:
  UniqueFd input_;
  UniqueFd output_;
  std::optional<ProcessTree> tree_;
};

LaunchSpec shell(const std::string& script, const std::string& tag) {
  LaunchSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.environment = {"PATH=/usr/bin:/bin", "CORRAL_TEST_TAG=" + tag};
  spec.term_grace = std::chrono::milliseconds(100);
  return spec;
}

class ProcessTreeTest : public testing::Test {
 protected:
  TagGuard guard_;
};

TEST_F(ProcessTreeTest, StopReturnsTheEvidence) {
  OwnedServer server(
      shell("trap '' TERM; setsid sleep 50 & echo up; while :; do sleep 50; done", guard_.tag()));
  ASSERT_TRUE(server.spawned());
  ASSERT_EQ(server.line(), "up");

  server.tree().stop(keeper::Reason::Signal);
  const std::optional<keeper::Report> report = server.tree().wait_ended();

  ASSERT_TRUE(report);
  EXPECT_EQ(report->reason, keeper::Reason::Signal);
  EXPECT_TRUE(report->proved_empty);
  EXPECT_EQ(report->survivors, 0U);
  EXPECT_GE(report->ended_total, 2U);
  EXPECT_EQ(waitpid(server.tree().keeper(), nullptr, 0), server.tree().keeper());
}

TEST_F(ProcessTreeTest, LettingGoOfTheHandleEndsTheTree) {
  OwnedServer server(shell("setsid sleep 50 & echo up; sleep 50", guard_.tag()));
  ASSERT_EQ(server.line(), "up");
  const pid_t keeper = server.tree().keeper();

  server.drop();

  EXPECT_EQ(waitpid(keeper, nullptr, 0), keeper);
  EXPECT_TRUE(survivors(guard_.tag()).empty());
}

TEST_F(ProcessTreeTest, AMovedHandleKeepsTheTree) {
  OwnedServer server(shell("echo up; read line; echo $line", guard_.tag()));
  ASSERT_EQ(server.line(), "up");

  ProcessTree moved = std::move(server.tree());
  server.close_input();
  const std::optional<keeper::Report> report = moved.wait_ended();

  ASSERT_TRUE(report);
  EXPECT_TRUE(report->server_status_known);
  EXPECT_EQ(waitpid(moved.keeper(), nullptr, 0), moved.keeper());
}

TEST_F(ProcessTreeTest, AKilledKeeperLeavesNoEvidence) {
  OwnedServer server(shell("echo up; exec cat", guard_.tag()));
  ASSERT_EQ(server.line(), "up");

  ASSERT_EQ(keeper::pidfd_send_signal(server.tree().keeper_pidfd().get(), SIGKILL), 0);

  EXPECT_FALSE(server.tree().wait_ended());
  EXPECT_EQ(waitpid(server.tree().keeper(), nullptr, 0), server.tree().keeper());
  server.close_input();  // nobody above us is a subreaper here; the server leaves by itself at the end of its
                         // input
  EXPECT_TRUE(eventually([this] { return survivors(guard_.tag()).empty(); }));
}

class ForwardedSignal : public ProcessTreeTest, public testing::WithParamInterface<Containment> {};

TEST_P(ForwardedSignal, ReachesTheServerAlone) {
  LaunchSpec spec = shell(
      "(trap 'echo wrong' USR1; while :; do sleep 0.05; done) & "
      "trap 'echo got it; exit 7' USR1; echo up; while :; do sleep 0.05; done",
      guard_.tag());
  spec.containment = GetParam();
  OwnedServer server(spec);
  ASSERT_EQ(server.line(), "up");

  server.tree().forward(SIGUSR1);

  EXPECT_EQ(server.line(), "got it");
  const std::optional<keeper::Report> report = server.tree().wait_ended();
  ASSERT_TRUE(report);
  EXPECT_EQ(WEXITSTATUS(report->server_status), 7);
  EXPECT_EQ(waitpid(server.tree().keeper(), nullptr, 0), server.tree().keeper());
}

INSTANTIATE_TEST_SUITE_P(Each, ForwardedSignal, testing::Values(Containment::Basic, Containment::Strict),
                         [](const auto& level) {
                           return level.param == Containment::Strict ? "Strict" : "Basic";
                         });

// A child of the test does it: what is reaped there is not for other tests.
TEST(SweepTest, ReapsForABoundedTimeAndSaysThatThereMayBeMore) {
  constexpr int kDead = 600;
  const pid_t reaper = fork();
  if (reaper == 0) {
    alarm(30);
    for (int i = 0; i < kDead; ++i) {
      if (fork() == 0) _exit(0);
    }
    for (int i = 0; i < kDead; ++i) {  // all are zombies before the first is reaped
      static pid_t seen[kDead];
      const std::size_t count = keeper::own_children(seen);
      keeper::StatLine line;
      while (i < static_cast<int>(count) && keeper::read_stat(seen[i], line) && line.state != 'Z')
        usleep(1000);
    }
    static keeper::Report report;
    keeper::Sweep sweep(report);
    int calls = 1;
    for (; !sweep.reap(0, keeper::Sweep::Record::Everybody); ++calls) {
      if (!sweep.more()) _exit(2);
    }
    _exit(calls >= 3 && report.ended_total == kDead && !sweep.more() ? 0 : 3);
  }

  int status = 0;
  ASSERT_EQ(waitpid(reaper, &status, 0), reaper);
  EXPECT_EQ(status, 0);
}

class Upgrade : public ProcessTreeTest {
 protected:
  /// A copy of the helper that a test may replace.
  std::string copied_helper() const {
    const std::string copy = directory_.path() + "/corral-keeper";
    std::filesystem::copy_file(CORRAL_KEEPER_BIN, copy);
    return copy;
  }

  os_tests::TempDirectory directory_;
};

TEST_F(Upgrade, InPlaceLeavesARunningOwnerWithItsOwnHelper) {
  const std::string helper = copied_helper();
  KeeperSpawner spawner(helper);
  const std::string newer = helper + ".new";
  std::ofstream(newer) << "#!/bin/sh\nexit 7\n";
  ASSERT_EQ(chmod(newer.c_str(), 0755), 0);
  ASSERT_EQ(rename(newer.c_str(), helper.c_str()), 0);

  LaunchSpec spec = shell("exit 3", guard_.tag());
  spec.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  Result<ProcessTree> tree = spawner.spawn(spec);
  close(spec.input);
  ASSERT_TRUE(tree) << tree.error().message;
  const std::optional<keeper::Report> report = tree->wait_ended();

  ASSERT_TRUE(report);
  EXPECT_EQ(WEXITSTATUS(report->server_status), 3);
  EXPECT_EQ(waitpid(tree->keeper(), nullptr, 0), tree->keeper());
}

TEST_F(Upgrade, AHelperOfAnotherBuildSaysSo) {
  int line[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line), 0);
  PlanStrings strings;
  strings.executable = "/bin/true";
  strings.argv = {"true"};
  std::vector<char> plan = plan_bytes({}, strings);
  plan[0] = static_cast<char>(plan[0] ^ 1);  // as another build would write it
  Result<UniqueFd> file = seal(plan);
  ASSERT_TRUE(file);
  const pid_t helper = fork();
  if (helper == 0) {
    const int high_line = fcntl(line[1], F_DUPFD, 20);
    const int high_plan = fcntl(file->get(), F_DUPFD, 20);
    dup2(high_line, keeper::kLifelineFd);
    dup2(high_plan, keeper::kPlanFd);
    execl(CORRAL_KEEPER_BIN, "corral-keeper", "x", nullptr);
    _exit(97);
  }
  close(line[1]);
  ProcessTree::Parts parts;
  parts.lifeline = UniqueFd(line[0]);
  ProcessTree tree(std::move(parts));

  pollfd wake{tree.events(), POLLIN, 0};
  ASSERT_EQ(poll(&wake, 1, 15'000), 1);
  const keeper::Event* event = tree.take_event();

  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->stage, keeper::Stage::Plan);
  const std::string text = explain_start_failure(*event, "/bin/true", "").message;
  EXPECT_NE(text.find("different builds (" + std::string(kVersion) + " of " + kBuildDate + " and "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("reinstall corral"), std::string::npos) << text;
  EXPECT_EQ(waitpid(helper, nullptr, 0), helper);
}

TEST_F(ProcessTreeTest, ACommandThatIsNotThereIsAnError) {
  KeeperSpawner spawner(CORRAL_KEEPER_BIN);
  LaunchSpec spec;
  spec.argv = {"no-such-command"};

  const Result<ProcessTree> tree = spawner.spawn(spec);

  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, Error::Kind::NotFound);
}

}  // namespace
}  // namespace corral::proc
