// What passes between sessions and one instance: its bounds, its times, and who hears what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string id_of(const std::string& line) { return boost::json::serialize(json(line).at("id")); }

class Traffic : public testing::Test {
 protected:
  explicit Traffic(config::Share share = config::Share::Shared) : exchange_(share) {}

  const router::RouterCounters& counters() { return exchange_.pool.slots().front().router()->counters(); }
  std::vector<std::string> heard_of(FakeClient& client, const std::string& line) {
    client.say(line);
    exchange_.settle();
    return exchange_.server().heard();
  }

  Exchange exchange_;
};

class PrivateTraffic : public Traffic {
 protected:
  PrivateTraffic() : Traffic(config::Share::Session) {}
};

// ---- questions

TEST_F(PrivateTraffic, AServerMayHaveAThousandOpenQuestions) {
  FakeClient& client = exchange_.ready_client();
  for (int i = 0; i < 1025; ++i) {
    exchange_.server().say(request("\"q" + std::to_string(i) + "\"", "roots/list"));
    if (i % 100 == 99) exchange_.settle();
  }
  exchange_.settle();
  const auto asked = client.heard();
  EXPECT_THAT(asked, SizeIs(1024));
  EXPECT_THAT(exchange_.server().heard(), ElementsAre(AllOf(HasSubstr("\"q1024\""), HasSubstr("-32601"))));
  EXPECT_EQ(counters().refused_questions, 1U);

  EXPECT_THAT(heard_of(client, result(id_of(asked[0]))), ElementsAre(HasSubstr("\"q0\"")));
  exchange_.server().say(request("\"more\"", "roots/list"));
  exchange_.settle();
  EXPECT_THAT(client.heard(), SizeIs(1)) << "there is room again";
}

TEST_F(PrivateTraffic, AnAnswerThatNobodyAskedForIsDroppedAndNoted) {
  FakeClient& client = exchange_.ready_client();
  EXPECT_THAT(heard_of(client, result("77")), IsEmpty());
  EXPECT_THAT(client.notes, ElementsAre(HasSubstr("a question that is not open")));
  EXPECT_EQ(counters().unknown_answers, 1U);
}

TEST_F(PrivateTraffic, AClientThatSaysNoMoreAnswersNothingAndItsServerHearsSo) {
  FakeClient& client = exchange_.ready_client();
  client.say(request("1", "tools/call", R"({"name":"a"})"));
  exchange_.server().say(request("\"before\"", "roots/list"));
  exchange_.settle();
  exchange_.server().heard();
  client.session.input_ended();
  exchange_.settle();
  EXPECT_THAT(exchange_.server().heard(),
              ElementsAre(AllOf(HasSubstr("\"before\""), HasSubstr("the client has closed its output"))));
  exchange_.server().say(request("\"form\"", "elicitation/create"));
  exchange_.settle();
  EXPECT_THAT(exchange_.server().heard(),
              ElementsAre(R"({"jsonrpc":"2.0","id":"form","result":{"action":"cancel"}})"));
  EXPECT_EQ(counters().refused_questions, 2U);
}

// ---- calls

TEST_F(Traffic, ASessionMayHaveFourThousandCallsInFlight) {
  FakeClient& client = exchange_.ready_client();
  FakeClient& other = exchange_.ready_client();
  for (int i = 1; i <= 4096; ++i) {
    client.say(request(std::to_string(i), "prompts/list"));
    if (i % 64 == 0) {
      exchange_.settle();
      exchange_.server().heard();
    }
  }
  EXPECT_THAT(client.heard(), IsEmpty());
  EXPECT_EQ(counters().calls, 4096U);
  EXPECT_THAT(heard_of(client, request("5000", "prompts/list")), IsEmpty());
  EXPECT_THAT(client.heard(), ElementsAre(AllOf(HasSubstr("-31003"), HasSubstr("4096 calls in flight"))));
  EXPECT_THAT(heard_of(other, request("1", "prompts/list")), SizeIs(1)) << "each has so many";
}

TEST_F(Traffic, AnIdThatIsInUseIsRefused) {
  FakeClient& client = exchange_.ready_client();
  const auto asked = heard_of(client, request("1", "prompts/list"));
  EXPECT_THAT(heard_of(client, request("1", "prompts/list")), IsEmpty());
  EXPECT_THAT(client.heard(), ElementsAre(AllOf(HasSubstr("-32600"), HasSubstr("already in use"))));
  exchange_.server().say(result(id_of(asked.at(0))));
  exchange_.settle();
  EXPECT_THAT(heard_of(client, request("1", "prompts/list")), SizeIs(1)) << "it is free again";
}

