// subscriptions/listen before a server that knows resources/subscribe and sends its news unasked.
#include <gtest/gtest.h>

#include "bridge/modern_exchange.h"

namespace corral::bridge::tests {
namespace {

std::string listen(const std::string& id, const std::string& filter) {
  return request(id, "subscriptions/listen", R"("notifications":)" + filter + "," + meta());
}
std::string listen_to(const std::string& id, const std::string& uris) {
  return listen(id, R"({"resourceSubscriptions":[)" + uris + "]}");
}
std::string subscribe(int id, const std::string& uri) {
  return request(std::to_string(id), "resources/subscribe", R"("uri":")" + uri + "\"");
}
std::string unsubscribe(int id, const std::string& uri) {
  return request(std::to_string(id), "resources/unsubscribe", R"("uri":")" + uri + "\"");
}
std::string mark(const std::string& id) {
  return R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}";
}
std::string note(const std::string& method, const std::string& params) {
  return R"({"jsonrpc":"2.0","method":"notifications/)" + method + R"(","params":{)" + params + "}}";
}
std::string acknowledged(const std::string& id, const std::string& filter) {
  return note("subscriptions/acknowledged", mark(id) + R"(,"notifications":)" + filter);
}
std::string changed(const std::string& list) {
  return R"({"jsonrpc":"2.0","method":"notifications/)" + list + R"(/list_changed"})";
}
std::string cancel(const std::string& id) { return note("cancelled", R"("requestId":)" + id); }
std::string updated(const std::string& uri) { return note("resources/updated", R"("uri":")" + uri + "\""); }

