#include "bridge/legacy_exchange.h"

namespace corral::bridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LegacyClientNews : public LegacyClientTest {
 protected:
  /// Returns the id of the listen.
  std::string subscribe(const std::string& id, const std::string& uri) {
    client_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/subscribe","params":{"uri":")" +
                uri + R"("}})");
    const std::string listen = one_to_server();
    EXPECT_EQ(text_at(listen, {"method"}), "subscriptions/listen");
    return at(listen, {"id"});
  }
  void unsubscribe(const std::string& id, const std::string& uri) {
    client_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"resources/unsubscribe","params":{"uri":")" +
                uri + R"("}})");
  }
  void acknowledge(const std::string& listen, const std::string& uris) {
    server_says(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
                R"({"io.modelcontextprotocol/subscriptionId":)" +
                listen + R"(},"notifications":{"resourceSubscriptions":)" + uris + "}}}");
  }
  /// Subscribed, agreed, and nothing left to read.
  std::string subscribed(const std::string& uri) {
    const std::string listen = subscribe("99", uri);
    acknowledge(listen, "[\"" + uri + "\"]");
    EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":99,"result":{}})");
    return listen;
  }
  std::string updated(const std::string& meta, const std::string& uri) {
    server_says(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{)" + meta +
                R"(},"uri":")" + uri + R"("}})");
    return one_to_client();
  }
};

const std::string kKey = R"("io.modelcontextprotocol/subscriptionId":)";

TEST_F(LegacyClientNews, SubscribeOpensAListenForTheUri) {
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///\u0061"}})");

  EXPECT_EQ(one_to_server(),
            R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{)" +
                modern_meta(params, "info") +
                R"(},"notifications":{"resourceSubscriptions":["file:///a"]}}})");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientNews, SubscribeIsAnsweredWhenTheServerAcknowledgesTheUri) {
  const std::string listen = subscribe(R"("s")", "u");

  acknowledge(listen, R"(["\u0075"])");

  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":"s","result":{}})");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientNews, SubscribeFailsIfTheServerAcknowledgesSomethingElse) {
  for (const std::string uris : {"[]", R"(["other"])", "7", "{}"}) {
    const std::string listen = subscribe("1", "u");
    acknowledge(listen, uris);

    EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
    EXPECT_THAT(one_to_server(), HasSubstr(R"("notifications/cancelled","params":{"requestId":)" + listen));
  }
}

TEST_F(LegacyClientNews, SubscribeFailsWithTheErrorOfTheListen) {
  server_fails(subscribe(R"("s")", "u"), R"({"code":-32601,"message":"no listening"})");
  EXPECT_EQ(one_to_client(),
            R"({"jsonrpc":"2.0","id":"s","error":{"code":-32601,"message":"no listening"}})");

  server_fails(subscribe("2", "u"), R"({"code":-32021,"message":"m"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32603");
}

TEST_F(LegacyClientNews, SubscribeFailsIfTheListenEndsBeforeItBegan) {
  server_answers(subscribe("1", "u"), R"({"resultType":"complete"})");

  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
}

TEST_F(LegacyClientNews, SubscribeTwiceIsOneListen) {
  const std::string listen = subscribe("1", "u");
  client_says(R"({"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"u"}})");
  EXPECT_THAT(server, IsEmpty());

  acknowledge(listen, R"(["u"])");
  client_says(R"({"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"u"}})");

  EXPECT_THAT(to_client(), ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})",
                                       R"({"jsonrpc":"2.0","id":2,"result":{}})",
                                       R"({"jsonrpc":"2.0","id":3,"result":{}})"));
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientNews, SubscribeNeedsAUri) {
  for (const std::string odd : {"{}", R"({"uri":7})"}) {
    for (const std::string method : {"resources/subscribe", "resources/unsubscribe"}) {
      client_says(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + odd + "}");
      EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
    }
  }
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientNews, SubscribeHasItsLimits) {
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":")" +
              std::string(70000, 'u') + R"("}})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
  for (int i = 0; i < 1024; ++i) subscribe(std::to_string(i), "u" + std::to_string(i));

  client_says(R"({"jsonrpc":"2.0","id":"more","method":"resources/subscribe","params":{"uri":"v"}})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientNews, SubscribersThatWaitAreLimited) {
  const std::string listen = subscribe("0", "u");
  const auto more = [this](int id) {
    client_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                R"(,"method":"resources/subscribe","params":{"uri":"u"}})");
  };
  for (int i = 1; i < 1024; ++i) more(i);
  EXPECT_THAT(client, IsEmpty());

  more(1024);
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-31003");
  acknowledge(listen, R"(["u"])");
  EXPECT_THAT(to_client(), SizeIs(1024));
}

