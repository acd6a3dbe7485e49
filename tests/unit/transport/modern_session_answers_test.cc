// What the requests of one user hear from the server that they share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/modern_fixture.h"

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
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& first = fixture.ask("1", "tools/list");
  FakeExchange& second = fixture.ask("1", "prompts/list");
  FakeExchange& third = fixture.ask(R"("1")", "resources/list");
  const auto asked = fixture.heard();
  ASSERT_THAT(asked, SizeIs(3));
  fixture.say(wire::result_message(ModernFixture::id_of(asked[2]), R"({"n":3})"));
  fixture.say(wire::result_message(ModernFixture::id_of(asked[1]), R"({"n":2})"));
  fixture.say(wire::result_message(ModernFixture::id_of(asked[0]), R"({"tools":[]})"));
  EXPECT_EQ(first.body, R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})");
  EXPECT_EQ(second.body, R"({"jsonrpc":"2.0","id":1,"result":{"n":2}})");
  EXPECT_EQ(third.body, R"({"jsonrpc":"2.0","id":"1","result":{"n":3}})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.header("Content-Type"), "application/json");
  EXPECT_EQ(fixture.modern->in_use(), 0U);
}

TEST(ModernAnswers, KeepLargeResultsByteForByte) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"a")");
  const std::string large(std::size_t{60} << 10, 'x');
  fixture.answer(R"({"big":")" + large + R"("})");
  EXPECT_EQ(call.body, R"({"jsonrpc":"2.0","id":1,"result":{"big":")" + large + R"("}})");
}

TEST(ModernAnswers, CarryTheStatusOfTheirError) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  const auto status = [&fixture](int code) {
    FakeExchange& call = fixture.ask("1", "vendor/thing");
    const auto asked = fixture.heard();
    fixture.say(wire::error_message(ModernFixture::id_of(asked.at(0)), code, "no"));
    EXPECT_THAT(call.body, HasSubstr(R"("id":1,"error":{"code":)" + std::to_string(code)));
    return call.status;
  };
  EXPECT_EQ(status(-32601), 404);
  EXPECT_EQ(status(-32021), 400);
  EXPECT_EQ(status(-32602), 200);
}

TEST(ModernAnswers, CarryTheStatusOfTheErrorThatABridgeMadeOfIt) {
  ModernFixture fixture(Era::Legacy);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"a")");
  const auto asked = fixture.heard();
  ASSERT_THAT(asked, SizeIs(1));
  fixture.say(
      wire::error_message(ModernFixture::id_of(asked[0]), -32021, "a legacy server means something else"));
  EXPECT_THAT(call.body, HasSubstr(R"("code":-32603)"));
  EXPECT_EQ(call.status, 200);
}

TEST(ModernAnswers, BecomeAStreamWithTheFirstProgress) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& first = fixture.ask("1", "tools/call", R"(,"name":"a")", meta_with(R"("progressToken":"t")"));
  FakeExchange& second =
      fixture.ask("1", "tools/call", R"(,"name":"b")", meta_with(R"("progressToken":"t")"));
  FakeExchange& silent = fixture.ask("1", "tools/call", R"(,"name":"c")");
  const auto asked = fixture.heard();
  ASSERT_THAT(asked, SizeIs(3));
  const auto progress = [&](std::size_t call) {
    fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                ModernFixture::id_of(asked[call]) + R"(,"progress":1}})");
  };
  progress(1);
  progress(2);
  EXPECT_TRUE(second.streaming);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.header("Content-Type"), "text/event-stream");
  EXPECT_THAT(second.body, Not(HasSubstr("id: ")));
  fixture.say(wire::error_message(ModernFixture::id_of(asked[1]), -32601, "no"));
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
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"a")", meta_with(R"("progressToken":5)"));
  fixture.say(
      "{\"jsonrpc\":\"2.0\",\r\"method\":\"notifications/progress\",\r\"params\":{\"progressToken\":" +
      ModernFixture::id_of(fixture.heard().at(0)) + "}}");
  EXPECT_THAT(call.body, Not(HasSubstr("\r")));
  EXPECT_THAT(events(call), ElementsAre(HasSubstr(R"("progressToken":5)")));
}

std::string wants_log(const char* level) {
  return meta_with(R"("io.modelcontextprotocol/logLevel":")" + std::string(level) + "\"");
}
void log(ModernFixture& fixture, const std::string& level) {
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" + level +
              R"(","data":1}})");
}

TEST(ModernAnswers, ALogLineGoesToTheOnlyRequestThatCanHaveCausedIt) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& loud = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("warning"));
  FakeExchange& none = fixture.ask("2", "tools/call", R"(,"name":"a")");
  FakeExchange& listen =
      fixture.ask("3", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");

  log(fixture, "info");
  log(fixture, "critical");

  EXPECT_THAT(events(loud), ElementsAre(HasSubstr("critical")));
  EXPECT_FALSE(none.streaming);
  EXPECT_FALSE(listen.streaming);
}

