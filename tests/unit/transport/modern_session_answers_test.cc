// What the requests of one user hear from the server that they share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/modern_house.h"

namespace corral::transport {
namespace {

using knowledge::Era;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string kSubscription = R"("io.modelcontextprotocol/subscriptionId":)";

std::string listen_news(const std::string& method, const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"notifications/)" + method + R"(","params":{"_meta":{)" +
         kSubscription + id + "}}}";
}

TEST(ModernAnswers, GoToTheRequestsThatAskedThoughTheirIdsAreEqual) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& first = house.ask("1", "tools/list");
  FakeExchange& second = house.ask("1", "prompts/list");
  FakeExchange& third = house.ask(R"("1")", "resources/list");
  const auto asked = house.heard();
  ASSERT_THAT(asked, SizeIs(3));
  house.say(wire::result_message(ModernHouse::id_of(asked[2]), R"({"n":3})"));
  house.say(wire::result_message(ModernHouse::id_of(asked[1]), R"({"n":2})"));
  house.say(wire::result_message(ModernHouse::id_of(asked[0]), R"({"tools":[]})"));
  EXPECT_EQ(first.body, R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})");
  EXPECT_EQ(second.body, R"({"jsonrpc":"2.0","id":1,"result":{"n":2}})");
  EXPECT_EQ(third.body, R"({"jsonrpc":"2.0","id":"1","result":{"n":3}})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("Content-Type"), "application/json");
  EXPECT_EQ(house.modern->in_use(), 0U);
}

TEST(ModernAnswers, KeepLargeResultsByteForByte) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"a")");
  const std::string large(std::size_t{60} << 10, 'x');
  house.answer(R"({"big":")" + large + R"("})");
  EXPECT_EQ(call.body, R"({"jsonrpc":"2.0","id":1,"result":{"big":")" + large + R"("}})");
}

TEST(ModernAnswers, CarryTheStatusOfTheirError) {
  ModernHouse house(Era::Modern);
  house.open();
  const auto status = [&house](int code) {
    FakeExchange& call = house.ask("1", "vendor/thing");
    const auto asked = house.heard();
    house.say(wire::error_message(ModernHouse::id_of(asked.at(0)), code, "no"));
    EXPECT_THAT(call.body, HasSubstr(R"("id":1,"error":{"code":)" + std::to_string(code)));
    return call.status;
  };
  EXPECT_EQ(status(-32601), 404);
  EXPECT_EQ(status(-32021), 400);
  EXPECT_EQ(status(-32602), 200);
}

TEST(ModernAnswers, CarryTheStatusOfTheErrorThatABridgeMadeOfIt) {
  ModernHouse house(Era::Legacy);
  house.open();
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"a")");
  const auto asked = house.heard();
  ASSERT_THAT(asked, SizeIs(1));
  house.say(
      wire::error_message(ModernHouse::id_of(asked[0]), -32021, "a legacy server means something else"));
  EXPECT_THAT(call.body, HasSubstr(R"("code":-32603)"));
  EXPECT_EQ(call.status, 200);
}

TEST(ModernAnswers, BecomeAStreamWithTheFirstProgress) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& first = house.ask("1", "tools/call", R"(,"name":"a")", meta_with(R"("progressToken":"t")"));
  FakeExchange& second = house.ask("1", "tools/call", R"(,"name":"b")", meta_with(R"("progressToken":"t")"));
  FakeExchange& silent = house.ask("1", "tools/call", R"(,"name":"c")");
  const auto asked = house.heard();
  ASSERT_THAT(asked, SizeIs(3));
  const auto progress = [&](std::size_t call) {
    house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
              ModernHouse::id_of(asked[call]) + R"(,"progress":1}})");
  };
  progress(1);
  progress(2);
  EXPECT_TRUE(second.streaming);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.header("Content-Type"), "text/event-stream");
  EXPECT_THAT(second.body, Not(HasSubstr("id: ")));
  house.say(wire::error_message(ModernHouse::id_of(asked[1]), -32601, "no"));
  EXPECT_THAT(
      events(second),
      ElementsAre(
          R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}})",
          AllOf(HasSubstr(R"("id":1,)"), HasSubstr("-32601"))));
  EXPECT_TRUE(second.over);
  EXPECT_FALSE(first.streaming);
  EXPECT_FALSE(silent.streaming) << "it gave no token";
}

TEST(ModernAnswers, AreOneEventThoughTheServerUsesCarriageReturns) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"a")", meta_with(R"("progressToken":5)"));
  house.say("{\"jsonrpc\":\"2.0\",\r\"method\":\"notifications/progress\",\r\"params\":{\"progressToken\":" +
            ModernHouse::id_of(house.heard().at(0)) + "}}");
  EXPECT_THAT(call.body, Not(HasSubstr("\r")));
  EXPECT_THAT(events(call), ElementsAre(HasSubstr(R"("progressToken":5)")));
}