TEST_F(LegacyClientNews, SubscribeFailsIfTheServerDoesNotAcknowledgeWithinAMinute) {
  const std::string listen = subscribe("1", "u");
  now += std::chrono::seconds(59);
  client_says(R"({"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"u"}})");
  bridge->expire(now);
  EXPECT_THAT(client, IsEmpty());
  ASSERT_EQ(bridge->next_deadline(), now + std::chrono::seconds(1));

  now += std::chrono::seconds(1);
  bridge->expire(now);

  EXPECT_EQ(one_to_server(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + listen + "}}");
  const std::vector<std::string> said = to_client();
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(at(said[0], {"id"}), "1");
  EXPECT_EQ(at(said[1], {"id"}), "2");
  EXPECT_THAT(text_at(said[1], {"error", "message"}), HasSubstr("within 60 seconds"));
  EXPECT_FALSE(bridge->next_deadline());
  acknowledge(listen, R"(["u"])");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientNews, SubscribeHasNoDeadlineOnceItIsAcknowledgedOrTakenBack) {
  subscribed("u");
  EXPECT_FALSE(bridge->next_deadline());
  subscribe("1", "v");
  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_FALSE(bridge->next_deadline());
}

TEST_F(LegacyClientNews, TheEarliestDeadlineOfCallsAndSubscriptionsCounts) {
  server_answers(call("1"), R"({"resultType":"input_required","requestState":"later"})");
  subscribe("2", "u");
  EXPECT_EQ(bridge->next_deadline(), now + std::chrono::seconds(1));
  now += std::chrono::seconds(1);
  bridge->expire(now);
  EXPECT_EQ(bridge->next_deadline(), now + std::chrono::seconds(59));
}

TEST_F(LegacyClientNews, SubscribeHasAnIdThatMustNotBeUsedTwice) {
  subscribe("1", "u");

  client_says(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32600");
}

TEST_F(LegacyClientNews, SubscribeTakenBackClosesTheListenUnlessSomebodyElseWaits) {
  const std::string listen = subscribe("1", "u");
  client_says(R"({"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"u"}})");

  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_THAT(server, IsEmpty());
  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  EXPECT_THAT(one_to_server(), HasSubstr(R"("requestId":)" + listen + "}"));

  acknowledge(listen, R"(["u"])");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientNews, UnsubscribeCancelsTheListen) {
  const std::string listen = subscribed("u");

  unsubscribe("2", "u");

  EXPECT_EQ(one_to_server(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + listen + "}}");
  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_EQ(updated(kKey + listen, "u"), "0 messages");
}

TEST_F(LegacyClientNews, UnsubscribeFromWhatIsNotThereIsFine) {
  unsubscribe("2", "u");

  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":2,"result":{}})");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientNews, UnsubscribeAnswersThoseWhoStillWait) {
  subscribe("1", "u");

  unsubscribe("2", "u");

  EXPECT_THAT(to_client(), ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})",
                                       R"({"jsonrpc":"2.0","id":2,"result":{}})"));
}

TEST_F(LegacyClientNews, UpdatedComesWithoutTheSubscriptionId) {
  const std::string listen = subscribed("u");

  EXPECT_EQ(updated(kKey + listen, "u"),
            R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u"}})");
  EXPECT_EQ(
      updated(R"("a":1,)" + kKey + listen, "u/sub"),
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"a":1},"uri":"u/sub"}})");
}

TEST_F(LegacyClientNews, OfAListenThatIsNotOursIsDropped) {
  const std::string listen = subscribed("u");

  EXPECT_EQ(updated(kKey + "\"x" + listen + "\"", "u"), "0 messages");
  EXPECT_EQ(updated(kKey + "77", "u"), "0 messages");
  server_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{)" + kKey +
              listen + "}}}");
  server_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{)" + kKey +
              "77}}}");
  acknowledge("77", R"(["u"])");
  acknowledge(listen, "[]");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientNews, ListChangedPassesFromTheCallersOwnListen) {
  for (const std::string list : {"tools", "prompts", "resources"}) {
    const std::string news = R"({"jsonrpc":"2.0","method":"notifications/)" + list + R"(/list_changed"})";
    server_says(news);
    EXPECT_EQ(one_to_client(), news);
  }
}