TEST(ModernAnswers, ALogLineThatTwoRequestsCanHaveCausedGoesToNobodyAndIsCounted) {
  for (const auto share : {config::Share::Shared, config::Share::Session}) {
    ModernFixture fixture(Era::Modern, {}, share);
    fixture.open();
    FakeExchange& older = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));
    const std::string up = ModernFixture::id_of(fixture.heard().at(0));
    FakeExchange& newer = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

    for (int i = 0; i < 20; ++i) log(fixture, "error");

    EXPECT_FALSE(older.streaming);
    EXPECT_FALSE(newer.streaming) << "the newest is not the cause for being the newest";
    EXPECT_EQ(fixture.modern->dropped(), 20U);
    fixture.say(wire::result_message(up, "{}"));
    log(fixture, "alert");
    EXPECT_THAT(events(newer), ElementsAre(HasSubstr("alert"))) << "now it is the only one";
  }
}

TEST(ModernAnswers, ALogLineOfARequestThatWasGivenUpGoesToNobody) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& gone = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));
  FakeExchange& stays = fixture.ask("2", "tools/call", R"(,"name":"a")", wants_log("debug"));
  gone.hang_up();
  fixture.daemon.settle();

  log(fixture, "error");

  EXPECT_FALSE(stays.streaming) << "its server may still be at work for the other one";
  EXPECT_EQ(fixture.modern->dropped(), 1U);
}

/// It hears of no level of a request, so every one of them may be its cause.
TEST(ModernAnswers, ALegacyServersLogLineMayBeOfARequestThatWantsNone) {
  ModernFixture fixture(Era::Legacy, {}, config::Share::Session);
  fixture.open();
  FakeExchange& wants = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));
  const std::string first = [&] {
    for (const std::string& line : fixture.heard()) {
      if (line.find("tools/call") != std::string::npos) return ModernFixture::id_of(line);
    }
    return std::string();
  }();
  FakeExchange& none = fixture.ask("2", "tools/call", R"(,"name":"a")");
  ASSERT_NE(first, "");

  log(fixture, "error");

  EXPECT_FALSE(wants.streaming);
  EXPECT_FALSE(none.streaming);
}

/// The id of the call that a legacy server has heard last.
std::string last_call(ModernFixture& fixture) {
  std::string id;
  for (const std::string& line : fixture.heard()) {
    if (line.find("tools/call") != std::string::npos) id = ModernFixture::id_of(line);
  }
  return id;
}

TEST(ModernAnswers, ALegacyServersLastLineAboutAnAnsweredRequestIsNotTheNextOnes) {
  ModernFixture fixture(Era::Legacy, {}, config::Share::Shared);
  fixture.open();
  FakeExchange& first = fixture.ask("1", "tools/call", R"(,"name":"a")");
  fixture.say(wire::result_message(last_call(fixture), R"({"content":[]})"));
  ASSERT_TRUE(first.over);
  FakeExchange& second = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(fixture, "error");

  EXPECT_FALSE(second.streaming) << "the other request may be another program's";
  EXPECT_EQ(fixture.modern->dropped(), 1U);
}

TEST(ModernAnswers, ALegacyServersLastLineAboutASubscriptionIsNotAnotherRequests) {
  ModernFixture fixture(Era::Legacy, {}, config::Share::Shared);
  fixture.open();
  FakeExchange& listen =
      fixture.ask("1", "subscriptions/listen", R"(,"notifications":{"resourceSubscriptions":["a:b"]})");
  fixture.answer("{}");
  ASSERT_THAT(events(listen), SizeIs(1)) << "the acknowledgement";
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(fixture, "error");

  EXPECT_FALSE(call.streaming);
  EXPECT_THAT(events(listen), SizeIs(1));
}

TEST(ModernAnswers, WhatNoServerHasSeenCausesNoLogLine) {
  ModernFixture fixture(Era::Legacy, {}, config::Share::Shared);
  fixture.open();  // by server/discover, which was answered a moment ago
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(fixture, "error");

  EXPECT_THAT(events(call), SizeIs(1));
}

