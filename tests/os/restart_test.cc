// What a client sees, word for word, of a server that crashes, crashes again and again, hangs, starts slowly
// or flaps: the calls in flight get one error each, and the session goes on with the next instance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kLastWords = "; its stderr ended with: rude server: the roof is on fire";
constexpr const char* kRestarted = "; it was restarted, and its state in memory is lost";

std::string error_line(int id, const std::string& message) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"error":{"code":-31001,"message":")" +
         message + "\"}}";
}

std::string warning_line(const std::string& data) {
  return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"corral",)"
         R"("data":")" +
         data + "\"}}";
}

class Restart : public HubTest {
 protected:
  std::string flap(const std::string& pattern) const { return "--flap=" + path("starts") + ":" + pattern; }
  std::size_t starts() const { return file("starts").size(); }

  void write_list(const std::string& names) const { std::ofstream(path("list")) << names; }
};

class RestartOfAny : public Restart, public testing::WithParamInterface<const char*> {
 protected:
  std::string share() const { return R"("share":")" + std::string(GetParam()) + "\""; }
};

INSTANTIATE_TEST_SUITE_P(Shares, RestartOfAny, testing::Values("shared", "session"),
                         [](const auto& tested) { return std::string(tested.param); });

// ---- a crash

TEST_P(RestartOfAny, ACrashCostsTheCallsInFlightOneErrorEach) {
  add_server("one", {}, share());
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string before = client.call("pid");

  const int waiting = client.begin("silent");
  const int fatal = client.begin("exit", "7");
  const std::string why = std::string("server one exited with code 7") + kLastWords;
  EXPECT_EQ(client.answer_to(waiting), error_line(waiting, why));
  EXPECT_EQ(client.answer_to(fatal), error_line(fatal, why));

  const std::string after = client.call("pid");
  EXPECT_NE(after, before);
  EXPECT_GT(std::atoi(after.c_str()), 1) << after;
  EXPECT_THAT(client.others(), ElementsAre(warning_line(why + kRestarted)));
  EXPECT_TRUE(eventually([&] { return errors_of_shim().find(why + kRestarted) != std::string::npos; }))
      << errors_of_shim();
  client.session().close_stdin();
  EXPECT_EQ(client.wait(), 0) << errors_of_shim();
}

TEST_P(RestartOfAny, AKilledServerComesBackToo) {
  add_server("one", {}, share());
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const pid_t server = std::atoi(client.call("pid").c_str());
  ASSERT_GT(server, 1);

  const int waiting = client.begin("silent");
  ASSERT_EQ(client.call("echo", "heard"), "heard");
  ASSERT_EQ(kill(server, SIGKILL), 0);

  EXPECT_EQ(client.answer_to(waiting), error_line(waiting, "server one was ended by SIGKILL"));
  EXPECT_EQ(client.call("echo", "again"), "again");
  EXPECT_THAT(client.others(),
              ElementsAre(warning_line(std::string("server one was ended by SIGKILL") + kRestarted)));
}

TEST_P(RestartOfAny, AKilledKeeperCostsNoMore) {
  add_server("one", {"--grow=mixed:4", "--ignore-term"}, share());
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  ASSERT_EQ(client.call("echo", "heard"), "heard");
  const pid_t lost = keeper();
  ASSERT_GT(lost, 1);

  const int waiting = client.begin("silent");
  ASSERT_EQ(client.call("echo", "heard"), "heard");
  ASSERT_EQ(kill(lost, SIGKILL), 0);

  const std::string why = "server one lost its keeper, which another process killed";
  EXPECT_EQ(client.answer_to(waiting), error_line(waiting, why));
  EXPECT_EQ(client.call("echo", "again"), "again");
  EXPECT_NE(keeper(), lost);
}

