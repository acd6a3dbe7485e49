// Session after session, and many at once: nothing adds up.
#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using ManySessions = OsTest;

std::size_t own_descriptors() {
  std::size_t count = 0;
  DIR* const directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

TEST_F(ManySessions, TwoHundredInARowLeaveNothing) {
  const std::size_t descriptors = own_descriptors();
  std::set<std::size_t> counts;
  std::set<std::string> instances;
  for (int i = 0; i < 200; ++i) {
    Session session(corral({.server = {"--grow=flat:2"}}));
    ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
    if (i % 20 == 0) counts.insert(processes().size());
    instances.insert(session.ask("env", "CORRAL_INSTANCE").value_or(""));
    session.close_stdin();
    ASSERT_EQ(session.wait(), 0) << errors();
    if (i % 20 == 0) {
      ASSERT_TRUE(all_gone()) << testing::PrintToString(processes());
    }
  }

  EXPECT_TRUE(all_gone());
  EXPECT_EQ(counts, std::set<std::size_t>{5});  // outer, keeper, server and its two
  EXPECT_EQ(instances.size(), 200U);
  EXPECT_EQ(own_descriptors(), descriptors);
}

TEST_F(ManySessions, FiftyAtOnceAnswerAndLeaveNothing) {
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < 50; ++i) {
    sessions.push_back(std::make_unique<Session>(corral({.server = {"--grow=daemons:3"}})));
  }
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    ASSERT_EQ(sessions[i]->ask("echo", std::to_string(i)), std::to_string(i)) << errors();
  }
  ASSERT_EQ(processes().size(), 50U * 6);

  for (const auto& session : sessions) session->close_stdin();

  for (const auto& session : sessions) EXPECT_EQ(session->wait(), 0);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

TEST_F(ManySessions, FiftyClientsKilledAtOnceLeaveNothing) {
  std::vector<std::unique_ptr<Session>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<Session>(through_client({.server = {"--grow=daemons:3"}})));
  }
  for (const auto& client : clients) ASSERT_EQ(client->ask("echo", "ready"), "ready") << errors();

  for (const auto& client : clients) ASSERT_TRUE(kill_now(client->pid()));

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

// One session's end is nobody else's business.
TEST_F(ManySessions, TheEndOfOneDoesNotTouchAnother) {
  Session stays(corral({.server = {"--grow=mixed:12", "--count-signals"}}));
  ASSERT_EQ(stays.ask("echo", "ready"), "ready") << errors();
  const auto pid = stays.ask("pid");
  {
    Session goes(corral({.server = {"--grow=mixed:12"}}));
    ASSERT_EQ(goes.ask("echo", "ready"), "ready") << errors();
  }

  EXPECT_EQ(stays.ask("pid"), pid);
  EXPECT_EQ(stays.ask("signals"), "INT=0 QUIT=0 TSTP=0 TERM=0 HUP=0 CONT=0");
  EXPECT_GE(processes().size(), 12U);
}

}  // namespace
}  // namespace corral::os_tests
