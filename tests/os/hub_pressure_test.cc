// Clients that do not read and servers that do not stop writing: the daemon's memory stays bounded, nothing
// that was owed is lost, and the others go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

// AddressSanitizer keeps what was freed for a while.
constexpr long kMostGrowthKib = kSanitized ? 600 << 10 : 40 << 10;
constexpr std::size_t kFlood = std::size_t{64} << 20;

class HubPressure : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    add_server("private", {}, R"("share":"session")");
    add_server("shared", {}, R"("share":"shared")");
    start_daemon();
  }

  /// How much of it is taken from a client until nobody takes any more, while another one is served.
  static std::size_t taken_from(McpClient& client, const std::string& flood, McpClient& neighbour) {
    std::size_t taken = 0;
    for (int idle = 0; idle < 3 && taken < flood.size();) {
      const std::size_t now = client.send_until_full(flood.substr(taken), flood.size() - taken);
      taken += now;
      idle = now == 0 ? idle + 1 : 0;
      expect_service(neighbour);
    }
    return taken;
  }

  /// Fifty answers, each the right one.
  static void expect_service(McpClient& client) {
    for (int i = 0; i < 50; ++i) {
      const std::string word = "call-" + std::to_string(i);
      ASSERT_EQ(client.call("echo", word), word);
    }
  }
};

TEST_F(HubPressure, ALargeAnswerToASlowClientHoldsNobodyUp) {
  constexpr std::size_t kSize = std::size_t{8} << 20;
  McpClient slow(connect({"shared"}));
  McpClient quick(connect({"shared"}));
  ASSERT_TRUE(slow.initialize() && quick.initialize()) << errors_of_shim();
  ASSERT_EQ(slow.call("pid"), quick.call("pid")) << "not shared";

  const int large = slow.begin("large", std::to_string(kSize >> 10));
  for (int sips = 0; sips < 5; ++sips) {
    slow.sip(1000);
    expect_service(quick);
  }

  EXPECT_EQ(field(slow.answer_to(large), "text").size(), kSize);
  EXPECT_EQ(slow.call("echo", "and on"), "and on");
}

TEST_F(HubPressure, NewsForAClientThatDoesNotReadAreDroppedAndCounted) {
  constexpr long kNews = 50'000;  // of 4 KiB each
  McpClient sleeper(connect({"shared"}));
  McpClient quick(connect({"shared"}));
  ASSERT_TRUE(sleeper.initialize() && quick.initialize()) << errors_of_shim();
  expect_service(quick);
  const long before = memory_of_daemon();
  ASSERT_GT(before, 0);

  const int flood = sleeper.begin_with_progress("progress", std::to_string(kNews * 4));
  // The server is one thread: its answer to somebody else says that it is through.
  ASSERT_TRUE(eventually([&] { return counter("dropped_news") > 0; })) << status();
  EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);
  expect_service(quick);
  EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);

  EXPECT_THAT(sleeper.answer_to(flood), HasSubstr("\"text\":\"50000\"")) << "an answer may not be lost";
  const auto arrived = static_cast<long>(sleeper.others().size());
  EXPECT_GT(arrived, 0);
  EXPECT_EQ(arrived + counter("dropped_news"), kNews);
  EXPECT_EQ(sleeper.call("echo", "awake"), "awake");
}

TEST_F(HubPressure, APrivateServerIsHeldUpByItsOwnClientAndLosesNothing) {
  constexpr long kNews = 50'000;
  McpClient sleeper(connect({"private"}));
  McpClient quick(connect({"private"}));
  ASSERT_TRUE(sleeper.initialize() && quick.initialize()) << errors_of_shim();
  expect_service(quick);
  const long before = memory_of_daemon();

  const int flood = sleeper.begin_with_progress("progress", std::to_string(kNews * 4));
  for (int round = 0; round < 5; ++round) {
    expect_service(quick);
    EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);
  }

  EXPECT_THAT(sleeper.answer_to(flood), HasSubstr("\"text\":\"50000\""));
  EXPECT_EQ(static_cast<long>(sleeper.others().size()), kNews);
  EXPECT_EQ(counter("dropped_news"), 0);
  EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);
}

