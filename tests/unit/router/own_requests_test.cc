// What a shared server is told on behalf of its sessions, and never answers: it does not pile up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string set_level(int id, const std::string& level) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"logging/setLevel","params":{"level":")" + level + R"("}})";
}
void answer(Exchange& exchange, const std::string& line, const std::string& what) {
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(line).at("id")) + what +
                        "}");
  exchange.settle();
}

TEST(OwnRequests, OneLevelIsToldAtATimeAndTheLastOneInTheEnd) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  for (int i = 1; i <= 50; ++i) client.say(set_level(i, i % 2 == 1 ? "debug" : "error"));
  exchange.settle();

  const auto first = exchange.server().heard();
  ASSERT_THAT(first, ElementsAre(HasSubstr("debug")));
  EXPECT_EQ(exchange.pool.slots().front().router()->activity().calls, 1U);
  EXPECT_EQ(client.heard().size(), 50U) << "nobody waits for the server";
  answer(exchange, first[0], R"(,"result":{})");
  const auto second = exchange.server().heard();
  ASSERT_THAT(second, ElementsAre(HasSubstr("error")));
  answer(exchange, second[0], R"(,"error":{"code":-32603,"message":"no"})");
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
  client.say(set_level(51, "debug"));
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("debug")));
}

TEST(OwnRequests, ALevelThatIsOnItsWayAlreadyIsNotToldAgain) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(set_level(1, "debug"));
  client.say(set_level(2, "error"));
  client.say(set_level(3, "debug"));
  exchange.settle();

  const auto first = exchange.server().heard();
  ASSERT_THAT(first, ElementsAre(HasSubstr("debug")));
  answer(exchange, first[0], R"(,"result":{})");
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
}

TEST(OwnRequests, ALevelWhoseAnswerCannotBeReadIsFollowedByTheNext) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(set_level(1, "debug"));
  client.say(set_level(2, "error"));
  exchange.settle();

  const auto first = exchange.server().heard();
  ASSERT_THAT(first, ElementsAre(HasSubstr("debug")));
  exchange.server().say(R"({"id":)" + boost::json::serialize(json(first[0]).at("id")) + R"(,"result":{}})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("error")));
}

TEST(OwnRequests, OfUnsubscribesThatAreNeverAnsweredOnlySoManyAreKept) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  for (int i = 0; i < 1100; ++i) {
    const std::string uri = R"(","params":{"uri":"a:)" + std::to_string(i) + R"("}})";
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe)" + uri);
    exchange.settle();
    const auto heard = exchange.server().heard();
    ASSERT_THAT(heard, ElementsAre(HasSubstr("resources/subscribe")));
    answer(exchange, heard[0], R"(,"result":{})");
    client.say(R"({"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe)" + uri);
    exchange.settle();
    ASSERT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("resources/unsubscribe")));
  }
  EXPECT_EQ(exchange.pool.slots().front().router()->activity().calls, 1024U);
}

}  // namespace
}  // namespace corral::tests