std::string wants_log(const char* level) {
  return meta_with(R"("io.modelcontextprotocol/logLevel":")" + std::string(level) + "\"");
}
void log(ModernHouse& house, const std::string& level) {
  house.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" + level +
            R"(","data":1}})");
}

TEST(ModernAnswers, ALogLineGoesToTheOnlyRequestThatCanHaveCausedIt) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& loud = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("warning"));
  FakeExchange& none = house.ask("2", "tools/call", R"(,"name":"a")");
  FakeExchange& listen =
      house.ask("3", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");

  log(house, "info");
  log(house, "critical");

  EXPECT_THAT(events(loud), ElementsAre(HasSubstr("critical")));
  EXPECT_FALSE(none.streaming);
  EXPECT_FALSE(listen.streaming);
}

TEST(ModernAnswers, ALogLineThatTwoRequestsCanHaveCausedGoesToNobodyAndIsCounted) {
  for (const auto share : {config::Share::Shared, config::Share::Session}) {
    ModernHouse house(Era::Modern, {}, share);
    house.open();
    FakeExchange& older = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));
    const std::string up = ModernHouse::id_of(house.heard().at(0));
    FakeExchange& newer = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

    for (int i = 0; i < 20; ++i) log(house, "error");

    EXPECT_FALSE(older.streaming);
    EXPECT_FALSE(newer.streaming) << "the newest is not the cause for being the newest";
    EXPECT_EQ(house.modern->dropped(), 20U);
    house.say(wire::result_message(up, "{}"));
    log(house, "alert");
    EXPECT_THAT(events(newer), ElementsAre(HasSubstr("alert"))) << "now it is the only one";
  }
}

TEST(ModernAnswers, ALogLineOfARequestThatWasGivenUpGoesToNobody) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& gone = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));
  FakeExchange& stays = house.ask("2", "tools/call", R"(,"name":"a")", wants_log("debug"));
  gone.hang_up();
  house.daemon.settle();

  log(house, "error");

  EXPECT_FALSE(stays.streaming) << "its server may still be at work for the other one";
  EXPECT_EQ(house.modern->dropped(), 1U);
}

/// It hears of no level of a request, so every one of them may be its cause.
TEST(ModernAnswers, ALegacyServersLogLineMayBeOfARequestThatWantsNone) {
  ModernHouse house(Era::Legacy, {}, config::Share::Session);
  house.open();
  FakeExchange& wants = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));
  const std::string first = [&] {
    for (const std::string& line : house.heard()) {
      if (line.find("tools/call") != std::string::npos) return ModernHouse::id_of(line);
    }
    return std::string();
  }();
  FakeExchange& none = house.ask("2", "tools/call", R"(,"name":"a")");
  ASSERT_NE(first, "");

  log(house, "error");

  EXPECT_FALSE(wants.streaming);
  EXPECT_FALSE(none.streaming);
}

/// The id of the call that a legacy server has heard last.
std::string last_call(ModernHouse& house) {
  std::string id;
  for (const std::string& line : house.heard()) {
    if (line.find("tools/call") != std::string::npos) id = ModernHouse::id_of(line);
  }
  return id;
}

TEST(ModernAnswers, ALegacyServersLastLineAboutAnAnsweredRequestIsNotTheNextOnes) {
  ModernHouse house(Era::Legacy, {}, config::Share::Shared);
  house.open();
  FakeExchange& first = house.ask("1", "tools/call", R"(,"name":"a")");
  house.say(wire::result_message(last_call(house), R"({"content":[]})"));
  ASSERT_TRUE(first.over);
  FakeExchange& second = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(house, "error");

  EXPECT_FALSE(second.streaming) << "the other request may be another program's";
  EXPECT_EQ(house.modern->dropped(), 1U);
}

TEST(ModernAnswers, ALegacyServersLastLineAboutASubscriptionIsNotAnotherRequests) {
  ModernHouse house(Era::Legacy, {}, config::Share::Shared);
  house.open();
  FakeExchange& listen =
      house.ask("1", "subscriptions/listen", R"(,"notifications":{"resourceSubscriptions":["a:b"]})");
  house.answer("{}");
  ASSERT_THAT(events(listen), SizeIs(1)) << "the acknowledgement";
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(house, "error");

  EXPECT_FALSE(call.streaming);
  EXPECT_THAT(events(listen), SizeIs(1));
}

TEST(ModernAnswers, WhatNoServerHasSeenCausesNoLogLine) {
  ModernHouse house(Era::Legacy, {}, config::Share::Shared);
  house.open();  // by server/discover, which was answered a moment ago
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(house, "error");

  EXPECT_THAT(events(call), SizeIs(1));
}

