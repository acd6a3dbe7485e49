// A session with a bridge, whose server goes and comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::string modern(const std::string& id, const std::string& method, const std::string& more = "") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method +
         R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{}})" +
         more + "}}";
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