TEST(ModernClient, ListenIsAcknowledgedWithWhatTheServerHas) {
  ModernExchange x(R"({"capabilities":{"tools":{},"resources":{}}})");
  x.client(listen("\"l\"",
                  R"({"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":false,)"
                  R"("resourceSubscriptions":["f:///a"]})"));

  EXPECT_EQ(x.client_heard_one(), json(acknowledged("\"l\"", R"({"toolsListChanged":true})")));
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, ListenSubscribesPerUriAndIsAcknowledgedAfterTheAnswers) {
  ModernExchange x;
  x.client(listen_to("7", R"("f:///a","f:///b","f:///a")"));
  const auto asked = x.server_heard();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0], json(subscribe(1, "f:///a")));
  EXPECT_EQ(asked[1], json(subscribe(2, "f:///b")));

  x.server(result("1", "{}"));
  EXPECT_TRUE(x.client_heard().empty());
  x.server(updated("f:///a"));  // before the acknowledgement nothing may come
  EXPECT_TRUE(x.client_heard().empty());
  x.server(error("2", -32602));
  EXPECT_EQ(x.client_heard_one(), json(acknowledged("7", R"({"resourceSubscriptions":["f:///a"]})")));
}

TEST(ModernClient, ListenIsAcknowledgedOnceWhenTheAnswersComeAtOnce) {
  ModernExchange x;
  x.on_server = [&x](const std::string& asked) {
    x.server(result(std::to_string(json(asked).at("id").as_int64()), "{}"));
  };
  x.client(listen_to("7", R"("f:///a","f:///b")"));

  EXPECT_EQ(x.client_heard_one(),
            json(acknowledged("7", R"({"resourceSubscriptions":["f:///a","f:///b"]})")));
}

TEST(ModernClient, ListensHearOnlyWhatTheyAskedForUnderTheirOwnId) {
  ModernExchange x;
  x.client(listen("1", R"({"toolsListChanged":true})"));
  x.client(listen("\"1\"", R"({"toolsListChanged":true,"promptsListChanged":true})"));
  x.client(listen_to("2", R"("f:///a")"));
  x.server(result("1", "{}"));
  x.client_heard();

  x.server(changed("tools"));
  const auto heard = x.client_heard();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0], json(note("tools/list_changed", mark("\"1\""))));
  EXPECT_EQ(heard[1], json(note("tools/list_changed", mark("1"))));
  x.server(changed("prompts"));
  EXPECT_EQ(x.client_heard_one(), json(note("prompts/list_changed", mark("\"1\""))));
  x.server(changed("resources"));
  EXPECT_TRUE(x.client_heard().empty());
  x.server(updated("f:///a"));
  EXPECT_EQ(x.client_heard_one(), json(note("resources/updated", R"("uri":"f:///a",)" + mark("2"))));
  x.server(updated("f:///a/part"));
  EXPECT_EQ(x.client_heard().size(), 1U);
  x.server(updated("f:///ab"));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, TheSubscriptionIdGoesBesideWhatTheServerSays) {
  ModernExchange x;
  x.client(listen("5", R"({"toolsListChanged":true})"));
  x.client_heard();

  x.server(note("tools/list_changed", R"("k":1,"_meta":{"v/k":2})"));
  EXPECT_EQ(x.client_heard_one(),
            json(note("tools/list_changed",
                      R"("k":1,"_meta":{"v/k":2,"io.modelcontextprotocol/subscriptionId":5})")));
  x.server(note("tools/list_changed", R"("_meta":{"io.modelcontextprotocol/subscriptionId":9})"));
  EXPECT_EQ(x.client_heard_one(), json(note("tools/list_changed", mark("5"))));
}

TEST(ModernClient, AUriThatSeveralListensWantIsSubscribedOnceAndLeftByTheLast) {
  ModernExchange x;
  x.client(listen_to("1", R"("f:///a")"));
  x.client(listen_to("2", R"("f:///a")"));
  EXPECT_EQ(x.server_heard_one(), json(subscribe(1, "f:///a")));
  x.server(result("1", "{}"));
  EXPECT_EQ(x.client_heard().size(), 2U);
  x.client(listen_to("3", R"("f:///a")"));
  EXPECT_EQ(x.client_heard_one(), json(acknowledged("3", R"({"resourceSubscriptions":["f:///a"]})")));

  x.client(cancel("1"));
  x.client(cancel("3"));
  EXPECT_TRUE(x.server_heard().empty());
  x.client(cancel("2"));
  EXPECT_EQ(x.server_heard_one(), json(unsubscribe(2, "f:///a")));
}

TEST(ModernClient, ACancelledListenIsSilent) {
  ModernExchange x;
  x.client(listen("1", R"({"toolsListChanged":true})"));
  x.client_heard();
  x.client(cancel("1"));
  x.server(changed("tools"));

  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, AListenCancelledBeforeTheServerAgreedIsUndoneAfterwards) {
  ModernExchange x;
  x.client(listen_to("1", R"("f:///a")"));
  x.client(cancel("1"));
  EXPECT_EQ(x.server_heard_one(), json(subscribe(1, "f:///a")));
  x.server(result("1", "{}"));

  EXPECT_EQ(x.server_heard_one(), json(unsubscribe(2, "f:///a")));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, ListensStayOpenWhenTheInstanceChanges) {
  ModernExchange x;
  x.client(listen("1", R"({"toolsListChanged":true})"));
  x.client_heard();
  x.bridge().instance_changed(kInitialized);
  x.server(changed("tools"));

  EXPECT_EQ(x.client_heard_one(), json(note("tools/list_changed", mark("1"))));
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, AFilterOfWrongShapeIsInvalidParams) {
  for (const char* filter : {"[]", "1", R"({"toolsListChanged":1})", R"({"resourceSubscriptions":"f:///a"})",
                             R"({"resourceSubscriptions":[1]})"}) {
    ModernExchange x;
    x.client(listen("1", filter));
    EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32602) << filter;
    x.client(listen("1", "{}"));
    EXPECT_EQ(x.client_heard_one(), json(acknowledged("1", "{}"))) << filter;
  }
}

TEST(ModernClient, AListenWithTheIdOfAnOpenCallIsRefused) {
  ModernExchange x;
  x.client(call("1"));
  x.client(listen("1", "{}"));
  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32600);
  x.client(listen("2", "{}"));
  x.client_heard();
  x.client(call("2"));
  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32600);
}

TEST(ModernClient, ListensAndUrisAreLimited) {
  ModernExchange x;
  for (int i = 0; i < 64; ++i) x.client(listen(std::to_string(i), "{}"));
  EXPECT_EQ(x.client_heard().size(), 64U);
  x.client(listen("64", "{}"));
  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -31003);

  ModernExchange y;
  std::string uris;
  for (int i = 0; i < 1024; ++i) uris += (i == 0 ? "\"u:" : ",\"u:") + std::to_string(i) + "\"";
  y.client(listen_to("1", uris));
  EXPECT_EQ(y.server_heard().size(), 1024U);
  y.client(listen_to("2", R"("u:7")"));
  EXPECT_TRUE(y.client_heard().empty());
  y.client(listen_to("3", R"("u:other")"));
  EXPECT_EQ(y.client_heard_one().at("error").at("code"), -31003);
}

TEST(ModernClient, SubscriptionsListenEndsWithTheCompleteResultOnShutdown) {
  ModernExchange x;
  x.client(listen("\"l\"", R"({"toolsListChanged":true})"));
  x.client(listen_to("7", R"("f:///a")"));
  x.server(result("1", "{}"));
  x.client(listen_to("8", R"("f:///b")"));
  x.client_heard();
  x.server_heard();
  x.bridge().client_ended();

  const auto heard = x.client_heard();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0], json(result("\"l\"", R"({"resultType":"complete",)" + mark("\"l\"") + "}")));
  EXPECT_EQ(heard[1], json(result("7", R"({"resultType":"complete",)" + mark("7") + "}")));
  EXPECT_EQ(heard[2], json(result("8", R"({"resultType":"complete",)" + mark("8") + "}")));
  x.server(changed("tools"));
  x.server(updated("f:///a"));
  x.server(result("2", "{}"));
  x.bridge().client_ended();
  EXPECT_TRUE(x.client_heard().empty());
  EXPECT_EQ(x.server_heard_one(), json(unsubscribe(3, "f:///b"))) << "nobody is left who wanted it";
}

}  // namespace
}  // namespace corral::bridge::tests
