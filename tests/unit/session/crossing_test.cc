// A session with a bridge, whose server goes and comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string modern(const std::string& id, const std::string& method, const std::string& more = "") {
  return request(id, method,
                 R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                 R"("io.modelcontextprotocol/clientCapabilities":{}})" +
                     more + "}");
}

class Crossing : public testing::Test {
 protected:
  /// A modern client of a legacy server, with an open listen.
  Crossing() : client(exchange.connect()) {
    client.say(modern("1", "server/discover"));
    exchange.settle();
    exchange.answer_handshake(exchange.server());
    client.say(modern(R"("l")", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})"));
    exchange.settle();
    client.heard();
  }
  void restart_server() {
    exchange.server().exit(1 << 8);
    exchange.settle();
    exchange.until([&] { return exchange.started() == 2; });
    exchange.settle();
  }
  void announce() {
    exchange.server(1).say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    exchange.settle();
  }

  Exchange exchange{config::Share::Session};
  FakeClient& client;
};

TEST_F(Crossing, AListenGoesOnWithTheNextInstance) {
  restart_server();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  announce();
  EXPECT_THAT(client.heard(), Contains(HasSubstr(R"("io.modelcontextprotocol/subscriptionId":"l")")));
}

TEST_F(Crossing, AListenThatWasCancelledWhileTheServerWasAwayIsOver) {
  restart_server();
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  announce();
  EXPECT_THAT(client.heard(), Not(Contains(HasSubstr("list_changed"))));
}

/// Of a modern server: our own for legacy clients, or that of a modern client. Neither has a deadline, so
/// what runs besides (the minutes after which an idle server is looked at) is all that wakes the daemon.
TEST(OpenListen, WakesNobodyUp) {
  for (const bool modern_client : {false, true}) {
    Exchange exchange;
    exchange.spec->entry.modern = true;
    FakeClient& client = exchange.connect();
    client.say(modern_client ? modern("1", "server/discover") : kInitialize);
    exchange.settle();
    exchange.server().say(
        R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}})");
    exchange.settle();
    if (modern_client) {
      client.say(modern("2", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})"));
    } else {
      client.say(kInitialized);
    }
    exchange.settle();
    ASSERT_THAT(exchange.server().heard(), Contains(HasSubstr("subscriptions/listen"))) << modern_client;

    const auto next = exchange.loop.next_timer();
    EXPECT_TRUE(!next || *next - Clock::now() > std::chrono::seconds(10)) << modern_client;
  }
}

TEST(OpenListen, IsOneForAllLegacyClients) {
  Exchange exchange;
  exchange.spec->entry.modern = true;
  FakeClient& first = exchange.connect();
  first.say(kInitialize);
  exchange.settle();
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}})");
  exchange.settle();
  first.say(kInitialized);
  exchange.settle();
  ASSERT_THAT(exchange.server().heard(), Contains(HasSubstr("subscriptions/listen")));

  FakeClient& second = exchange.connect();
  second.say(kInitialize);
  second.say(kInitialized);
  exchange.settle();

  ASSERT_EQ(exchange.started(), 1U);
  EXPECT_THAT(exchange.server().heard(), Not(Contains(HasSubstr("subscriptions/listen"))));
}

TEST_F(Crossing, WhatConcernsOnlyUsReachesNoServer) {
  FakeClient& patient = exchange.connect();
  patient.say(
      R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"_meta":{"dev.corral/waits":true},"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})");
  exchange.settle();
  const auto heard = exchange.server(1).heard();
  ASSERT_THAT(heard, Contains(HasSubstr(R"("name":"c")")));
  EXPECT_THAT(heard, Not(Contains(HasSubstr("dev.corral"))));
}

}  // namespace
}  // namespace corral::tests