TEST(ModernAnswers, OneProgramAloneHearsTheLinesOfItsNextRequest) {
  ModernHouse house(Era::Legacy, {}, config::Share::Session, ModernSession::Programs::One);
  house.open();
  house.ask("1", "tools/call", R"(,"name":"a")");
  house.say(wire::result_message(last_call(house), R"({"content":[]})"));
  FakeExchange& second = house.ask("2", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(house, "error");

  EXPECT_THAT(events(second), SizeIs(1));
}

TEST(ModernAnswers, ARequestThatWaitsForItsClientsWordIsStillACause) {
  ModernHouse house(Era::Legacy, {}, config::Share::Session);
  house.open();
  std::string meta = kModernMeta;
  const std::string none = R"("io.modelcontextprotocol/clientCapabilities":{})";
  ASSERT_NE(meta.find(none), std::string::npos);
  meta.replace(meta.find(none), none.size(),
               R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}})");
  FakeExchange& first = house.ask("1", "tools/call", R"(,"name":"a")", meta);
  house.say(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"who?",)"
            R"("requestedSchema":{"type":"object","properties":{}}}})");
  ASSERT_TRUE(house.daemon.until([&] { return first.over; }));
  ASSERT_THAT(first.body, HasSubstr("input_required"));
  FakeExchange& second = house.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(house, "error");

  EXPECT_FALSE(second.streaming);
}

TEST(ModernAnswers, AListenHearsItsAcknowledgementFirstAndItsOwnIdThroughout) {
  ModernHouse house(Era::Modern);
  house.open();
  const std::string filter = R"(,"notifications":{"toolsListChanged":true})";
  FakeExchange& first = house.ask("1", "subscriptions/listen", filter);
  FakeExchange& second = house.ask(R"("1")", "subscriptions/listen", filter);
  const auto asked = house.heard();
  ASSERT_THAT(asked, SizeIs(2));
  const std::string up_first = ModernHouse::id_of(asked[0]);
  const std::string up_second = ModernHouse::id_of(asked[1]);
  house.say(listen_news("tools/list_changed", up_first));
  EXPECT_FALSE(first.streaming) << "nothing may come before the acknowledgement";
  house.say(listen_news("subscriptions/acknowledged", up_first));
  house.say(listen_news("subscriptions/acknowledged", up_second));
  house.say(listen_news("tools/list_changed", up_first));
  EXPECT_THAT(events(first), ElementsAre(listen_news("subscriptions/acknowledged", "1"),
                                         listen_news("tools/list_changed", "1")));
  EXPECT_THAT(events(second), ElementsAre(listen_news("subscriptions/acknowledged", R"("1")")));
  EXPECT_FALSE(first.over);
  house.say(wire::result_message(up_first,
                                 R"({"resultType":"complete","_meta":{)" + kSubscription + up_first + "}}"));
  EXPECT_TRUE(first.over);
  EXPECT_EQ(events(first).back(), R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{)" +
                                      kSubscription + "1}}}");
  house.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + up_second +
            "}}");
  EXPECT_TRUE(second.over) << "a server that takes back a listen ends its stream";
  EXPECT_THAT(events(second).back(),
              AllOf(HasSubstr(R"("id":"1","result")"), HasSubstr(kSubscription + R"("1")")));
}

TEST(ModernAnswers, AListenThatDidNotReadHearsLaterThatAListHasChanged) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& tools =
      house.ask("1", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  FakeExchange& prompts =
      house.ask("2", "subscriptions/listen", R"(,"notifications":{"promptsListChanged":true})");
  for (const std::string& asked : house.heard()) {
    house.say(listen_news("subscriptions/acknowledged", ModernHouse::id_of(asked)));
  }
  house.modern->send({R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})", nullptr}, {});
  EXPECT_EQ(events(tools).back(), listen_news("tools/list_changed", "1"));
  EXPECT_THAT(events(prompts), SizeIs(1));
}

TEST(ModernAnswers, ALegacyServerIsListenedToLikeAnyOther) {
  ModernHouse house(Era::Legacy);
  house.open();
  FakeExchange& listen =
      house.ask(R"("l")", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  EXPECT_THAT(events(listen), ElementsAre(AllOf(HasSubstr("subscriptions/acknowledged"),
                                                HasSubstr(kSubscription + R"("l")"))));
  house.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_THAT(events(listen).back(), AllOf(HasSubstr("list_changed"), HasSubstr(kSubscription + R"("l")")));
  FakeExchange& call = house.ask("9", "tools/call", R"(,"name":"a")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernHouse::id_of(house.heard().at(0));
  house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up +
            R"(,"progress":1}})");
  house.say(wire::result_message(up, R"({"content":[]})"));
  EXPECT_THAT(events(call), ElementsAre(HasSubstr(R"("progressToken":1,)"), HasSubstr(R"("id":9,)")));
  EXPECT_TRUE(call.over);
}

TEST(ModernAnswers, NobodyIsAskedAnything) {
  ModernHouse house(Era::Modern, {}, config::Share::Session);
  house.open();
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"a")");
  house.heard();
  house.say(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}})");
  EXPECT_THAT(house.heard(), ElementsAre(AllOf(HasSubstr(R"("id":5,)"), HasSubstr("-32601"))));
  EXPECT_FALSE(call.streaming);
  EXPECT_GT(house.modern->dropped(), 0U);
}

}  // namespace
}  // namespace corral::transport
