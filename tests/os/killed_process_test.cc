// SIGKILL for the outer corral, the keeper, the server and the client, alone and in every pair and order,
// while a tree of daemons and hoppers lives. Nothing may be left.
//
// The pair outer + keeper is only tried under strict: without a PID namespace nobody is left who could sweep,
// which is documented as out of reach, so there is nothing to claim about it.
#include <gtest/gtest.h>
#include <signal.h>

#include <ostream>
#include <tuple>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

enum class Victim { Outer, Keeper, Server, Client };

const char* name(Victim victim) {
  switch (victim) {
    case Victim::Outer: return "Outer";
    case Victim::Keeper: return "Keeper";
    case Victim::Server: return "Server";
    case Victim::Client: return "Client";
  }
  return "?";
}

void PrintTo(Victim victim, std::ostream* out) { *out << name(victim); }

using Victims = std::vector<Victim>;
using KillCase = std::tuple<Victims, Setting>;

std::string case_name(const testing::TestParamInfo<KillCase>& info) {
  const auto& [victims, setting] = info.param;
  std::string text;
  for (const Victim victim : victims) text += (text.empty() ? "" : "Then") + std::string(name(victim));
  return text + '_' + name(setting);
}

class KilledProcess : public OsTest, public testing::WithParamInterface<KillCase> {
 protected:
  // All pids are looked up before the first kill, so that the second follows without a pause.
  std::vector<pid_t> find(const Victims& victims, const Session& client, pid_t outer) const {
    std::vector<pid_t> pids;
    for (const Victim victim : victims) {
      if (victim == Victim::Outer) pids.push_back(outer);
      if (victim == Victim::Client) pids.push_back(client.pid());
      if (victim == Victim::Server) pids.push_back(find_server(tag()).value().pid);
      if (victim == Victim::Keeper) pids.push_back(find_keeper(tag(), outer).value().pid);
    }
    return pids;
  }
};

TEST_P(KilledProcess, NothingIsLeft) {
  const auto& [victims, setting] = GetParam();
  if (const auto reason = why_not_here(setting)) GTEST_SKIP() << *reason;
  Session client(through_client(
      {.level = setting.level, .user = setting.user, .server = {"--grow=mixed:60", alive_lock()}}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();
  const auto outer = client.notice("server");
  ASSERT_TRUE(outer);
  const std::vector<pid_t> pids = find(victims, client, *outer);
  ASSERT_GE(processes().size(), 60U);

  EXPECT_TRUE(kill_now(pids.front()));
  // The others may be gone before their turn: the answer to the first death is that quick.
  for (const pid_t pid : pids) kill_now(pid);

  // Nobody closes the client's end of the pipes here unless the client was a victim: the death alone must do.
  const auto only_client_left = [&] {
    const auto left = survivors(tag());
    return left.empty() || (left.size() == 1 && left[0].pid == client.pid());
  };
  EXPECT_TRUE(eventually(only_client_left)) << testing::PrintToString(processes());
  client.close_stdin();
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

using enum Victim;

INSTANTIATE_TEST_SUITE_P(One, KilledProcess,
                         testing::Combine(testing::Values(Victims{Outer}, Victims{Keeper}, Victims{Server},
                                                          Victims{Client}),
                                          testing::ValuesIn(every_setting())),
                         case_name);

INSTANTIATE_TEST_SUITE_P(
    Two, KilledProcess,
    testing::Combine(testing::Values(Victims{Outer, Server}, Victims{Server, Outer}, Victims{Outer, Client},
                                     Victims{Client, Outer}, Victims{Keeper, Server}, Victims{Server, Keeper},
                                     Victims{Keeper, Client}, Victims{Client, Keeper},
                                     Victims{Server, Client}, Victims{Client, Server}),
                     testing::Values(Setting{Level::Auto, User::Root}, Setting{Level::Auto, User::Ordinary},
                                     Setting{Level::Strict, User::Root},
                                     Setting{Level::Strict, User::Ordinary})),
    case_name);

INSTANTIATE_TEST_SUITE_P(Both, KilledProcess,
                         testing::Combine(testing::Values(Victims{Outer, Keeper}, Victims{Keeper, Outer},
                                                          Victims{Client, Outer, Keeper},
                                                          Victims{Server, Keeper, Outer}),
                                          testing::Values(Setting{Level::Strict, User::Root},
                                                          Setting{Level::Strict, User::Ordinary})),
                         case_name);

// Which process writes the report, and what it says, when one of corral's was killed.
using KilledReport = OsTest;

TEST_F(KilledReport, OfAKilledOuterComesFromTheKeeper) {
  Session client(through_client({.server = {"--grow=daemons:10"}}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();

  ASSERT_TRUE(kill_now(client.notice("server").value()));

  ASSERT_TRUE(eventually([this] { return has_report(); }));
  EXPECT_EQ(report().reason, "owner-gone");
  expect_clean(report());
}

TEST_F(KilledReport, OfAKilledKeeperComesFromTheOuter) {
  Session client(through_client({.server = {"--grow=daemons:10"}}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();
  const auto keeper = find_keeper(tag(), client.notice("server").value());
  ASSERT_TRUE(keeper);

  ASSERT_TRUE(kill_now(keeper->pid));

  EXPECT_EQ(report().reason, "keeper-lost");
  expect_clean(report());
  EXPECT_EQ(client.notice("exit"), 125);
}

TEST_F(KilledReport, OfAKilledServerNamesTheSignal) {
  Session client(through_client({.server = {"--grow=daemons:10"}}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();

  ASSERT_TRUE(kill_now(find_server(tag()).value().pid));

  EXPECT_EQ(report().reason, "server-exited");
  EXPECT_EQ(report().exit_signal, "SIGKILL");
  expect_clean(report());
  EXPECT_EQ(client.notice("exit"), 128 + SIGKILL);
}

// A shell that started something for itself and then became corral by exec. Its orphans come to corral, the
// nearest subreaper, beside those of the server.
TEST_F(KilledReport, OfAKilledKeeperDoesNotNameTheShellsOwnJobs) {
  const std::string job =
      "env -u CORRAL_TEST_TAG sleep 50 </dev/null >/dev/null 2>&1 & echo $! >" + path("job");
  Launch launch = corral({.server = {"--grow=daemons:10"}});
  launch.argv.insert(launch.argv.begin(),
                     {"/bin/sh", "-c", "sh -c '" + job + "; sleep 0.3' & exec \"$@\"", "shell"});
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  ASSERT_TRUE(eventually([this] { return !file("job").empty(); }));
  const pid_t innocent = std::stoi(file("job"));
  ASSERT_EQ(session.ask("block", "800"), "unblocked");  // by now the job has lost its parent
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);

  ASSERT_TRUE(kill_now(keeper->pid));

  EXPECT_EQ(session.wait(), 125);
  expect_clean(report());
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  EXPECT_EQ(kill(innocent, SIGKILL), 0) << "it was ended, but is not part of the tree";
}

}  // namespace
}  // namespace corral::os_tests
