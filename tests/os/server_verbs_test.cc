// `corral restart`, `stop` and `start`: a server changes under sessions that stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

constexpr int kRefused = 125;

class ServerVerbs : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    add_server("one", {"--grow=mixed:4", "--ignore-term"},
               R"("share":"session","stdin_grace":"200ms","term_grace":"200ms")");
    add_server("two", {}, R"("share":"shared")");
    start_daemon();
  }
};

TEST_F(ServerVerbs, RestartGivesEverySessionANewServer) {
  McpClient client(connect({"one"}));
  McpClient bystander(connect({"two"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  ASSERT_TRUE(bystander.initialize()) << errors_of_shim();
  const std::string before = client.call("pid");
  const std::string other = bystander.call("pid");

  const Words said = say("restart", {"one", "--json"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr(R"("server":"one","ended":[{"server":"one",)"));
  EXPECT_THAT(said.out, HasSubstr(R"("pid":)" + before + R"(,"cause":"restarted")"));
  EXPECT_THAT(said.out, HasSubstr(R"("proved":true)"));
  EXPECT_TRUE(is_gone(std::stoi(before)));
  const std::string after = client.call("pid");
  EXPECT_NE(after, before);
  EXPECT_GT(std::stoi(after), 0) << after;
  EXPECT_EQ(bystander.call("pid"), other);
}

TEST_F(ServerVerbs, StopHoldsUntilStart) {
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string before = client.call("pid");

  EXPECT_EQ(say("stop", {"one"}).code, 0);
  EXPECT_TRUE(is_gone(std::stoi(before)));
  EXPECT_THAT(status(), HasSubstr(R"({"name":"one","disabled":false,"stopped":true,)"));
  EXPECT_THAT(status(), HasSubstr(R"("state":"stopped")")) << "its session waits for no call";
  EXPECT_THAT(say("status").out, HasSubstr("one is stopped"));
  EXPECT_THAT(client.call("pid"), HasSubstr("corral stop"));

  EXPECT_EQ(say("start", {"one"}).code, 0);
  EXPECT_THAT(status(), HasSubstr(R"({"name":"one","disabled":false,"stopped":false,)"));
  const std::string after = client.call("pid");
  EXPECT_NE(after, before);
  EXPECT_GT(std::atoi(after.c_str()), 0) << after;
}

TEST_F(ServerVerbs, TheControlServerIsNotStopped) {
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  const auto stop = say("stop", {"corral"});

  EXPECT_NE(stop.code, 0);
  EXPECT_THAT(stop.err, HasSubstr("server corral is the control server"));
  EXPECT_THAT(stop.err, HasSubstr("`corral shutdown` ends the daemon"));
}

TEST_F(ServerVerbs, AClientsOwnCommandOfTheSameNameIsAnotherServer) {
  std::filesystem::copy_file(path("rude_server"), path("one"));
  chmod(path("one").c_str(), 0755);
  McpClient client(connect({"--", path("one"), "--tag=" + tag()}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string server = client.call("pid");

  EXPECT_EQ(say("restart", {"one"}).code, 0);
  EXPECT_EQ(client.call("pid"), server);
  EXPECT_EQ(say("stop", {"one"}).code, 0);
  EXPECT_EQ(client.call("pid"), server);
  McpClient next(connect({"--", path("one"), "--tag=" + tag()}));
  EXPECT_TRUE(next.initialize()) << errors_of_shim();
}

TEST_F(ServerVerbs, AClientsCommandIsControlledByItsName) {
  McpClient client(connect({"--name", "mine", "--", path("rude_server"), "--tag=" + tag()}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string first = client.call("pid");
  EXPECT_THAT(say("ps").out, HasSubstr("mine"));

  EXPECT_EQ(say("restart", {"mine"}).code, 0);
  const std::string second = client.call("pid");
  EXPECT_NE(second, first);

  EXPECT_EQ(say("stop", {"mine"}).code, 0);
  EXPECT_THAT(client.call("pid"), HasSubstr("was stopped with `corral stop`; `corral start mine`"));
  EXPECT_EQ(say("start", {"mine"}).code, 0);
  EXPECT_NE(client.call("pid"), second);

  const auto unknown = say("restart", {"min"});
  EXPECT_EQ(unknown.code, kRefused);
  EXPECT_THAT(unknown.err, HasSubstr("no server is called 'min' (perhaps 'mine')"));
  EXPECT_THAT(unknown.err, HasSubstr("the commands of clients are called mine"));
}

TEST_F(ServerVerbs, AClientsCommandIsKnownWithoutAProcess) {
  const std::vector<std::string> words = {"--name", "mine", "--", path("rude_server"), "--tag=" + tag()};
  {
    McpClient client(connect(words));
    ASSERT_TRUE(client.initialize()) << errors_of_shim();
  }
  EXPECT_TRUE(eventually([&] { return status().find("\"instances\":[]") != std::string::npos; }));

  const auto restart = say("restart", {"mine"});
  EXPECT_EQ(restart.code, 0) << restart.err;
  EXPECT_THAT(restart.out, HasSubstr("mine: no instance was running; the next call starts one"));
  EXPECT_THAT(say("start", {"mine"}).out,
              HasSubstr("mine was not stopped; if it is not running, its next call starts it"));
  EXPECT_THAT(say("stop", {"mine"}).out, HasSubstr("mine is stopped: no instance was running"));
  EXPECT_EQ(say("start", {"mine"}).code, 0);

  // Now it is known, so it is not started before a call.
  McpClient lazy(connect(words));
  ASSERT_TRUE(lazy.initialize()) << errors_of_shim();
  EXPECT_THAT(say("ps").out, testing::ContainsRegex("mine +- .* lazy"));
  EXPECT_EQ(say("restart", {"mine"}).code, 0);
  EXPECT_GT(std::atoi(lazy.call("pid").c_str()), 0);
}

TEST_F(ServerVerbs, AnAmbiguousNameListsTheCandidates) {
  McpClient one(connect({"--name", "mine-a", "--", path("rude_server"), "--tag=" + tag()}));
  McpClient other(connect({"--name", "mine-b", "--", path("rude_server"), "--tag=" + tag()}));
  ASSERT_TRUE(one.initialize() && other.initialize()) << errors_of_shim();

  EXPECT_THAT(say("stop", {"mine"}).err, HasSubstr("(perhaps 'mine-a' or 'mine-b')"));
}

TEST_F(ServerVerbs, StartOfWhatWasNotStoppedChangesNothing) {
  const Words said = say("start", {"two"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("two was not stopped"));
}

TEST_F(ServerVerbs, AnUnknownServerIsRefusedWithAGuess) {
  for (const char* verb : {"restart", "stop", "start"}) {
    const Words said = say(verb, {"tw"});

    EXPECT_EQ(said.code, kRefused) << verb;
    EXPECT_THAT(said.err, HasSubstr("no server is called 'tw' (perhaps 'two')")) << verb;
  }
}

TEST_F(ServerVerbs, OneServerAtATime) {
  EXPECT_EQ(say("restart").code, kRefused);
  EXPECT_EQ(say("restart", {"one", "two"}).code, kRefused);
}

}  // namespace
}  // namespace corral::os_tests
