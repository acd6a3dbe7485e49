// --on-stop: the user's own command for what the server did elsewhere. It runs when the tree is gone,
// whichever process of corral was killed, and it cannot hold anything up for ever.
#include <gtest/gtest.h>
#include <signal.h>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class OnStop : public OsTest {
 protected:
  // Notes the instance, and whether any process of the tree was alive then: they hold a lock as
  // long as they live.
  std::vector<std::string> note_the_state_of_the_tree() const {
    return {"--on-stop",
            "flock --nonblock " + path("alive") + " echo gone $CORRAL_INSTANCE > " + path("noted")};
  }
};

TEST_F(OnStop, RunsWhenTheTreeIsGone) {
  Session session(
      corral({.options = note_the_state_of_the_tree(), .server = {alive_lock(), "--grow=mixed:18"}}));
  const auto instance = session.ask("env", "CORRAL_INSTANCE");
  ASSERT_TRUE(instance) << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(file("noted"), "gone " + *instance + '\n') << errors();
  ASSERT_EQ(report().terminators.size(), 1U);
  EXPECT_EQ(report().terminators[0].kind, "on-stop");
  EXPECT_EQ(report().terminators[0].exit, 0);
}

TEST_F(OnStop, RunsInStrictToo) {
  if (const auto reason = why_not_here({Level::Strict, User::Ordinary})) GTEST_SKIP() << *reason;
  Session session(
      corral({.level = Level::Strict, .options = note_the_state_of_the_tree(), .server = {alive_lock()}}));
  const auto instance = session.ask("env", "CORRAL_INSTANCE");
  ASSERT_TRUE(instance) << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  EXPECT_EQ(file("noted"), "gone " + *instance + '\n') << errors();
}

TEST_F(OnStop, RunsWhenTheOuterWasKilled) {
  Session client(
      through_client({.options = note_the_state_of_the_tree(), .server = {alive_lock(), "--grow=mixed:18"}}));
  const auto instance = client.ask("env", "CORRAL_INSTANCE");
  ASSERT_TRUE(instance) << errors();

  ASSERT_TRUE(kill_now(client.notice("server").value()));

  EXPECT_TRUE(eventually([&] { return file("noted") == "gone " + *instance + '\n'; })) << file("noted");
  EXPECT_EQ(report().reason, "owner-gone");
}

TEST_F(OnStop, RunsWhenTheKeeperWasKilled) {
  Session client(
      through_client({.options = note_the_state_of_the_tree(), .server = {alive_lock(), "--grow=mixed:18"}}));
  const auto instance = client.ask("env", "CORRAL_INSTANCE");
  ASSERT_TRUE(instance) << errors();
  const auto keeper = find_keeper(tag(), client.notice("server").value());

  ASSERT_TRUE(keeper && kill_now(keeper->pid));

  EXPECT_TRUE(eventually([&] { return file("noted") == "gone " + *instance + '\n'; })) << file("noted");
  EXPECT_EQ(report().reason, "keeper-lost");
}

TEST_F(OnStop, WritesToStderrAndItsFailureIsReported) {
  Session session(
      corral({.options = {"--on-stop", "echo from the terminator; exit 3"}, .server = {"--exit-code=5"}}));
  session.send("echo", "x");
  session.close_stdin();

  EXPECT_EQ(session.output_to_end(), "{\"id\":1,\"result\":\"x\"}\n");
  EXPECT_EQ(session.wait(), 5);
  EXPECT_NE(errors().find("from the terminator"), std::string::npos) << errors();
  ASSERT_EQ(report().terminators.size(), 1U);
  EXPECT_EQ(report().terminators[0].exit, 3);
}

TEST_F(OnStop, ThatHangsIsEndedWithAllThatItStarted) {
  Session session(corral({.options = {"--on-stop", "setsid sleep 50 & sleep 50"}}));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();

  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  EXPECT_EQ(session.wait(), 0);
  ASSERT_EQ(report().terminators.size(), 1U);
  EXPECT_EQ(report().terminators[0].exit, std::nullopt);
}

}  // namespace
}  // namespace corral::os_tests
