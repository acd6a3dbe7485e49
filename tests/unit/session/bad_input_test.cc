// What neither a client nor a server should send. docs/protocol/bad-input.md lists the outcomes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct BadLine {
  const char* name;
  std::string line;
  const char* id;  // of the error
  int code;
};

class FromAClient : public testing::TestWithParam<BadLine> {};

TEST_P(FromAClient, IsRefusedAndNeverReachesTheServer) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(GetParam().line);
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), IsEmpty());
  const auto answers = client.heard();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(json(answers[0]).at("error").at("code"), GetParam().code) << answers[0];
  EXPECT_EQ(boost::json::serialize(json(answers[0]).at("id")), GetParam().id);
  EXPECT_EQ(client.session.record().bad_messages, 1U);
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_THAT(client.heard(), SizeIs(1)) << "the session goes on";
}

INSTANTIATE_TEST_SUITE_P(
    Each, FromAClient,
    testing::Values(
        BadLine{"Garbage", "hello", "null", -32700},
        BadLine{"HalfALine", R"({"jsonrpc":"2.0","id":1,)", "null", -32700},
        BadLine{"InvalidUtf8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "null", -32700},
        BadLine{"NulByte", std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0\"}", 39), "null",
                -32700},
        BadLine{"DeepNesting",
                R"({"jsonrpc":"2.0","id":1,"method":"x","params":)" + std::string(600, '[') +
                    std::string(600, ']') + "}",
                "null", -32700},
        BadLine{"DuplicateId", R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})", "null", -32600},
        BadLine{"Batch", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", "null", -32600},
        BadLine{"NullId", R"({"jsonrpc":"2.0","id":null,"method":"x"})", "null", -32600},
        BadLine{"BooleanId", R"({"jsonrpc":"2.0","id":true,"method":"x"})", "null", -32600},
        BadLine{"ObjectId", R"({"jsonrpc":"2.0","id":{},"method":"x"})", "null", -32600},
        BadLine{"ArrayId", R"({"jsonrpc":"2.0","id":[1],"method":"x"})", "null", -32600},
        BadLine{"NoVersion", R"({"id":1,"method":"x"})", "1", -32600},
        BadLine{"OtherVersion", R"({"jsonrpc":"1.0","id":1,"method":"x"})", "1", -32600},
        BadLine{"NumericMethod", R"({"jsonrpc":"2.0","id":1,"method":5})", "1", -32600},
        BadLine{"ArrayParams", R"({"jsonrpc":"2.0","id":"a","method":"x","params":[]})", "\"a\"", -32600},
        BadLine{"Scalar", "5", "null", -32600}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST(FromAClient, ALineOverTheCapIsAnsweredUnderItsOwnId) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.session.receive_oversized("\"big\"", 70'000'000);
  EXPECT_THAT(client.heard(), ElementsAre(testing::AllOf(HasSubstr(R"("id":"big")"), HasSubstr("line_cap"))));
}

TEST(FromAClient, AResponseToNothingIsDropped) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
  EXPECT_THAT(client.heard(), IsEmpty());
}

TEST(FromAClient, ARequestBeforeTheHandshakeIsToldHowToBegin) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  client.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  exchange.settle();
  EXPECT_THAT(client.heard(),
              ElementsAre(HasSubstr("result"), testing::AllOf(HasSubstr("-32602"), HasSubstr("initialize"))));
  EXPECT_EQ(exchange.started(), 0U);
}

TEST(FromAClient, ASecondHandshakeIsRefused) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-32600")));
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
}

TEST(FromAClient, WhatComesDuringTheHandshakeIsServedAfterIt) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), SizeIs(1));
  exchange.server().say(R"({"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("initialized"), HasSubstr("tools/list")));
}

TEST(FromAClient, TooMuchDuringTheHandshakeStopsTheReading) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  // 64 wait, and as many are looked through for cancellations.
  for (int i = 1; i <= 128; ++i) {
    EXPECT_TRUE(client.reading) << i;
    client.say(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/list"})");
  }
  EXPECT_FALSE(client.reading);
}