TEST_F(HubPressure, ThatAListChangedIsToldLaterToWhoDidNotRead) {
  McpClient sleeper(connect({"shared"}));
  McpClient quick(connect({"shared"}));
  ASSERT_TRUE(sleeper.initialize() && quick.initialize()) << errors_of_shim();
  const int flood = sleeper.begin_with_progress("progress", "4096");
  ASSERT_TRUE(eventually([&] { return counter("dropped_news") > 0; })) << status();

  EXPECT_EQ(quick.call("changed", "100"), "changed");

  EXPECT_THAT(sleeper.answer_to(flood), HasSubstr("\"result\""));
  EXPECT_EQ(sleeper.call("echo", "awake"), "awake");
  const auto changes = std::count_if(
      sleeper.others().begin(), sleeper.others().end(),
      [](const std::string& line) { return line.find("tools/list_changed") != std::string::npos; });
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(quick.others().size(), 100U);
}

TEST_F(HubPressure, AServerThatStopsReadingHoldsUpItsOwnClientOnly) {
  McpClient unheard(connect({"private"}));
  McpClient quick(connect({"shared"}));
  ASSERT_TRUE(unheard.initialize() && quick.initialize()) << errors_of_shim();
  ASSERT_EQ(unheard.call("deaf"), "what?");
  std::string flood;
  for (int id = 1000; flood.size() < kFlood; ++id) {
    flood += R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
             R"(,"method":"tools/call","params":{"name":"echo","arguments":{"arg":")" +
             std::string(60'000, 'x') + "\"}}}\n";
  }
  const long before = memory_of_daemon();

  const std::size_t taken = taken_from(unheard, flood, quick);

  EXPECT_GT(taken, std::size_t{1} << 20) << "it was not even queued";
  EXPECT_LT(taken, kFlood / 8);
  EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);
}

TEST_F(HubPressure, GarbageOfAClientThatReadsNoAnswerIsLeftInItsPipe) {
  McpClient mad(connect({"shared"}));
  McpClient quick(connect({"shared"}));
  ASSERT_TRUE(mad.initialize() && quick.initialize()) << errors_of_shim();
  std::string flood;
  while (flood.size() < kFlood) flood += "{\"jsonrpc\":\"2.0\",\"id\":[\n";
  const long before = memory_of_daemon();

  const std::size_t taken = taken_from(mad, flood, quick);

  EXPECT_LT(taken, kFlood / 8);
  EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);
}

TEST_F(HubPressure, ErrorOutputForAShimThatHangsIsDropped) {
  McpClient client(connect({"shared"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const long before = memory_of_daemon();
  ASSERT_EQ(kill(client.session().pid(), SIGSTOP), 0);

  EXPECT_EQ(client.call("stderr", std::to_string(kFlood >> 10)), "flooded");

  EXPECT_LT(memory_of_daemon() - before, kMostGrowthKib);
  EXPECT_EQ(kill(client.session().pid(), SIGCONT), 0);
  EXPECT_EQ(client.call("echo", "next"), "next");
}

TEST_F(HubPressure, AClientThatLeavesTooManyAnswersUnreadIsGivenUp) {
  McpClient sleeper(connect({"shared"}));
  McpClient quick(connect({"shared"}));
  ASSERT_TRUE(sleeper.initialize() && quick.initialize()) << errors_of_shim();
  const long before = memory_of_daemon();

  for (int i = 0; i < 15; ++i) sleeper.begin("large", "8192");  // 120 MiB

  EXPECT_TRUE(sleeper.wait().has_value()) << "it still has its session";
  expect_service(quick);
  EXPECT_TRUE(eventually([&] { return memory_of_daemon() - before < kMostGrowthKib; })) << memory_of_daemon();
}

}  // namespace
}  // namespace corral::os_tests