TEST_F(LegacyClientNews, ThatLegacyClientsDoNotKnowAreDropped) {
  server_says(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}})");
  server_says(R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{}})");
  server_says(R"({"jsonrpc":"2.0","method":"notifications/com.example","params":{}})");

  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientNews, AListenThatTheServerEndsGetsALastWordAndCanBeOpenedAgain) {
  const std::string last_word =
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u"}})";
  const std::string first = subscribed("u");
  server_answers(first, R"({"resultType":"complete","_meta":{)" + kKey + first + "}}");
  EXPECT_EQ(one_to_client(), last_word);
  EXPECT_EQ(updated(kKey + first, "u"), "0 messages");
  bridge->instance_changed(kDiscovered);
  EXPECT_THAT(server, IsEmpty()) << "it is forgotten";

  const std::string second = subscribed("u");
  EXPECT_NE(second, first);
  const std::string cancelled =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + second + "}}";
  server_says(cancelled);
  EXPECT_EQ(one_to_client(), last_word);
  server_says(cancelled);
  server_answers(second, R"({"resultType":"complete"})");
  EXPECT_EQ(updated(kKey + second, "u"), "0 messages") << "it is said once";
  EXPECT_NE(subscribed("u"), second);
}

TEST_F(LegacyClientNews, AnotherInstanceIsAskedForAllSubscriptions) {
  const std::string lost = subscribed("a");
  subscribed("b");
  server_fails(lost, R"({"code":-31001,"message":"gone"})");
  EXPECT_THAT(client, IsEmpty());

  bridge->instance_changed(kDiscovered);

  const std::vector<std::string> asked = to_server();
  ASSERT_THAT(asked, SizeIs(2));
  acknowledge(at(asked[0], {"id"}), R"(["a"])");
  EXPECT_THAT(client, IsEmpty()) << "the client has its answer already";
  EXPECT_THAT(updated(kKey + at(asked[0], {"id"}), "a"), HasSubstr(R"("uri":"a")"));
}

TEST_F(LegacyClientNews, ASubscriptionThatAnotherInstanceRefusesGetsALastWord) {
  const std::string last_word =
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u"}})";
  subscribed("u");

  bridge->instance_changed(kDiscovered);
  acknowledge(at(one_to_server(), {"id"}), "[]");
  EXPECT_EQ(one_to_client(), last_word);
  to_server();
  bridge->instance_changed(kDiscovered);
  EXPECT_THAT(server, IsEmpty());

  subscribed("u");
  bridge->instance_changed(kDiscovered);
  server_fails(at(one_to_server(), {"id"}), R"({"code":-32601,"message":"no"})");
  EXPECT_EQ(one_to_client(), last_word);
}

TEST_F(LegacyClientNews, ASubscriptionOutlivesAnInstanceThatDiesAtOnce) {
  subscribed("u");
  bridge->instance_changed(kDiscovered);
  server_fails(at(one_to_server(), {"id"}), R"({"code":-31001,"message":"gone"})");
  EXPECT_THAT(client, IsEmpty());

  bridge->instance_changed(kDiscovered);
  EXPECT_EQ(text_at(one_to_server(), {"method"}), "subscriptions/listen");
}

TEST_F(LegacyClientNews, LogMessagesPassUnlessTheyAreBelowTheLevel) {
  const auto message = [](const std::string& level) {
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" + level +
           R"(","data":1}})";
  };
  server_says(message("debug"));
  EXPECT_EQ(one_to_client(), message("debug"));
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}})");
  to_client();

  for (const std::string level : {"debug", "info", "notice"}) server_says(message(level));
  EXPECT_THAT(client, IsEmpty());
  for (const std::string level : {"warning", "emergency", "unheard of"}) {
    server_says(message(level));
    EXPECT_EQ(one_to_client(), message(level));
  }
}

TEST_F(LegacyClientTest, LeavesSubscriptionsToOthersWhoShareTheServer) {
  bridge = legacy_client(*this, {"srv", params, kDiscovered, true});
  const auto subscribe_to = [this](int number) {
    client_says(R"({"jsonrpc":"2.0","id":)" + std::to_string(number) +
                R"(,"method":"resources/subscribe","params":{"uri":"u:)" + std::to_string(number) + R"("}})");
  };
  for (int i = 1; i <= 128; ++i) {
    subscribe_to(i);
    EXPECT_EQ(text_at(one_to_server(), {"method"}), "subscriptions/listen");
  }

  subscribe_to(129);

  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
}

}  // namespace
}  // namespace corral::bridge