TEST(FromAClient, ABatchIsServedInTheRevisionThatHasThem) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.connect();
  client.say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})");
  exchange.settle();
  exchange.server().heard();
  exchange.server().say(R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26"}})");
  exchange.settle();
  client.heard();
  client.say(R"([{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}])");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("tools/list")));
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":2,"result")")));
}

TEST(FromAServer, BannersAreDroppedAndCounted) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  exchange.server().say("Server listening on stdio!");
  exchange.server().say(R"({"not":"rpc"})");
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  EXPECT_EQ(exchange.pool.slots().front().router()->instance()->counters().lines_dropped, 2U);
}

TEST(FromAServer, ASecondAnswerAndAWrongIdAreDroppedAndCounted) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  const std::string answer = answer_to(heard.at(0));
  exchange.server().say(answer);
  exchange.server().say(answer);
  exchange.server().say(R"({"jsonrpc":"2.0","id":4711,"result":{}})");
  exchange.server().say(R"({"jsonrpc":"2.0","id":"1","result":{}})");
  exchange.server().say(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(1));
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().unknown_answers, 4U);
}

TEST(FromAServer, AnAnswerOverTheCapFailsItsCall) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":"x","method":"tools/list"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  const std::string head = R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(heard.at(0)).at("id")) +
                           R"(,"result":{"blob":")";
  std::string answer = head + std::string(std::size_t{3} << 19, 'x') + "\"}}\n";
  for (std::size_t at = 0; at < answer.size(); at += 32768) {
    exchange.server().say_raw(answer.substr(at, 32768));
    exchange.settle();
  }
  EXPECT_THAT(client.heard(), ElementsAre(testing::AllOf(HasSubstr(R"("id":"x")"), HasSubstr("-31004"))));
}

class UnreadableAnswer : public testing::TestWithParam<BadLine> {};

TEST_P(UnreadableAnswer, FailsItsCallAtOnce) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":"x","method":"tools/list"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  std::string answer = GetParam().line;
  answer.replace(answer.find("ID"), 2, boost::json::serialize(json(heard.at(0)).at("id")));
  exchange.server().say(answer);
  exchange.settle();

  EXPECT_THAT(client.heard(), ElementsAre(testing::AllOf(HasSubstr(R"("id":"x")"), HasSubstr("-31007"))));
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().lost_answers, 1U);
  exchange.server().say(answer);
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty()) << "it was answered";
}

INSTANTIATE_TEST_SUITE_P(
    Each, UnreadableAnswer,
    testing::Values(
        BadLine{"Latin1", "{\"jsonrpc\":\"2.0\",\"result\":{\"text\":\"caf\xe9\"},\"id\":ID}", "", 0},
        BadLine{"Depth",
                R"({"jsonrpc":"2.0","id":ID,"result":)" + std::string(600, '[') + std::string(600, ']') + "}",
                "", 0},
        BadLine{"NoVersion", R"({"id":ID,"result":{}})", "", 0},
        BadLine{"NeitherResultNorError", R"({"jsonrpc":"2.0","id":ID})", "", 0},
        BadLine{"Quoted", R"({"jsonrpc":"2.0","id":"ID","result":{"a":1},"error":{"code":1}})", "", 0},
        BadLine{"InABatch", R"([{"jsonrpc":"2.0","id":ID,"result":{},"error":{}}])", "", 0}),
    [](const auto& bad) { return std::string(bad.param.name); });

TEST(FromAServer, AMalformedQuestionFailsNobodysCall) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":"x","method":"tools/list"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  const std::string id =
      boost::json::serialize(json(heard.at(0)).at("id"));  // which it may use for its own, too
  exchange.server().say("{\"jsonrpc\":\"2.0\",\"id\":" + id +
                        ",\"method\":\"sampling/createMessage\",\"x\":\"\xe9\"}");
  exchange.server().say(R"({"id":)" + id + R"(,"method":"ping"})");
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());

  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"tools":[]}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("tools":[])")));
}

