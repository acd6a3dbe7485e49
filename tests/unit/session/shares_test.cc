// What a session holds is counted for its principal, and given back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string initialize_of(std::size_t bytes) {
  return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
         R"("capabilities":{},"clientInfo":{"name":")" +
         std::string(bytes, 'x') + R"(","version":"1"}}})";
}

std::string call_with(const std::string& id) { return call("\"" + id + "\"", "t"); }

class SessionShares : public testing::Test {
 protected:
  SessionShares() { exchange.spec->account = &token; }

  Shares shares;
  Account& token = shares.account("token:ci");
  Exchange exchange;
};

TEST_F(SessionShares, AnIntroductionOfMoreThan64KibIsRefusedAndTheClientMayTryAgain) {
  FakeClient& client = exchange.connect();
  client.say(initialize_of(std::size_t{20} << 20));

  const auto answers = client.heard();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(answers[0], HasSubstr(R"("code":-32602)"));
  EXPECT_THAT(answers[0], HasSubstr("65536"));
  EXPECT_EQ(exchange.started(), 0U);
  EXPECT_EQ(token.used(Good::Bytes), 0U);
  client.say(kInitialize);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 1U);
}

TEST_F(SessionShares, WhatWaitsForAServerIsHeldOnTheAccountUntilItIsSent) {
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  const std::size_t before = token.used(Good::Bytes);
  const std::string large = call_with(std::string(500, 'i'));
  client.say(large);
  EXPECT_EQ(token.used(Good::Bytes), before + large.size());
  const auto all_of_it = token.take(Good::Bytes, shares.quota(Good::Bytes).token - token.used(Good::Bytes));
  ASSERT_TRUE(all_of_it);
  client.say(call_with("one more"));
  EXPECT_THAT(client.heard(), testing::ElementsAre(HasSubstr("one more")));

  exchange.answer_handshake(exchange.server());
  exchange.settle();
  EXPECT_LT(token.used(Good::Bytes), shares.quota(Good::Bytes).token)
      << "the message itself is the server's by now";
}

TEST_F(SessionShares, OnlyCallsWithLongIdsCostBytes) {
  FakeClient& client = exchange.ready_client();
  const std::size_t before = token.used(Good::Bytes);
  client.say(call_with("short"));
  client.say(call_with(std::string(126, 'i')));  // with its quotes 128, and it is kept twice
  exchange.settle();
  EXPECT_EQ(token.used(Good::Bytes), before);
  EXPECT_EQ(token.used(Good::Requests), 2U);

  client.say(call_with(std::string(500, 'i')));
  exchange.settle();
  EXPECT_EQ(token.used(Good::Bytes), before + 2 * 502);
}

TEST_F(SessionShares, ASubscriptionThatWaitsForItsAnswerIsAnOpenRequest) {
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}})");
  exchange.settle();

  EXPECT_EQ(token.used(Good::Requests), 1U);
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(1));
  exchange.server().say(answer_to(asked[0]));
  exchange.settle();
  EXPECT_EQ(token.used(Good::Requests), 0U);
  EXPECT_GT(token.used(Good::Bytes), 100U) << "what holds a short URI counts, too";
}

// A call of a legacy client is kept until a modern server has answered it, because it may have to be made
// again.
TEST_F(SessionShares, ACallThatIsKeptForAModernServerIsHeldOnTheAccount) {
  exchange.spec->entry.modern = true;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}})");
  exchange.settle();
  client.say(kInitialized);
  exchange.settle();
  exchange.server().heard();
  const std::size_t before = token.used(Good::Bytes);

  client.say(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","arguments":{"text":")" +
             std::string(20'000, 't') + R"("}}})");
  exchange.settle();
  EXPECT_GE(token.used(Good::Bytes), before + 20'000);

  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(1));
  exchange.server().say(answer_to(asked[0], R"({"resultType":"complete","content":[]})"));
  exchange.settle();
  EXPECT_EQ(token.used(Good::Bytes), before);
}

