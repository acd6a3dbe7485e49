// The variables by which a service manager speaks to a service, and the environment that the daemon keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/un.h>

#include <array>

#include "serve/activation.h"
#include "serve/daemon_environment.h"
#include "serve/service_notify.h"

namespace corral::serve {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;

TEST(PassedSockets, AreCountedOnlyIfTheyAreMeantForUs) {
  EXPECT_EQ(passed_count("42", "1", 42), 1);
  EXPECT_EQ(passed_count("42", "3", 42), 3);
  EXPECT_EQ(passed_count("41", "1", 42), 0);
  EXPECT_EQ(passed_count(nullptr, "1", 42), 0);
  EXPECT_EQ(passed_count("42", nullptr, 42), 0);
}

TEST(PassedSockets, AreNoneIfTheNumberMakesNoSense) {
  for (const char* count : {"", "0", "-1", "1x", "99999999999", "65"}) {
    EXPECT_EQ(passed_count("42", count, 42), 0) << count;
  }
  EXPECT_EQ(passed_count("42x", "1", 42), 0);
}

TEST(NotifyAddress, IsAPathOrAnAbstractName) {
  const std::size_t head = offsetof(sockaddr_un, sun_path);

  const std::string path = notify_address("/run/x");
  EXPECT_EQ(path.substr(head), std::string("/run/x") + '\0');

  const std::string abstract = notify_address("@x");
  EXPECT_EQ(abstract.substr(head), std::string({'\0', 'x'}));
}

TEST(NotifyAddress, IsNothingElse) {
  for (const std::string& named : {std::string(), std::string("/"), std::string("@"), std::string("run/x"),
                                   std::string("vsock:2:1234"), "/" + std::string(107, 'x')}) {
    EXPECT_EQ(notify_address(named), "") << named;
  }
  EXPECT_NE(notify_address("/" + std::string(106, 'x')), "");
}

TEST(WatchdogPeriod, IsHalfOfWhatTheManagerWaits) {
  EXPECT_EQ(watchdog_period("3000000", "42", 42), microseconds(1'500'000));
  EXPECT_EQ(watchdog_period("3000000", nullptr, 42), microseconds(1'500'000));
}

TEST(WatchdogPeriod, IsNoneIfItIsNotMeantForUsOrMakesNoSense) {
  EXPECT_EQ(watchdog_period(nullptr, "42", 42), std::nullopt);
  EXPECT_EQ(watchdog_period("3000000", "41", 42), std::nullopt);
  for (const char* usec : {"", "0", "-5", "3s"}) EXPECT_EQ(watchdog_period(usec, "42", 42), std::nullopt);
}

TEST(DaemonEnvironment, KeepsWhatProgramsNeedAndNoSecret) {
  const std::array<const char*, 9> variables = {"HOME=/h",         "API_KEY=x",        "LC_ALL=C",
                                                "PATHS=no",        "NOTIFY_SOCKET=/n", "LISTEN_FDS=1",
                                                "WATCHDOG_USEC=1", "broken",           nullptr};

  EXPECT_THAT(daemon_environment(variables.data()),
              ElementsAre("HOME=/h", "LC_ALL=C", "NOTIFY_SOCKET=/n", "LISTEN_FDS=1", "WATCHDOG_USEC=1"));
  EXPECT_THAT(detached_environment(variables.data()), ElementsAre("HOME=/h", "LC_ALL=C"));
}

}  // namespace
}  // namespace corral::serve