TEST_F(Restart, EverySessionOfASharedServerGoesOnWithTheSameNewInstance) {
  add_server("one", {}, R"("share":"shared")");
  start_daemon();
  McpClient first(connect({"one"}));
  McpClient second(connect({"one"}));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_TRUE(second.initialize()) << errors_of_shim();
  ASSERT_EQ(first.call("pid"), second.call("pid"));

  const int waiting = second.begin("silent");
  ASSERT_EQ(second.call("echo", "heard"), "heard");
  const int fatal = first.begin("exit", "7");
  const std::string why = "server one exited with code 7; `corral logs one` shows its stderr";
  EXPECT_EQ(first.answer_to(fatal), error_line(fatal, why));
  EXPECT_EQ(second.answer_to(waiting), error_line(waiting, why));

  EXPECT_EQ(first.call("pid"), second.call("pid"));
  EXPECT_THAT(first.others(), ElementsAre(warning_line(why + kRestarted)));
  EXPECT_THAT(second.others(), ElementsAre(warning_line(why + kRestarted)));
}

TEST_F(Restart, WithoutRestartTheEndOfTheServerIsTheEndOfTheSession) {
  add_server("one", {}, R"("share":"shared","restart":false)");
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  const int fatal = client.begin("exit", "7");
  EXPECT_EQ(client.answer_to(fatal),
            error_line(fatal, std::string("server one exited with code 7") + kLastWords));
  EXPECT_EQ(client.wait(), 7);
  EXPECT_THAT(client.others(), IsEmpty());
}

// ---- what the new instance is told, and what the client is