// A call of a modern client is kept as long as a legacy server may ask its client something because of it.
TEST_F(SessionShares, ACallThatIsKeptForQuestionsOfALegacyServerIsHeldOnTheAccount) {
  const auto request = [](const std::string& method, const std::string& more) {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}})" +
           more + "}}";
  };
  FakeClient& client = exchange.connect();
  client.say(request("server/discover", ""));
  exchange.settle();
  exchange.answer_handshake(exchange.server());
  exchange.settle();
  exchange.server().heard();
  const std::size_t before = token.used(Good::Bytes);

  const auto used_by = [&](std::size_t size) {
    client.say(
        request("tools/call", R"(,"name":"t","arguments":{"text":")" + std::string(size, 't') + R"("})"));
    exchange.settle();
    const std::size_t used = token.used(Good::Bytes) - before;
    const auto asked = exchange.server().heard();
    EXPECT_THAT(asked, SizeIs(1));
    exchange.server().say(answer_to(asked.at(0), R"({"content":[]})"));
    exchange.settle();
    EXPECT_EQ(token.used(Good::Bytes), before);
    return used;
  };
  EXPECT_GE(used_by(20'000), 20'000U);
  shares.set_most(Good::Bytes, 4 * (before + 10'000));  // a quarter is one token's
  EXPECT_LT(used_by(20'000), 10'000U) << "it is sent, but its client cannot be asked";
}

TEST_F(SessionShares, AModernIntroductionAndTheFilterOfAListenAreLimitedToo) {
  exchange.spec->entry.modern = true;
  const std::string many(std::size_t{100} << 10, 'x');
  const auto request = [](const std::string& info, const std::string& more) {
    return R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{)"
           R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":")" +
           info + R"("})" + more + "}}";
  };
  for (const std::string& line :
       {request(many, ""), request("", R"(,"notifications":{"resourceSubscriptions":[")" + many + "\"]}")}) {
    FakeClient& client = exchange.connect();
    client.say(line);
    const auto answers = client.heard();
    ASSERT_THAT(answers, SizeIs(1));
    EXPECT_THAT(answers[0], HasSubstr(R"("code":-32602)"));
  }
  EXPECT_EQ(exchange.started(), 0U);
}

TEST_F(SessionShares, AnIntroductionIsHeldAsLongAsItsSession) {
  FakeClient& client = exchange.connect();
  client.say(initialize_of(10000));
  EXPECT_GT(token.used(Good::Bytes), 20000U);
  shares.set_most(Good::Bytes, 100000);  // 25000 for one token

  FakeClient& second = exchange.connect();
  second.say(initialize_of(10000));

  const auto answers = second.heard();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_THAT(answers[0], HasSubstr("one token may hold at most 25000 bytes"));
  exchange.clients.clear();
  EXPECT_EQ(token.used(Good::Bytes), 0U);
  (void)client;
}

TEST_F(SessionShares, OpenCallsAreCountedUntilTheyAreAnsweredCancelledOrLost) {
  shares.set_most(Good::Requests, 16);  // 4 for one token
  FakeClient& client = exchange.ready_client();
  const std::size_t before = token.used(Good::Bytes);
  const std::string large(500, 'd');  // the few bytes of the others are not worth counting
  for (const std::string& id :
       {std::string("a"), std::string("b"), std::string("c"), large, std::string("e")}) {
    client.say(call_with(id));
  }
  exchange.settle();

  const auto refused = client.heard();
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_THAT(refused[0], HasSubstr(R"("id":"e")"));
  EXPECT_THAT(refused[0], HasSubstr("one token may hold at most 4 open requests"));
  EXPECT_EQ(token.used(Good::Requests), 4U);
  EXPECT_GE(token.used(Good::Bytes), before + large.size());
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(4)) << "what was refused is not sent";

  exchange.server().say(answer_to(asked[0]));
  exchange.settle();
  EXPECT_EQ(token.used(Good::Requests), 3U);
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}})");
  EXPECT_EQ(token.used(Good::Requests), 2U);
  client.session.end(session::EndReason::ClientGone);
  exchange.settle();
  EXPECT_EQ(token.used(Good::Requests), 0U);
  EXPECT_LE(token.used(Good::Bytes), before);
}

