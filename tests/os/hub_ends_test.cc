// Every way in which a session can end, with the worst tree that a private server can be, and with a call in
// flight: nothing is left, the client is told what can be told, and a shared server stays for the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <span>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

constexpr int kDaemonDied = 75;
constexpr int kKeeperLost = 125;

/// For Launch::before_exec: a client that is only the parent of its shim. The test keeps the pipes, so that
/// its death shows nowhere but in its pid. It ends as the shim does.
void be_the_client_of_a_shim() {
  const pid_t child = fork();
  if (child == 0) return;
  close_range(0, ~0U, 0);
  int status = 0;
  while (waitpid(child, &status, 0) != child) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/// 0 if there is no such process.
pid_t parent_of(pid_t pid) {
  const auto process = process_by_pid(pid);
  return process ? process->parent : 0;
}

class HubTrees : public HubTest {
 protected:
  Launch client_of(const std::string& server) const {
    Launch launch = connect({server});
    launch.before_exec = be_the_client_of_a_shim;
    return launch;
  }

  bool tree_is_alive() const {
    const auto all = processes();
    return std::any_of(all.begin(), all.end(), [](const Process& process) {
      return process.comm == "rude-server" || process.comm == "adv-helper";
    });
  }
};

/// The processes of one session by their parts.
struct Cast {
  McpClient& client;
  pid_t shim;
  pid_t daemon;
  pid_t janitor;
  pid_t keeper;
};

struct Way {
  const char* name;
  void (*act)(const Cast&);
  int code;            // of the shim, or of the client if that was killed
  const char* answer;  // to the call in flight; nothing if nobody can be told
  const char* said;    // on the shim's stderr
};

// The first of them end one session and nothing else.
constexpr std::size_t kWaysOfOneSession = 5;

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

/// Never a number that means more than one process, whatever a status or a pid file said.
void signal_one(pid_t pid, int signo) {
  ASSERT_GT(pid, 1);
  ASSERT_EQ(kill(pid, signo), 0);
}

void kill_both(pid_t first, pid_t second) {
  signal_one(first, SIGSTOP);  // so that it cannot act on the other's death
  signal_one(second, SIGKILL);
  signal_one(first, SIGKILL);
}

const Way kWays[] = {
    {"StdinEof", [](const Cast& cast) { cast.client.session().close_stdin(); }, 0, "unblocked", ""},
    {"ClientKilled", [](const Cast& cast) { signal_one(cast.client.session().pid(), SIGKILL); },
     128 + SIGKILL, nullptr, ""},
    {"StdoutClosed", [](const Cast& cast) { cast.client.session().close_stdout(); }, 0, nullptr, ""},
    {"ShimKilled", [](const Cast& cast) { signal_one(cast.shim, SIGKILL); }, 128 + SIGKILL, nullptr, ""},
    {"ShimTerminated", [](const Cast& cast) { signal_one(cast.shim, SIGTERM); }, 128 + SIGTERM, nullptr, ""},
    {"DaemonTerminated", [](const Cast& cast) { signal_one(cast.daemon, SIGTERM); }, 0, "-31006", ""},
    {"DaemonKilled", [](const Cast& cast) { signal_one(cast.daemon, SIGKILL); }, kDaemonDied, nullptr,
     "the daemon died"},
    {"JanitorTerminated", [](const Cast& cast) { signal_one(cast.janitor, SIGTERM); }, 0, "-31006", ""},
    {"JanitorKilled", [](const Cast& cast) { signal_one(cast.janitor, SIGKILL); }, 0, "-31006", ""},
    {"DaemonAndJanitorKilled", [](const Cast& cast) { kill_both(cast.daemon, cast.janitor); }, kDaemonDied,
     nullptr, "the daemon died"},
    {"KeeperKilled", [](const Cast& cast) { signal_one(cast.keeper, SIGKILL); }, kKeeperLost, "-31001",
     "lost its keeper"},
    {"DaemonAndKeeperKilled", [](const Cast& cast) { kill_both(cast.daemon, cast.keeper); }, kDaemonDied,
     nullptr, "the daemon died"},
    {"Shutdown", nullptr, 0, "-31006", ""},
};

enum class Call { None, InFlight };

class HubEnd : public HubTrees, public testing::WithParamInterface<std::tuple<Way, Call>> {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    add_server("nasty", {"--grow=mixed:12", "--ignore-eof", "--ignore-term", alive_lock()},
               R"("share":"session","restart":false,"stdin_grace":"200ms","term_grace":"200ms")");
    start_daemon();
  }
};

