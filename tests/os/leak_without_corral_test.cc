// The proof that the other tests can fail: the same trees, the same client, no corral, and processes stay.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class LeakWithoutCorral : public OsTest, public testing::WithParamInterface<const char*> {};

TEST_P(LeakWithoutCorral, TheTreeOutlivesItsClient) {
  const std::string grow = std::string("--grow=") + GetParam();
  Session session(without_corral({grow, alive_lock(), "--life=4"}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const auto server = session.notice("server");
  ASSERT_TRUE(server);

  ASSERT_TRUE(kill_now(session.pid()));
  ASSERT_TRUE(session.wait());
  kill_now(*server);

  EXPECT_TRUE(any_alive());
  end_tagged(tag());
  EXPECT_TRUE(all_gone());  // hoppers outrun our own killing for a while, but not the end of their life
}

std::string tree_name(const testing::TestParamInfo<const char*>& info) {
  std::string text = info.param;
  text.erase(text.find(':'));
  std::erase(text, '-');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Tree, LeakWithoutCorral,
                         testing::Values("flat:20", "groups:20", "daemons:20", "closed:20", "stopped:20",
                                         "bare:20", "hoppers:8", "session-hoppers:8", "mixed:24"),
                         tree_name);

// What many clients do, a signal to the process group of the server, is not enough either.
using LeakDespiteGroupKill = OsTest;

TEST_F(LeakDespiteGroupKill, DaemonsOutliveASignalToTheGroup) {
  Launch launch = without_corral({"--grow=daemons:20", "--life=4"});
  launch.before_exec = [] { setpgid(0, 0); };
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  ASSERT_EQ(kill(-session.pid(), SIGKILL), 0);
  ASSERT_TRUE(session.wait());

  EXPECT_GE(survivors(tag()).size(), 20U);
  end_tagged(tag());
}

}  // namespace
}  // namespace corral::os_tests