TEST_F(SessionShares, SubscriptionsAreCountedUntilTheyEnd) {
  FakeClient& client = exchange.ready_client();
  const std::size_t before = token.used(Good::Bytes);
  const std::string uri = "file:///" + std::string(4000, 'x');
  const auto request = [](const std::string& id, const std::string& method, const std::string& about) {
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/)" + method + R"(","params":{"uri":")" +
           about + R"("}})";
  };
  client.say(request("1", "subscribe", uri));
  exchange.settle();
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(1));
  exchange.server().say(answer_to(asked[0]));
  exchange.settle();
  EXPECT_GT(token.used(Good::Bytes), before + 8000);
  client.heard();

  shares.set_most(Good::Bytes, 4 * (before + 10000));
  client.say(request("2", "subscribe", uri + "2"));
  const auto refused = client.heard();
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_THAT(refused[0], HasSubstr("one token may hold at most"));
  EXPECT_THAT(exchange.server().heard(), testing::IsEmpty());
  client.say(request("3", "unsubscribe", uri));
  exchange.settle();
  EXPECT_EQ(token.used(Good::Bytes), before);
}

TEST_F(SessionShares, ASubscriptionIsHeldOnTheAccountWhileItsAnswerIsOutstanding) {
  for (const auto share : {config::Share::Shared, config::Share::Session}) {
    exchange.spec = std::make_shared<pool::ServerSpec>(*exchange.spec);
    exchange.spec->entry.share = share;
    exchange.spec->launch.argv.emplace_back("another");
    FakeClient& client = exchange.ready_client();
    FakeServer& server = exchange.spawner.servers.back();
    const std::size_t before = token.used(Good::Bytes);
    const std::string uri = "file:///" + std::string(4000, 'x');
    const auto subscribe = [&client](const std::string& id, const std::string& about) {
      client.say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/subscribe","params":{"uri":")" +
                 about + R"("}})");
    };
    subscribe("1", uri);
    exchange.settle();
    EXPECT_GT(token.used(Good::Bytes), before + 8000);

    auto rest = token.take(Good::Bytes, shares.quota(Good::Bytes).token - token.used(Good::Bytes) - 9000);
    ASSERT_TRUE(rest);
    subscribe("2", uri + "2");
    subscribe("3", uri + "3");
    const auto refused = client.heard();
    ASSERT_FALSE(refused.empty());
    EXPECT_THAT(refused.back(), HasSubstr("one token may hold at most"));
    ASSERT_TRUE(rest->resize(rest->amount() + shares.quota(Good::Bytes).token - token.used(Good::Bytes)));
    exchange.settle();
    const auto asked = server.heard();
    ASSERT_FALSE(asked.empty());
    for (const std::string& line : asked) {
      server.say(answer_to(line));
    }
    exchange.settle();

    EXPECT_TRUE(client.session.memory().subscribed())
        << "what was admitted is kept, however full the account is";
    const std::size_t held = token.used(Good::Bytes) - rest->amount() - before;
    EXPECT_GE(held, asked.size() * 8000);
    EXPECT_LE(held, asked.size() * 8300) << "and no more";
    client.session.end(session::EndReason::ClientGone);
    exchange.settle();
  }
}

