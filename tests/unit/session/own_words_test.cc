// What corral says itself is made of constants and escaped values: no name that a server made up gets into
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/json_text.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// With a line end and a quote, written with escapes: as one message it is valid.
const std::string kForged =
    R"(notifications/x\"}\n{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"forged\":1}}\n{\"a\":\"/list_changed)";

TEST(OwnWords, EscapeTheMethod) {
  const std::string message = wire::notification_message("a\"}\n{");
  EXPECT_EQ(wire::Message(message).method(), "a\"}\n{");
  EXPECT_EQ(message.find('\n'), message.npos);
  const std::string request = wire::request_message("1", "a\"}\n{", "{}");
  EXPECT_EQ(wire::Message(request).kind(), wire::Kind::Request);
  EXPECT_EQ(wire::request_message("1", "roots/list", ""),
            R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})");
  EXPECT_EQ(
      wire::cancelled_message("7", "so\"so"),
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"so\"so"}})");
  EXPECT_EQ(wire::cancelled_message("7", ""),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  EXPECT_EQ(wire::refusal_message("", R"({"code":1})"), R"({"jsonrpc":"2.0","id":null,"error":{"code":1}})");
}

TEST(OwnWords, ALegacyClientHearsNoListOfAModernServerThatDoesNotExist) {
  Exchange exchange;
  exchange.spec->entry.modern = true;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().heard();
  exchange.server().say(R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],)"
                        R"("capabilities":{"tools":{"listChanged":true}}}})");
  exchange.settle();
  client.say(kInitialized);
  exchange.settle();
  client.heard();
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, ElementsAre(HasSubstr("subscriptions/listen")));
  const std::string listen = boost::json::serialize(json(asked[0]).at("id"));
  const auto news = [&](const std::string& method) {
    return notification(method, R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + listen + "}}");
  };

  exchange.server().say(news(kForged));
  exchange.server().say(news("notifications/gadgets/list_changed"));
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  exchange.server().say(news("notifications/tools/list_changed"));
  exchange.settle();
  EXPECT_THAT(client.heard(),
              ElementsAre(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
}

TEST(OwnWords, AClientThatDoesNotReadIsOwedOnlyListsThatExist) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  FakeClient& other = exchange.ready_client();
  client.slow = true;
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  client.heard();

  exchange.server().say(notification(kForged));
  for (int i = 0; i < 100; ++i) {
    exchange.server().say(notification("notifications/" + std::to_string(i) + "/list_changed"));
  }
  exchange.server().say(notification("notifications/prompts/list_changed"));
  exchange.settle();
  client.slow = false;
  client.session.output_drained();
  exchange.settle();

  EXPECT_THAT(client.heard(),
              ElementsAre(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})"));
  EXPECT_THAT(other.heard(), ElementsAre(HasSubstr("notifications/prompts/list_changed")));
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().dropped_news, 101U);
}

// ---- what a server that is busy, or deaf, gets

/// Fills the queue towards the server, which reads nothing.
void congest(Exchange& exchange, FakeClient& client) {
  const std::string large(std::size_t{600} << 10, 'x');
  for (int id = 100; id < 104; ++id) {
    client.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
               R"(,"method":"tools/call","params":{"name":"a","arguments":{"text":")" + large + "\"}}}");
  }
  exchange.settle();
}

TEST(ABusyServer, MayAskItsClientAllTheSame) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  congest(exchange, client);
  ASSERT_TRUE(exchange.pool.slots().front().router()->instance()->congested());

  exchange.server().say(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
  exchange.server().say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("roots/list")));
  client.say(R"({"jsonrpc":"2.0","id":1,"result":{"roots":[]}})");
  std::vector<std::string> answers;
  for (int turn = 0; turn < 100; ++turn) {
    for (const std::string& line : exchange.server().heard()) {
      if (line.find("\"result\"") != line.npos) answers.push_back(line);
    }
    exchange.settle();
  }
  EXPECT_THAT(answers, ElementsAre(R"({"jsonrpc":"2.0","id":"p","result":{}})", HasSubstr(R"("id":"q")")));
}

TEST(ADeafServer, ThatAsksAndAsksCostsNoMoreThanSoMuch) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  congest(exchange, client);
  for (int i = 0; i < 3000; ++i) {
    exchange.server().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"ping"})");
    if (i % 100 == 99) exchange.settle();
  }
  exchange.settle();
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().dropped_replies, 3000U - 1024U);
}

// ---- one session's share

TEST(SharedInstance, RefusesMoreSubscriptionsThanASessionMayHave) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  const auto subscribe = [&](int id, const std::string& uri) {
    client.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
               R"(,"method":"resources/subscribe","params":{"uri":")" + uri + "\"}}");
  };
  for (int id = 1; id <= 1024; ++id) subscribe(id, "file:///" + std::to_string(id));
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  subscribe(2000, "file:///one-more");
  subscribe(2001, "file:///" + std::string(9000, 'x'));
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("1024 resources"), HasSubstr("8192")));
}

TEST(Attribution, WhatWeAskOnBehalfOfASessionIsItsCause) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  second.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}})");
  first.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///secret"}})");
  exchange.settle();
  exchange.server().say(
      notification("notifications/message", R"({"level":"error","data":"subscribing to file:///secret"})"));
  exchange.settle();
  EXPECT_THAT(first.heard(), IsEmpty());
  EXPECT_THAT(second.heard(), IsEmpty()) << "it may be the other one's";
}

}  // namespace
}  // namespace corral::tests
