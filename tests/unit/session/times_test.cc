// How long each thing is waited for, to the tenth of a second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/known_server.h"

namespace corral::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;

/// How much time has to pass, in steps of 100 ms and a quarter of an hour at most.
template <class Condition>
milliseconds time_until(Exchange& exchange, Condition condition) {
  constexpr milliseconds kStep{100};
  milliseconds passed{0};
  for (; passed < std::chrono::minutes(15); passed += kStep) {
    exchange.settle();
    if (condition()) break;
    exchange.clock.pass(kStep);
  }
  return passed;
}

TEST(Times, AClientThatHasClosedItsEndIsGivenAMinuteForTheLastAnswers) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(kCall);
  client.session.input_ended();

  EXPECT_EQ(time_until(exchange, [&] { return client.closed.has_value(); }), seconds(60));
}

TEST(Times, AnIntroductionIsAnsweredAfterTwentySecondsWhateverTheServerDoes) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);

  EXPECT_EQ(time_until(exchange, [&] { return !client.heard().empty(); }), seconds(20));
}

TEST(Times, AServerHasThreeMinutesForItsHandshake) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().heard();

  EXPECT_EQ(time_until(exchange, [&] { return exchange.server().input_closed(); }), seconds(180));
}

TEST(Times, AServerThatHasReadAQuestionOfTheNewEraHasThreeSecondsToAnswerIt) {
  Exchange exchange;
  exchange.spec->entry.modern = std::nullopt;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  ASSERT_THAT(exchange.server().heard(), Contains(HasSubstr("server/discover")));

  // Whether it has read the question is looked at four times a second.
  EXPECT_EQ(time_until(exchange, [&] { return exchange.server().input_closed(); }), milliseconds(3300));
}

TEST(Times, AServerThatHasClosedItsOutputHasThreeSecondsToExit) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(kCall);
  exchange.server().close_output();

  EXPECT_EQ(time_until(exchange, [&] { return !client.heard().empty(); }), seconds(3));
}

TEST(Times, AServerThatDoesNotReadIsStoppedTwoSecondsAfterItShouldHaveSeenTheEnd) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  for (int i = 0; i < 8; ++i) {  // more than a pipe holds
    client.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
               R"(,"method":"tools/call","params":{"name":")" + std::string(50'000, 'n') + R"("}})");
  }
  exchange.settle();
  client.session.end(session::EndReason::InputClosed);

  EXPECT_EQ(time_until(exchange, [&] { return exchange.server().stops_told() > 0; }), seconds(2));
}

TEST(Times, ACallThatWaitsForItsClientsWordIsGivenUpAfterTenMinutes) {
  Exchange exchange(config::Share::Session);
  const auto modern = [](const std::string& method, const std::string& more) {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}})" +
           more + "}}";
  };
  FakeClient& client = exchange.connect();
  client.say(modern("server/discover", ""));
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  client.heard();
  client.say(modern("tools/call", R"(,"name":"t")"));
  exchange.settle();
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}})");
  ASSERT_TRUE(exchange.until([&] { return !client.heard().empty(); })) << "the question was told";
  exchange.server().heard();

  EXPECT_EQ(time_until(exchange, [&] { return !exchange.server().heard().empty(); }),
            std::chrono::minutes(10));
}

TEST_F(Lazy, TheCodeOfARunningServerIsLookedAtEveryThirtySeconds) {
  FakeClient& client = exchange.ready_client();
  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  exchange.clock.pass(seconds(25));
  exchange.settle();
  write_script("another text");

  EXPECT_EQ(time_until(exchange, [&] { return exchange.server().input_closed(); }), seconds(5));
}

}  // namespace
}  // namespace corral::tests