TEST_F(SessionShares, EverythingThatWaitsForAServerIsCounted) {
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  const std::size_t before = token.used(Good::Bytes);
  const std::string filling(5000, 'x');
  const std::string news =
      R"({"jsonrpc":"2.0","method":"notifications/x","params":{"a":")" + filling + R"("}})";
  const std::string answer = R"({"jsonrpc":"2.0","id":1,"result":{"a":")" + filling + R"("}})";
  const std::string nothing = R"({"jsonrpc":"2.0","a":")" + filling + R"("})";
  std::size_t expected = before;
  for (const std::string& message : {news, answer, nothing}) {
    client.say(message);
    expected += message.size();
    EXPECT_EQ(token.used(Good::Bytes), expected) << message.substr(0, 60);
  }

  const auto all_of_it = token.take(Good::Bytes, shares.quota(Good::Bytes).token - expected);
  const std::uint64_t bad = client.session.record().bad_messages;
  for (const std::string& message : {news, answer, nothing}) client.say(message);

  EXPECT_EQ(token.used(Good::Bytes), shares.quota(Good::Bytes).token);
  EXPECT_EQ(client.session.record().bad_messages, bad + 3);
  EXPECT_THAT(client.heard(), testing::IsEmpty());
}

TEST_F(SessionShares, AnAnsweredFirstRequestLeavesItsBytesToTheNextOne) {
  exchange.spec->entry.modern = true;
  FakeClient& client = exchange.connect();
  const auto first_request = [](const std::string& id) {
    return R"({"jsonrpc":"2.0","id":")" + id +
           R"(","method":"tools/call","params":{"_meta":{)"
           R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
           R"("io.modelcontextprotocol/clientCapabilities":{}},"name":")" +
           std::string(10'000, 'x') + R"("}})";
  };
  client.say(first_request("one"));
  client.say(first_request("two"));
  exchange.settle();
  const std::size_t held = token.used(Good::Bytes);
  ASSERT_GT(held, 20'000U);
  // Room for the two that are held and what one keeps, but not for a third one.
  const auto others = token.take(Good::Bytes, shares.quota(Good::Bytes).token - held - 5'000);
  ASSERT_TRUE(others);

  const auto probe = exchange.server().heard();
  ASSERT_THAT(probe, SizeIs(1));
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(json(probe[0]).at("id")) +
                        R"(,"error":{"code":-32022,"message":"no","data":{"supported":["2030-01-01"]}}})");
  exchange.settle();

  for (const std::string& line : client.heard()) EXPECT_THAT(line, testing::Not(HasSubstr("-31003"))) << line;
}

TEST_F(SessionShares, ALogLevelThatIsNoneIsNotKept) {
  FakeClient& client = exchange.ready_client();
  const std::string none(2000, 'x');
  const auto set = [&client](const std::string& level) {
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":")" + level +
               R"("}})");
  };
  set("error");
  set(none);
  exchange.settle();
  exchange.server().exit(1);
  exchange.settle();
  ASSERT_TRUE(exchange.until([this] { return exchange.started() == 2; }));
  exchange.answer_handshake(exchange.server(1), R"({"logging":{}})");
  exchange.settle();

  const auto told = exchange.server(1).heard();
  EXPECT_THAT(told, testing::Contains(HasSubstr(R"("level":"error")"))) << "the last one that was one";
}

TEST_F(SessionShares, TheUserIsNotHeldUpByWhatATokenHolds) {
  shares.set_most(Good::Requests, 4);
  FakeClient& greedy = exchange.ready_client();
  for (const char* id : {"a", "b", "c"}) greedy.say(call_with(id));
  exchange.spec = std::make_shared<pool::ServerSpec>(*exchange.spec);
  exchange.spec->account = &shares.account("user");
  exchange.spec->launch.argv.emplace_back("for the user");  // principals never share an instance
  FakeClient& own = exchange.ready_client();

  for (const char* id : {"x", "y", "z"}) own.say(call_with(id));
  exchange.settle();

  EXPECT_THAT(own.heard(), testing::IsEmpty());
  EXPECT_THAT(exchange.server(1).heard(), SizeIs(3));
}

}  // namespace
}  // namespace corral::tests