TEST(FromAServer, ARecordOfALogWithAnIdFailsNobodysCall) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().heard();
  exchange.server().say(R"({"level":30,"id":1,"msg":"starting"})");
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}})");
  exchange.settle();
  ASSERT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":0,"result")"))) << "it can be opened";

  client.say(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{}})");
  exchange.settle();
  const std::string id = boost::json::serialize(json(exchange.server().heard().at(0)).at("id"));
  exchange.server().say(R"({"level":30,"id":)" + id + R"(,"msg":"x"})");
  exchange.server().say(R"([{"level":30,"id":)" + id + R"(,"msg":"x"}])");
  exchange.server().say("{\"level\":30,\"id\":" + id + ",\"msg\":\"caf\xe9\"}");
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());

  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":5,"result")")));
}

TEST(FromAServer, AnIdThatComesBackAsAStringIsTheSameId) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().heard();
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":"1","result":{"protocolVersion":"2025-06-18","capabilities":{}}})");
  exchange.settle();
  ASSERT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":0,"result")"))) << "it can be opened";

  client.say(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}})");
  exchange.settle();
  const std::string id = boost::json::serialize(json(exchange.server().heard().at(0)).at("id"));
  exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":")" +
                        id + R"(","progress":1}})");
  exchange.server().say(R"({"jsonrpc":"2.0","id":")" + id + R"(","result":{}})");
  exchange.settle();

  EXPECT_THAT(client.heard(),
              ElementsAre(HasSubstr(R"("progressToken":"t")"), HasSubstr(R"("id":5,"result")")));
}

TEST(FromAServer, AHandshakeThatCannotBeReadIsAnError) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().heard();
  exchange.server().say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"instructions\":\"caf\xe9\"}}");
  exchange.settle();

  EXPECT_THAT(client.heard(),
              ElementsAre(testing::AllOf(HasSubstr(R"("id":0,"error")"), HasSubstr("not strict JSON"))));
}

TEST(FromAServer, ABatchIsTakenApart) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"a/b"})");
  client.say(R"({"jsonrpc":"2.0","id":2,"method":"a/b"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  const auto id = [&](std::size_t i) { return boost::json::serialize(json(heard.at(i)).at("id")); };
  exchange.server().say(R"([{"jsonrpc":"2.0","id":)" + id(0) + R"(,"result":{}},{"jsonrpc":"2.0","id":)" +
                        id(1) + R"(,"result":{}}])");
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(2));
}

TEST(FromAServer, AFloodOfNewsDoesNotReachASlowReader) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.slow = true;
  for (int i = 0; i < 500; ++i) {
    exchange.server().say(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}})");
    exchange.settle();
  }
  EXPECT_THAT(client.heard(), IsEmpty());
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().dropped_news, 500U);
}

TEST(FromAServer, NewsForNobodyIsDroppedAndCounted) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  exchange.ready_client();
  exchange.server().say(R"({"jsonrpc":"2.0","method":"vendor/news"})");
  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:y"}})");
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  EXPECT_EQ(exchange.pool.slots().front().router()->counters().dropped_news, 2U);
}

TEST(FromAServer, AClosedOutputEndsItsSessions) {
  Exchange exchange(config::Share::Session);
  exchange.spec->entry.restart = false;
  FakeClient& client = exchange.ready_client();
  exchange.server().close_output();
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_TRUE(client.session.ended());
}

TEST(FromAServer, WhatItComplainsOfWhileItStartsReachesWhoWaits) {
  Exchange exchange;
  FakeClient& first = exchange.connect();
  FakeClient& second = exchange.connect();
  first.say(kInitialize);
  second.say(kInitialize);
  exchange.settle();
  exchange.server().complain("no licence");
  exchange.settle();
  EXPECT_EQ(first.errors, "no licence");
  EXPECT_EQ(second.errors, "no licence");
}

TEST(FromAServer, ItsErrorOutputReachesItsSessionsOnly) {
  Exchange exchange(config::Share::Session);
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  exchange.server(0).complain("to the first");
  exchange.settle();
  EXPECT_EQ(first.errors, "to the first");
  EXPECT_EQ(second.errors, "");
}

}  // namespace
}  // namespace corral::tests