TEST_P(HubEnd, LeavesNothingOfAPrivateServer) {
  const auto& [way, call] = GetParam();
  McpClient client(client_of("nasty"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim() << errors();
  const pid_t server = std::stoi(client.call("pid"));
  const Cast cast{client, shim(), daemon(), serving().janitor(), keeper()};
  ASSERT_EQ(parent_of(cast.shim), client.session().pid());
  ASSERT_EQ(parent_of(cast.daemon), cast.janitor);
  ASSERT_EQ(parent_of(cast.keeper), cast.daemon);
  ASSERT_TRUE(tree_is_alive());
  // Only an end that lets the call finish needs one that does.
  const bool finishes = way.answer != nullptr && way.answer == std::string("unblocked");
  const int id = call == Call::InFlight ? client.begin("block", finishes ? "1000" : "50000") : 0;
  if (id != 0) {
    ASSERT_TRUE(eventually([&] { return counter("messages") >= 4; })) << status();
  }

  if (way.act != nullptr) {
    way.act(cast);
  } else {
    EXPECT_EQ(say("shutdown").code, 0);
    EXPECT_FALSE(any_alive()) << testing::PrintToString(processes()) << ": shutdown did not wait";
  }

  if (id != 0 && way.answer != nullptr) {
    EXPECT_THAT(client.answer_to(id), HasSubstr(way.answer));
  }
  EXPECT_EQ(client.wait(), way.code) << errors_of_shim();
  EXPECT_THAT(errors_of_shim(), HasSubstr(way.said));
  EXPECT_TRUE(eventually([&] { return is_gone(server) && is_gone(cast.keeper) && is_gone(cast.shim); }));
  EXPECT_TRUE(eventually([&] { return !tree_is_alive(); })) << testing::PrintToString(processes());
  serving().signal(SIGTERM);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

std::string name_of_end(const testing::TestParamInfo<std::tuple<Way, Call>>& tested) {
  const auto& [way, call] = tested.param;
  return std::string(way.name) + (call == Call::InFlight ? "WithACallInFlight" : "");
}

INSTANTIATE_TEST_SUITE_P(Ways, HubEnd,
                         testing::Combine(testing::ValuesIn(kWays),
                                          testing::Values(Call::None, Call::InFlight)),
                         name_of_end);

TEST_F(HubTrees, ASharedServerOutlivesEverySessionButTheLast) {
  add_server("shared", {"--grow=mixed:6", "--ignore-eof", "--ignore-term", alive_lock()},
             R"("share":"shared","stdin_grace":"200ms","term_grace":"200ms")");
  start_daemon();
  McpClient holder(connect({"shared"}));
  ASSERT_TRUE(holder.initialize()) << errors_of_shim();
  const std::string server = holder.call("pid");

  for (const Way& way : std::span(kWays).first(kWaysOfOneSession)) {
    McpClient client(client_of("shared"));
    ASSERT_TRUE(client.initialize()) << errors_of_shim();
    ASSERT_EQ(client.call("pid"), server) << "not shared";
    const pid_t client_shim = shim() - holder.session().pid();
    ASSERT_EQ(parent_of(client_shim), client.session().pid());
    client.begin("silent");
    way.act({client, client_shim, 0, 0, 0});
    if (way.answer != nullptr) {  // its end waits for the answer, which never comes
      signal_one(client.session().pid(), SIGKILL);
      EXPECT_EQ(client.wait(), 128 + SIGKILL);
    } else {
      EXPECT_EQ(client.wait(), way.code) << way.name;
    }

    EXPECT_EQ(holder.call("pid"), server) << way.name;
    ASSERT_TRUE(eventually([&] { return counter("shim") == holder.session().pid(); })) << status();
  }
  EXPECT_THAT(status(), HasSubstr(R"("state":"ready")"));

  EXPECT_EQ(say("shutdown").code, 0);
  EXPECT_FALSE(any_alive()) << testing::PrintToString(processes());
  EXPECT_EQ(holder.wait(), 0);
}

/// The dead that a parent has not collected; they have a number, but neither a tag nor arguments.
std::size_t dead_children_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  std::size_t dead = 0;
  for (pid_t child = 0; children >> child;) {
    const std::optional<Process> process = process_by_pid(child);
    if (process && process->state == 'Z') ++dead;
  }
  return dead;
}

TEST_F(HubTrees, TheDaemonCollectsItsDeadOneAfterTheOther) {
  add_server("own", {}, R"("share":"session","stdin_grace":"200ms","term_grace":"200ms")");
  start_daemon();
  for (int i = 0; i < 3; ++i) {
    McpClient client(connect({"own"}));
    ASSERT_TRUE(client.initialize()) << errors_of_shim();
    client.session().close_stdin();
    EXPECT_EQ(client.wait(), 0);
    EXPECT_TRUE(eventually([&] { return !tree_is_alive() && dead_children_of(daemon()) == 0; }));
  }
}

TEST_F(HubTrees, ASharedServerIsGoneWhenItHasBeenIdleForLongEnough) {
  add_server("shared", {"--grow=daemons:3", "--ignore-term"},
             R"("share":"shared","stdin_grace":"200ms","term_grace":"200ms","idle":"300ms")");
  start_daemon();
  {
    McpClient client(connect({"shared"}));
    ASSERT_TRUE(client.initialize()) << errors_of_shim();
    client.session().close_stdin();
    EXPECT_EQ(client.wait(), 0);
  }

  EXPECT_TRUE(eventually([&] { return !tree_is_alive(); })) << testing::PrintToString(processes());
  EXPECT_TRUE(answers());
  EXPECT_THAT(status(), HasSubstr(R"("instances":[])"));
}

// Its server may do that to it, and then leave.
TEST_F(HubTrees, AStoppedKeeperGoesOn) {
  add_server("one", {"--grow=mixed:6"}, R"("share":"session","restart":false)");
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const pid_t stopped = keeper();
  ASSERT_EQ(parent_of(stopped), daemon());

  signal_one(stopped, SIGSTOP);
  client.begin("exit", "0");

  EXPECT_TRUE(eventually([&] { return is_gone(stopped); }));
  EXPECT_TRUE(eventually([&] { return !tree_is_alive(); })) << testing::PrintToString(processes());
  client.session().close_stdin();
  EXPECT_TRUE(client.wait());
  serving().signal(SIGTERM);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// SIGCONT does not help here. After the time that its work may take the keeper is killed, and its work is
// done by the daemon.
TEST_F(HubTrees, AKeeperThatCannotGoOnIsReplacedWhenItsTimeIsOver) {
  add_server("one", {"--grow=mixed:6", "--ignore-eof", "--ignore-term"},
             R"("share":"session","restart":false,"stdin_grace":"200ms","term_grace":"200ms")");
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const pid_t held = keeper();
  ASSERT_EQ(parent_of(held), daemon());
  if (ptrace(PTRACE_SEIZE, held, nullptr, nullptr) != 0) GTEST_SKIP() << "nobody may be traced here";
  ASSERT_EQ(ptrace(PTRACE_INTERRUPT, held, nullptr, nullptr), 0);
  int status = 0;
  ASSERT_EQ(waitpid(held, &status, __WALL), held);

  signal_one(client.session().pid(), SIGKILL);
  // The kernel tells a tracer of the death first, and the parent only when the tracer has heard it.
  const auto dead = [&] { return waitpid(held, &status, WNOHANG | __WALL) == held && WIFSIGNALED(status); };
  const bool killed = eventually(dead) || eventually(dead);  // its time alone is 12 s
  if (!killed) ptrace(PTRACE_DETACH, held, nullptr, nullptr);

  EXPECT_TRUE(killed);
  EXPECT_TRUE(eventually([&] { return !tree_is_alive(); })) << testing::PrintToString(processes());
  EXPECT_TRUE(answers());
  EXPECT_EQ(client.wait(), 128 + SIGKILL);
  serving().signal(SIGTERM);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// A gateway behind the daemon, whose backend is behind `corral run`: that one finishes what belongs to its
// end.
TEST_F(HubTrees, TheEndsOfAGatewaysBackendAreFinished) {
  start_daemon();
  std::vector<std::string> words = {"--",
                                    programs().relay_client,
                                    programs().corral,
                                    "run",
                                    "--on-stop",
                                    "sleep 2; echo done > " + path("noted"),
                                    "--"};
  const std::vector<std::string> backend = rude({"--ignore-eof"});
  words.insert(words.end(), backend.begin(), backend.end());
  McpClient client(connect(words));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  ASSERT_EQ(client.call("echo", "here"), "here");

  signal_one(client.session().pid(), SIGKILL);

  EXPECT_TRUE(eventually([&] { return !tree_is_alive() && counter("keeper") < 0; })) << status();
  EXPECT_EQ(file("noted"), "done\n");
  EXPECT_TRUE(client.wait());
  serving().signal(SIGTERM);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

TEST_F(HubTrees, ALostKeeperCostsNobodyElseItsServer) {
  add_server("one", {"--grow=mixed:6", "--ignore-term"}, R"("share":"session")");
  start_daemon();
  McpClient unlucky(connect({"one"}));
  ASSERT_TRUE(unlucky.initialize()) << errors_of_shim();
  const pid_t lost = keeper();
  McpClient other(connect({"one"}));
  ASSERT_TRUE(other.initialize()) << errors_of_shim();
  const std::string server = other.call("pid");

  ASSERT_EQ(parent_of(lost), daemon());
  signal_one(lost, SIGKILL);

  // The first call may still meet the old one, and gets an error.
  EXPECT_TRUE(eventually([&] { return unlucky.call("echo", "from the next one") == "from the next one"; }));
  EXPECT_EQ(other.call("pid"), server);
  EXPECT_THAT(status(), HasSubstr("\"pid\":" + server + ","));
}

}  // namespace
}  // namespace corral::os_tests
