// The Spawner seam and the handle that it gives, as a program uses them that owns several servers.
#include "proc/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/keeper_spawner.h"
#include "support/eventually.h"
#include "support/os_test.h"
#include "support/processes.h"

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