TEST_P(RestartOfAny, SubscriptionsAreMadeAgain) {
  add_server("one", {}, share());
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  client.send(R"({"jsonrpc":"2.0","id":"s","method":"resources/subscribe","params":{"uri":"test://a"}})");
  ASSERT_EQ(client.answer_to("s"), R"({"jsonrpc":"2.0","id":"s","result":{}})");
  ASSERT_EQ(client.call("touch", "test://a"), "told");

  client.answer_to(client.begin("exit", "7"));

  EXPECT_EQ(client.call("touch", "test://a"), "told");
  const std::string update =
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://a"}})";
  EXPECT_EQ(std::count(client.others().begin(), client.others().end(), update), 2);
}

TEST_P(RestartOfAny, AListThatDiffersIsTold) {
  write_list("one\ntwo\n");
  add_server("one", {"--list=" + path("list")}, share());
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  client.send(R"({"jsonrpc":"2.0","id":"l","method":"tools/list"})");
  ASSERT_THAT(client.answer_to("l"), HasSubstr("\"two\""));
  const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

  client.answer_to(client.begin("exit", "7"));
  ASSERT_EQ(client.call("echo", "same list"), "same list");
  EXPECT_THAT(client.others(), Not(testing::Contains(changed)));

  write_list("one\nthree\n");
  client.answer_to(client.begin("exit", "7"));
  ASSERT_EQ(client.call("echo", "other list"), "other list");
  EXPECT_TRUE(eventually([&] {
    client.call("echo", "reads on");
    return std::count(client.others().begin(), client.others().end(), changed) == 1;
  })) << testing::PrintToString(client.others());
}

// ---- a crash loop

TEST_F(Restart, AServerThatDiesAgainAndAgainIsLeftAloneUntilSomebodyAsks) {
  add_server("loop", {flap("lccccl")}, R"("share":"shared")");
  start_daemon();
  McpClient client(connect({"loop"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  const int fatal = client.begin("exit", "7");
  EXPECT_EQ(client.answer_to(fatal),
            error_line(fatal, std::string("server loop exited with code 7") + kLastWords));
  // Waits through four more starts.
  const std::string why =
      "server loop died 5 times in a row and is not started again for now; `corral restart loop` tries at "
      "once. Last error: server loop exited with code 3";
  const int waits = client.begin("echo", "patient");
  EXPECT_EQ(client.answer_to(waits), error_line(waits, why + kLastWords));
  EXPECT_EQ(starts(), 5U);

  const int next = client.begin("echo", "impatient");
  EXPECT_EQ(client.answer_to(next), error_line(next, why + kLastWords));
  EXPECT_EQ(starts(), 5U) << "it was started for a call";

  EXPECT_EQ(say("restart", {"loop"}).code, 0);
  EXPECT_EQ(client.call("echo", "at last"), "at last");
  EXPECT_EQ(starts(), 6U);
}

TEST_P(RestartOfAny, AFirstStartThatFailsEndsTheSessionAtOnce) {
  add_server("broken", {"--start=exit:3"}, share());
  start_daemon();
  McpClient client(connect({"broken"}));

  EXPECT_FALSE(client.initialize());

  EXPECT_EQ(client.wait(), 3);
  EXPECT_THAT(errors_of_shim(), HasSubstr(std::string("server broken exited with code 3") + kLastWords));
}

TEST_P(RestartOfAny, WhatAFirstStartThatFailsIsAnsweredWith) {
  add_server("broken", {"--start=exit:3"}, share());
  start_daemon();
  McpClient client(connect({"broken"}));

  client.send(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
  EXPECT_EQ(client.answer_to(1), error_line(1, std::string("server broken exited with code 3") + kLastWords));
  EXPECT_EQ(client.wait(), 3);
}

// ---- flapping

TEST_P(RestartOfAny, AServerThatFlapsIsTriedUntilItStays) {
  // Dies; does not even start; dies after the handshake, with the call that had waited for it; stays.
  add_server("flaps", {flap("lchl")}, share());
  start_daemon();
  McpClient client(connect({"flaps"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  const int fatal = client.begin("exit", "7");
  const std::string first = std::string("server flaps exited with code 7") + kLastWords;
  EXPECT_EQ(client.answer_to(fatal), error_line(fatal, first));
  const int unlucky = client.begin("echo", "unlucky");
  const std::string second = std::string("server flaps exited with code 4") + kLastWords;
  EXPECT_EQ(client.answer_to(unlucky), error_line(unlucky, second));
  EXPECT_EQ(client.call("echo", "lucky"), "lucky");

  EXPECT_EQ(starts(), 4U);
  EXPECT_THAT(client.others(),
              ElementsAre(warning_line(first + kRestarted), warning_line(second + kRestarted)));
}

// ---- slow starts

TEST_F(Restart, ASlowStartIsWaitedForOnce) {
  add_server("slow", {"--start=slow:1200", flap("l")}, R"("share":"shared")");
  start_daemon();
  McpClient first(connect({"slow"}));
  McpClient second(connect({"slow"}));
  const std::string open = R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{}})";
  const std::string call =
      R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"pid","arguments":{}}})";
  first.send(open);
  second.send(open);
  first.send(call);  // without waiting for the handshake
  second.send(call);

  const std::string pid = field(first.answer_to("c"), "text");
  EXPECT_GT(std::atoi(pid.c_str()), 1) << errors_of_shim();
  EXPECT_EQ(field(second.answer_to("c"), "text"), pid);
  EXPECT_EQ(starts(), 1U);
}

TEST_P(RestartOfAny, CallsWaitForASlowRestart) {
  add_server("slow", {"--start=slow:700"}, share());
  start_daemon();
  McpClient client(connect({"slow"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  client.answer_to(client.begin("exit", "7"));
  const int one = client.begin("echo", "one");
  const int two = client.begin("echo", "two");

  EXPECT_EQ(field(client.answer_to(two), "text"), "two");
  EXPECT_EQ(field(client.answer_to(one), "text"), "one");
}

// ---- hanging

class Hang : public Restart, public testing::WithParamInterface<const char*> {};

/// `freeze` still reads; `deaf` does not.
INSTANTIATE_TEST_SUITE_P(Ways, Hang, testing::Values("freeze", "deaf"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(Hang, AServerThatHangsIsReplacedBeforeTheNextCall) {
  add_server("hangs", {"--pings=" + path("pings")}, R"("share":"shared","probe":"100ms")");
  start_daemon();
  McpClient client(connect({"hangs"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string before = client.call("pid");
  // It is held against a server only if it has answered such a question before.
  ASSERT_TRUE(eventually([&] { return !file("pings").empty(); })) << status();

  client.call(GetParam());
  ASSERT_TRUE(eventually([&] { return counter("instances_started") == 2; })) << status();

  const std::string after = client.call("pid");
  EXPECT_NE(after, before);
  EXPECT_GT(std::atoi(after.c_str()), 1) << after;
  EXPECT_THAT(client.others(),
              ElementsAre(warning_line(std::string("server hangs stopped answering") + kRestarted)));
}

}  // namespace
}  // namespace corral::os_tests
