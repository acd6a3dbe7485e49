// Clients and servers that send what they should not, through the real daemon: each case has the outcome and
// the counter that docs/protocol/bad-input.md names, and other sessions do not notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class HubBadInput : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    add_server("rude", {}, R"("share":"session")");
    add_server("shared", {}, R"("share":"shared")");
    add_server("impatient", {}, R"("share":"session","timeout":"1s")");
    add_server("broken", {"--start=exit:3"}, R"("share":"session")");
    add_server("loud", {"--start=banner"}, R"("share":"shared")");
    set_options(R"("drain":"200ms","line_cap":"64K")");
    start_daemon();
  }

  static std::string request(const std::string& id, const std::string& arg) {
    return R"({"jsonrpc":"2.0","id":)" + id +
           R"(,"method":"tools/call","params":{"name":"echo","arguments":{"arg":")" + arg + R"("}}})";
  }
};

// ---- servers

TEST_F(HubBadInput, BannersOfAServerReachNobody) {
  McpClient client(connect({"loud"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_EQ(client.call("banner"), "after the banners");

  EXPECT_EQ(client.call("echo", "next"), "next");
  EXPECT_THAT(client.others(), IsEmpty());
  EXPECT_EQ(counter("dropped_lines"), 5);
}

TEST_F(HubBadInput, ASecondAnswerReachesNobody) {
  McpClient client(connect({"rude"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_EQ(client.call("twice"), "once");

  EXPECT_EQ(client.call("echo", "next"), "next");
  EXPECT_THAT(client.others(), IsEmpty());
  EXPECT_EQ(counter("unknown_answers"), 1);
}

TEST_F(HubBadInput, AnswersUnderAWrongIdReachNobody) {
  McpClient client(connect({"shared"}));
  McpClient neighbour(connect({"shared"}));
  ASSERT_TRUE(client.initialize() && neighbour.initialize()) << errors_of_shim();

  EXPECT_EQ(client.call("wrong-id"), "for you");

  EXPECT_EQ(neighbour.call("echo", "next"), "next");
  EXPECT_THAT(client.others(), IsEmpty());
  EXPECT_THAT(neighbour.others(), IsEmpty());
  EXPECT_EQ(counter("unknown_answers"), 3);
}

TEST_F(HubBadInput, ACallThatIsNeverAnsweredTimesOutAndTheSessionGoesOn) {
  McpClient client(connect({"impatient"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_THAT(client.call("silent"), HasSubstr("-31002"));

  EXPECT_EQ(client.call("echo", "next"), "next");
  EXPECT_EQ(counter("timeouts"), 1);
}

TEST_F(HubBadInput, CallsThatBeganOneAfterTheOtherTimeOutOneAfterTheOther) {
  McpClient client(connect({"impatient"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  const int first = client.begin("silent");
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const int second = client.begin("silent");

  EXPECT_THAT(client.answer_to(first), HasSubstr("-31002"));
  EXPECT_THAT(client.answer_to(second), HasSubstr("-31002"));
  EXPECT_EQ(counter("timeouts"), 2);
}

TEST_F(HubBadInput, AnAnswerAfterTheTimeoutReachesNobody) {
  McpClient client(connect({"impatient"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_THAT(client.call("block", "2500"), HasSubstr("-31002"));

  EXPECT_TRUE(eventually([&] { return counter("late_answers") == 1; })) << status();
  EXPECT_EQ(client.call("echo", "next"), "next");
  EXPECT_THAT(client.others(), IsEmpty());
}

TEST_F(HubBadInput, AServerThatExitsDuringInitializeIsExplained) {
  McpClient client(connect({"broken"}));
  client.send(R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18",)"
              R"("capabilities":{},"clientInfo":{"name":"t","version":"0"}}})");

  const std::string answer = client.answer_to("a");

  EXPECT_THAT(answer,
              AllOf(HasSubstr("-31001"), HasSubstr("exited with code 3"), HasSubstr("the roof is on fire")));
  EXPECT_TRUE(client.reads_to_end());
  EXPECT_EQ(client.wait(), 3);
  EXPECT_THAT(errors_of_shim(), HasSubstr("the roof is on fire"));
}

TEST_F(HubBadInput, AFailedStartIsNotRemembered) {
  for (int round = 0; round < 2; ++round) {
    McpClient client(connect({"broken"}));
    EXPECT_FALSE(client.initialize());
    EXPECT_EQ(client.wait(), 3);
  }
  EXPECT_EQ(counter("instances_started"), 2);
}

TEST_F(HubBadInput, AFailedStartLeavesItsReason) {
  McpClient client(connect({"--", "no-such-program-" + tag()}));
  EXPECT_FALSE(client.initialize());
  EXPECT_EQ(client.wait(), 127);

  const std::string name = "no-such-program-" + tag();
  const std::string why = "command '" + name + "' was not found in PATH: install it";
  EXPECT_THAT(say("events").out, HasSubstr("server " + name + " could not be started: " + why));
  EXPECT_THAT(say("ps", {"--json"}).out, testing::Not(HasSubstr(name))) << "there is no process";
  EXPECT_THAT(say("status", {"--json"}).out, HasSubstr(why));
  EXPECT_THAT(say("logs", {name}).out, HasSubstr("could not be started: " + why));
  EXPECT_THAT(say("events").out, testing::Not(HasSubstr("/usr/bin"))) << "no list of directories";
}

TEST_F(HubBadInput, AServerThatExitsInTheMiddleEndsEveryCallOnce) {
  std::vector<std::unique_ptr<McpClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<McpClient>(connect({"shared"})));
    ASSERT_TRUE(clients.back()->initialize()) << errors_of_shim();
  }
  std::vector<int> calls;
  for (const auto& client : clients) {
    calls.push_back(client->begin("silent"));
    calls.push_back(client->begin("silent"));
  }
  ASSERT_TRUE(eventually([&] { return counter("messages") >= 4 * 4; })) << status();

  const int last = clients.front()->begin("exit", "7");

  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_THAT(clients[i / 2]->answer_to(calls[i]),
                AllOf(HasSubstr("-31001"), HasSubstr("exited with code 7"), HasSubstr("`corral logs shared`"),
                      Not(HasSubstr("the roof"))));
  }
  EXPECT_THAT(clients.front()->answer_to(last), HasSubstr("-31001"));
  for (const auto& client : clients) {
    EXPECT_EQ(client->call("echo", "from the next one"), "from the next one");
    for (const std::string& line : client->others()) EXPECT_THAT(line, HasSubstr("notifications/message"));
  }
}

TEST_F(HubBadInput, HalfAnAnswerIsNone) {
  McpClient client(connect({"rude"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_THAT(client.call("half"), AllOf(HasSubstr("-31001"), Not(HasSubstr("never heard"))));

  EXPECT_EQ(client.call("echo", "from the next one"), "from the next one");
  for (const std::string& line : client.others()) EXPECT_THAT(line, HasSubstr("notifications/message"));
}

TEST_F(HubBadInput, AServerThatClosesItsStdoutIsEnded) {
  McpClient client(connect({"rude"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const pid_t server = std::stoi(client.call("pid"));

  EXPECT_THAT(client.call("mute"), HasSubstr("-31001"));

  EXPECT_NE(client.call("pid"), std::to_string(server));
  EXPECT_TRUE(is_gone(server)) << "the next one starts when the tree of this one is gone";
}

TEST_F(HubBadInput, AFloodOnStderrHoldsNobodyUp) {
  constexpr int kKib = 8 << 10;
  McpClient client(connect({"shared"}));
  McpClient neighbour(connect({"rude"}));
  ASSERT_TRUE(client.initialize() && neighbour.initialize()) << errors_of_shim();

  const int flood = client.begin("stderr", std::to_string(kKib));

  EXPECT_EQ(neighbour.call("echo", "next"), "next");
  EXPECT_THAT(client.answer_to(flood), HasSubstr("flooded"));
  EXPECT_TRUE(eventually([&] { return counter("stderr_bytes") == kKib << 10; })) << status();
}

TEST_F(HubBadInput, AnAnswerOverTheCapCostsItsCallOnly) {
  McpClient client(connect({"shared"}));
  McpClient neighbour(connect({"shared"}));
  ASSERT_TRUE(client.initialize() && neighbour.initialize()) << errors_of_shim();
  neighbour.begin("silent");

  EXPECT_THAT(client.call("large", "65"), HasSubstr("-31004"));

  EXPECT_EQ(client.call("echo", "next"), "next");
  EXPECT_EQ(neighbour.call("echo", "next"), "next");
  EXPECT_EQ(client.call("large", "60").size(), 60U << 10);
  EXPECT_EQ(counter("lost_answers"), 1);
}

TEST_F(HubBadInput, AFloodOfChangesIsPassedOnToWhoReads) {
  McpClient client(connect({"shared"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_EQ(client.call("changed", "5000"), "changed");

  EXPECT_EQ(client.others().size(), 5000U);
}

// ---- clients

TEST_F(HubBadInput, GarbageIsAnsweredLineByLine) {
  constexpr long kLines = 20'000;
  McpClient client(connect({"shared"}));
  McpClient neighbour(connect({"shared"}));
  ASSERT_TRUE(client.initialize() && neighbour.initialize()) << errors_of_shim();

  std::string garbage;
  for (long i = 0; i < kLines; ++i) garbage += i % 2 == 0 ? "%!\xff{[\n" : "{\"jsonrpc\":\"2.0\",\"id\":\n";
  long answered = 0;
  for (std::size_t sent = 0; sent < garbage.size();) {
    sent += client.send_until_full(garbage.substr(sent), garbage.size() - sent);
    client.sip(65536);
  }
  EXPECT_EQ(client.call("echo", "still here"), "still here");
  for (const std::string& line : client.others()) answered += line.find("-32700") != std::string::npos;

  EXPECT_EQ(answered + (client.answer_to("null").empty() ? 0 : 1), kLines);
  EXPECT_EQ(neighbour.call("echo", "next"), "next");
  EXPECT_EQ(counter("bad_messages"), kLines);
}

TEST_F(HubBadInput, HalfALineIsNotAMessage) {
  McpClient client(connect({"rude"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  ASSERT_EQ(client.call("echo", "before"), "before");

  client.send_bytes(request("99", "half").substr(0, 60));
  client.session().close_stdin();

  EXPECT_EQ(client.answer_to(99), "");
  EXPECT_TRUE(client.reads_to_end());
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(HubBadInput, ALineOverTheCapIsRefusedUnderItsId) {
  McpClient client(connect({"shared"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  ASSERT_TRUE(client.send(request("\"big\"", std::string(3 << 20, 'x'))));

  EXPECT_THAT(client.answer_to("big"), AllOf(HasSubstr("-32600"), HasSubstr("line_cap")));
  EXPECT_EQ(client.call("echo", "next"), "next");
  EXPECT_EQ(counter("bad_messages"), 1);
}

}  // namespace
}  // namespace corral::os_tests
