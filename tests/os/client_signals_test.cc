// The client dies in the middle of a call that takes long. No byte is on the pipes, the server does not read,
// and still nothing is left.
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>

#include <set>
#include <tuple>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using SignalCase = std::tuple<int, Setting>;

class ClientInTheMiddleOfACall : public OsTest, public testing::WithParamInterface<SignalCase> {};

TEST_P(ClientInTheMiddleOfACall, DiesAndNothingIsLeft) {
  const auto& [number, setting] = GetParam();
  if (const auto reason = why_not_here(setting)) GTEST_SKIP() << *reason;
  Session client(
      through_client({.level = setting.level, .user = setting.user, .server = {"--grow=mixed:18"}}));
  ASSERT_EQ(client.ask("echo", "ready"), "ready") << errors();
  client.send("block", "30000");

  ASSERT_EQ(kill(client.pid(), number), 0);

  EXPECT_EQ(client.wait(), 128 + number);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  // The kernel closes the pipes and announces the death in one go: any of the three may be seen first.
  const std::set<std::string> reasons = {"client-gone", "stdin-closed", "stdout-closed"};
  EXPECT_EQ(reasons.count(report().reason), 1U) << report().reason;
  expect_clean(report());
}

INSTANTIATE_TEST_SUITE_P(Each, ClientInTheMiddleOfACall,
                         testing::Combine(testing::Values(SIGINT, SIGTERM, SIGKILL),
                                          testing::ValuesIn(every_setting())),
                         [](const auto& test) {
                           return std::string(sigabbrev_np(std::get<0>(test.param))) + '_' +
                                  name(std::get<1>(test.param));
                         });

// The same for the only session-wide signal that a client sends on purpose: to corral, while
// a call is running.
using CallInFlight = OsTest;

TEST_F(CallInFlight, DoesNotDelayASignalToCorral) {
  Session session(corral({.server = {"--grow=daemons:5"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  session.send("block", "30000");

  ASSERT_EQ(kill(session.pid(), SIGTERM), 0);

  EXPECT_EQ(session.wait(), 128 + SIGTERM);
  expect_clean(report());
}

}  // namespace
}  // namespace corral::os_tests