TEST(ModernAnswers, OneProgramAloneHearsTheLinesOfItsNextRequest) {
  ModernFixture fixture(Era::Legacy, {}, config::Share::Session, ModernSession::Programs::One);
  fixture.open();
  fixture.ask("1", "tools/call", R"(,"name":"a")");
  fixture.say(wire::result_message(last_call(fixture), R"({"content":[]})"));
  FakeExchange& second = fixture.ask("2", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(fixture, "error");

  EXPECT_THAT(events(second), SizeIs(1));
}

TEST(ModernAnswers, ARequestThatWaitsForItsClientsWordIsStillACause) {
  ModernFixture fixture(Era::Legacy, {}, config::Share::Session);
  fixture.open();
  std::string meta = kModernMeta;
  const std::string none = R"("io.modelcontextprotocol/clientCapabilities":{})";
  ASSERT_NE(meta.find(none), std::string::npos);
  meta.replace(meta.find(none), none.size(),
               R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}})");
  FakeExchange& first = fixture.ask("1", "tools/call", R"(,"name":"a")", meta);
  fixture.say(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"who?",)"
              R"("requestedSchema":{"type":"object","properties":{}}}})");
  ASSERT_TRUE(fixture.daemon.until([&] { return first.over; }));
  ASSERT_THAT(first.body, HasSubstr("input_required"));
  FakeExchange& second = fixture.ask("1", "tools/call", R"(,"name":"a")", wants_log("debug"));

  log(fixture, "error");

  EXPECT_FALSE(second.streaming);
}

TEST(ModernAnswers, AListenHearsItsAcknowledgementFirstAndItsOwnIdThroughout) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  const std::string filter = R"(,"notifications":{"toolsListChanged":true})";
  FakeExchange& first = fixture.ask("1", "subscriptions/listen", filter);
  FakeExchange& second = fixture.ask(R"("1")", "subscriptions/listen", filter);
  const auto asked = fixture.heard();
  ASSERT_THAT(asked, SizeIs(2));
  const std::string up_first = ModernFixture::id_of(asked[0]);
  const std::string up_second = ModernFixture::id_of(asked[1]);
  fixture.say(listen_news("tools/list_changed", up_first));
  EXPECT_FALSE(first.streaming) << "nothing may come before the acknowledgement";
  fixture.say(listen_news("subscriptions/acknowledged", up_first));
  fixture.say(listen_news("subscriptions/acknowledged", up_second));
  fixture.say(listen_news("tools/list_changed", up_first));
  EXPECT_THAT(events(first), ElementsAre(listen_news("subscriptions/acknowledged", "1"),
                                         listen_news("tools/list_changed", "1")));
  EXPECT_THAT(events(second), ElementsAre(listen_news("subscriptions/acknowledged", R"("1")")));
  EXPECT_FALSE(first.over);
  fixture.say(wire::result_message(
      up_first, R"({"resultType":"complete","_meta":{)" + kSubscription + up_first + "}}"));
  EXPECT_TRUE(first.over);
  EXPECT_EQ(events(first).back(), R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{)" +
                                      kSubscription + "1}}}");
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + up_second +
              "}}");
  EXPECT_TRUE(second.over) << "a server that takes back a listen ends its stream";
  EXPECT_THAT(events(second).back(),
              AllOf(HasSubstr(R"("id":"1","result")"), HasSubstr(kSubscription + R"("1")")));
}

TEST(ModernAnswers, AListenThatDidNotReadHearsLaterThatAListHasChanged) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& tools =
      fixture.ask("1", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  FakeExchange& prompts =
      fixture.ask("2", "subscriptions/listen", R"(,"notifications":{"promptsListChanged":true})");
  for (const std::string& asked : fixture.heard()) {
    fixture.say(listen_news("subscriptions/acknowledged", ModernFixture::id_of(asked)));
  }
  fixture.modern->send({R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})", nullptr}, {});
  EXPECT_EQ(events(tools).back(), listen_news("tools/list_changed", "1"));
  EXPECT_THAT(events(prompts), SizeIs(1));
}

TEST(ModernAnswers, ALegacyServerIsListenedToLikeAnyOther) {
  ModernFixture fixture(Era::Legacy);
  fixture.open();
  FakeExchange& listen =
      fixture.ask(R"("l")", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  EXPECT_THAT(events(listen), ElementsAre(AllOf(HasSubstr("subscriptions/acknowledged"),
                                                HasSubstr(kSubscription + R"("l")"))));
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_THAT(events(listen).back(), AllOf(HasSubstr("list_changed"), HasSubstr(kSubscription + R"("l")")));
  FakeExchange& call = fixture.ask("9", "tools/call", R"(,"name":"a")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernFixture::id_of(fixture.heard().at(0));
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up +
              R"(,"progress":1}})");
  fixture.say(wire::result_message(up, R"({"content":[]})"));
  EXPECT_THAT(events(call), ElementsAre(HasSubstr(R"("progressToken":1,)"), HasSubstr(R"("id":9,)")));
  EXPECT_TRUE(call.over);
}

TEST(ModernAnswers, NobodyIsAskedAnything) {
  ModernFixture fixture(Era::Modern, {}, config::Share::Session);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"a")");
  fixture.heard();
  fixture.say(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}})");
  EXPECT_THAT(fixture.heard(), ElementsAre(AllOf(HasSubstr(R"("id":5,)"), HasSubstr("-32601"))));
  EXPECT_FALSE(call.streaming);
  EXPECT_GT(fixture.modern->dropped(), 0U);
}

}  // namespace
}  // namespace corral::transport