TEST_F(Traffic, TheProgressTokenIsOursToTheServerWhereverItStands) {
  FakeClient& client = exchange_.ready_client();
  for (const char* line :
       {R"({"jsonrpc":"2.0","id":"i","method":"prompts/get","params":{"_meta":{"progressToken":"t"}}})",
        R"({"params":{"_meta":{"progressToken":"t"}},"method":"prompts/get","id":"i","jsonrpc":"2.0"})"}) {
    const auto asked = heard_of(client, line);
    ASSERT_THAT(asked, SizeIs(1));
    const auto id = json(asked[0]).at("id");
    EXPECT_TRUE(id.is_int64()) << asked[0];
    EXPECT_EQ(json(asked[0]).at("params").at("_meta").at("progressToken"), id);
    exchange_.server().say(result(boost::json::serialize(id)));
    exchange_.settle();
  }
}

TEST_F(Traffic, ACallThatTakesTooLongIsGivenUpAndTheServerHearsOfIt) {
  exchange_.spec->entry.timeout = seconds(30);
  FakeClient& client = exchange_.ready_client();
  const auto asked = heard_of(client, request("1", "prompts/list"));
  exchange_.clock.pass(milliseconds(29'999));
  exchange_.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  exchange_.clock.pass(milliseconds(1));
  exchange_.settle();
  EXPECT_THAT(client.heard(),
              ElementsAre(AllOf(HasSubstr("-31002"), HasSubstr("did not answer within 30 s"))));
  EXPECT_THAT(exchange_.server().heard(),
              ElementsAre(AllOf(HasSubstr("notifications/cancelled"), HasSubstr("the call took too long"),
                                HasSubstr(R"("requestId":)" + id_of(asked.at(0))))));
  EXPECT_EQ(counters().timeouts, 1U);
}

TEST_F(Traffic, ProgressGivesACallItsTimeAgain) {
  exchange_.spec->entry.timeout = seconds(30);
  FakeClient& client = exchange_.ready_client();
  const auto asked = heard_of(client, request("1", "prompts/get", R"({"_meta":{"progressToken":"t"}})"));
  exchange_.clock.pass(seconds(20));
  exchange_.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":)" +
      id_of(asked.at(0)) + "}}");
  exchange_.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("progressToken":"t")")));
  exchange_.clock.pass(milliseconds(29'999));
  exchange_.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  exchange_.clock.pass(milliseconds(1));
  exchange_.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-31002")));
}

TEST_F(Traffic, ProgressOfNobodyIsCounted) {
  FakeClient& client = exchange_.ready_client();
  const auto asked = heard_of(client, request("1", "prompts/get"));
  for (const std::string& token : {id_of(asked.at(0)), std::string("999"), std::string("\"t\"")}) {
    exchange_.server().say(
        R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token + "}}");
  }
  exchange_.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  EXPECT_EQ(counters().dropped_news, 3U);
}

// ---- what a shared server is told once for all

TEST_F(Traffic, LevelsAreCheckedBeforeTheServerHearsOfThem) {
  FakeClient& client = exchange_.ready_client();
  EXPECT_THAT(heard_of(client, request("1", "logging/setLevel", R"({"level":"loud"})")), IsEmpty());
  EXPECT_THAT(client.heard(), ElementsAre(AllOf(HasSubstr("-32602"), HasSubstr("level must be debug"))));
  heard_of(client, request("2", "logging/setLevel", R"({"level":"error"})"));
  EXPECT_THAT(client.heard(), ElementsAre(result("2")));
  heard_of(client, request("3", "tasks/list"));
  EXPECT_THAT(client.heard(), ElementsAre(AllOf(HasSubstr("-32601"), HasSubstr("offers no tasks"))));
}

TEST_F(Traffic, AServerThatDoesNotLogHasNoLevel) {
  FakeClient& client = exchange_.ready_client(R"({"tools":{}})");
  EXPECT_THAT(heard_of(client, request("1", "logging/setLevel", R"({"level":"error"})")), IsEmpty());
  EXPECT_THAT(client.heard(), ElementsAre(AllOf(HasSubstr("-32601"), HasSubstr("does not log"))));
}

// A server may repeat on stderr what a session subscribed to.
TEST_F(Traffic, ASessionThatComesBackWithSubscriptionsHasAskedTheNextInstanceToo) {
  FakeClient& first = exchange_.ready_client();
  FakeClient& second = exchange_.ready_client();
  for (FakeClient* const client : {&first, &second}) {
    const std::string uri = client == &first ? "a:1" : "a:2";
    const auto asked = heard_of(*client, request("1", "resources/subscribe", R"({"uri":")" + uri + "\"}"));
    exchange_.server().say(result(id_of(asked.at(0))));
    exchange_.settle();
  }
  exchange_.server().exit(1 << 8);
  exchange_.settle();
  ASSERT_EQ(exchange_.started(), 2U);
  exchange_.answer_handshake(exchange_.server(1));
  first.errors.clear();
  second.errors.clear();
  exchange_.server(1).complain("about a:1\n");
  exchange_.settle();
  EXPECT_EQ(first.errors, "");
  EXPECT_EQ(second.errors, "");
  EXPECT_EQ(counters().kept_error_bytes, 10U);
}

// ---- listens of modern clients

class ModernTraffic : public Traffic {
 protected:
  ModernTraffic() {
    exchange_.spec->entry.modern = true;
    client_ = &exchange_.connect();
    client_->say(modern("\"d\"", "server/discover"));
    exchange_.settle();
    exchange_.server().say(R"({"jsonrpc":"2.0","id":)" + id_of(exchange_.server().heard().at(0)) +
                           R"(,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}})");
    exchange_.settle();
    client_->heard();
  }
  static std::string modern(const std::string& id, const std::string& method, const std::string& more = {}) {
    return request(id, method,
                   R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                   R"("io.modelcontextprotocol/clientCapabilities":{}})" +
                       more + "}");
  }
  /// The id under which the server knows it.
  std::string listen() {
    const auto asked = heard_of(*client_, modern("7", "subscriptions/listen", R"(,"notifications":{})"));
    EXPECT_THAT(asked, SizeIs(1));
    return asked.empty() ? "" : id_of(asked[0]);
  }
  void server_cancels(const std::string& id) {
    exchange_.server().say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                           id + "}}");
    exchange_.settle();
  }

  FakeClient* client_ = nullptr;
};

TEST_F(ModernTraffic, AListenHasNoTimeLimit) {
  listen();
  exchange_.clock.pass(std::chrono::hours(2));
  exchange_.settle();
  EXPECT_THAT(client_->heard(), IsEmpty());
}

TEST_F(ModernTraffic, AListenThatTheServerEndsIsOver) {
  const std::string id = listen();
  EXPECT_TRUE(exchange_.pool.slots().front().router()->activity().in_use);
  server_cancels(id);
  EXPECT_THAT(client_->heard(), ElementsAre(HasSubstr(R"("requestId":7)")));
  EXPECT_FALSE(exchange_.pool.slots().front().router()->activity().in_use);
  EXPECT_NE(listen(), id) << "its id is free again";
  server_cancels(id);
  EXPECT_EQ(counters().dropped_news, 1U) << "it is nobody's any more";
}

TEST_F(ModernTraffic, AServerCannotCancelACallOtherThanAListen) {
  const auto asked = heard_of(*client_, modern("8", "tools/list"));
  server_cancels(id_of(asked.at(0)));
  EXPECT_THAT(client_->heard(), IsEmpty());
  EXPECT_EQ(counters().dropped_news, 1U);
  exchange_.server().say(result(id_of(asked.at(0))));
  exchange_.settle();
  EXPECT_THAT(client_->heard(), SizeIs(1));
}

TEST_F(ModernTraffic, WhatIsSaidOfAListenNamesTheRequestOfTheClient) {
  const std::string id = listen();
  const auto about = [](const std::string& method, const std::string& listen) {
    return R"({"jsonrpc":"2.0","method":")" + method +
           R"(","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + listen + "}}}";
  };
  for (const char* method :
       {"notifications/subscriptions/acknowledged", "notifications/tools/list_changed"}) {
    exchange_.server().say(about(method, id));
    exchange_.settle();
    EXPECT_THAT(client_->heard(), ElementsAre(about(method, "7")));
  }
  const auto other = heard_of(*client_, modern("9", "tools/list"));
  exchange_.server().say(about("notifications/tools/list_changed", id_of(other.at(0))));
  exchange_.server().say(about("notifications/tools/list_changed", "12345"));
  exchange_.settle();
  EXPECT_THAT(client_->heard(), IsEmpty());
  EXPECT_EQ(counters().dropped_news, 2U);
}

}  // namespace
}  // namespace corral::tests
