#include "bridge/legacy_exchange.h"

namespace corral::bridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using LegacyClientRequests = LegacyClientTest;

TEST_F(LegacyClientRequests, EveryRequestCarriesTheModernMeta) {
  client_says(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})");

  EXPECT_EQ(one_to_server(), R"({"jsonrpc":"2.0","id":1,"params":{"_meta":{)" + modern_meta(params, "info") +
                                 R"(}},"method":"tools/list"})");
}

TEST_F(LegacyClientRequests, KeepTheirOwnMembersAndMeta) {
  client_says(
      R"({"x":1,"jsonrpc":"2.0","method":"tools/call","params":{"name":"t","_meta":{"com.example/k":[1.50]},)"
      R"("arguments":{"n":12345678901234567890}},"id":7})");

  EXPECT_EQ(one_to_server(),
            R"({"x":1,"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{)" +
                modern_meta(params, "info") +
                R"(,"com.example/k":[1.50]},"name":"t","arguments":{"n":12345678901234567890}},"id":1})");
}

TEST_F(LegacyClientRequests, CannotSpeakForTheClientInReservedMeta) {
  client_says(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
      R"("io.modelcontextprotocol/clientCapabilities":{"forged":{}},"io.modelcontextprotocol\/x":1}}})");

  const std::string sent = one_to_server();
  EXPECT_EQ(at(sent, {"params", "_meta"}), "{" + modern_meta(params, "info") + "}");
}

TEST_F(LegacyClientRequests, GetAnIdOfTheBridgesOwnAndTheirsBack) {
  const std::string first = call(R"("x")");
  const std::string second = call("1.0");
  EXPECT_NE(first, second);

  server_answers(second, R"({"resultType":"complete","content":[]})");
  server_answers(first, R"({"resultType":"complete","content":[1]})");

  EXPECT_THAT(to_client(), ElementsAre(R"({"jsonrpc":"2.0","id":1.0,"result":{"content":[]}})",
                                       R"({"jsonrpc":"2.0","id":"x","result":{"content":[1]}})"));
}

TEST_F(LegacyClientRequests, ProgressHasTheClientsTokenAgain) {
  client_says(
      R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":"tok"},"name":"t"}})");
  const std::string sent = one_to_server();
  EXPECT_EQ(at(sent, {"params", "_meta", "progressToken"}), at(sent, {"id"}));

  server_says(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
              at(sent, {"id"}) + R"(,"progress":0.10}})");
  EXPECT_EQ(
      one_to_client(),
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"tok","progress":0.10}})");
}

TEST_F(LegacyClientRequests, ProgressThatNobodyWantsIsDropped) {
  const std::string id = call();

  server_says(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + id +
              R"(,"progress":1}})");
  server_says(
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}})");
  server_says(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}})");

  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientRequests, ASecondOneWithAnOpenIdIsRefused) {
  const std::string id = call("1");

  client_says(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"u"}})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32600");
  EXPECT_THAT(server, IsEmpty());
  server_answers(id, "{}");
  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST_F(LegacyClientRequests, TheTaskParameterIsIgnored) {
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"task":{"ttl":1},"name":"t"}})");

  EXPECT_EQ(at(one_to_server(), {"params", "task"}), "");
}

TEST_F(LegacyClientRequests, TasksAreNotThere) {
  for (const std::string method : {"tasks/get", "tasks/list", "tasks/cancel", "tasks/result"}) {
    client_says(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{"taskId":"x"}})");
    EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32601");
  }
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientRequests, WordsOfLaterRoundsAreNotTheClients) {
  client_says(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"requestState":"forged","inputResponses":{}}})");

  EXPECT_EQ(at(one_to_server(), {"params"}), R"({"_meta":{)" + modern_meta(params, "info") + "}}");
}

TEST_F(LegacyClientRequests, TooManyAtOnceAreRefused) {
  for (int i = 0; i < 1024; ++i) call(std::to_string(i));
  EXPECT_THAT(client, IsEmpty());

  client_says(R"({"jsonrpc":"2.0","id":"more","method":"tools/list"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-31003");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientRequests, CancelledGoesUpForTheIdThatTheServerHas) {
  const std::string id = call(R"("x")");

  client_says(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"\u0062ored"}})");
  EXPECT_EQ(one_to_server(), R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                                 id + R"(,"reason":"\u0062ored"}})");
  server_answers(id, "{}");
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientRequests, CancelledForWhatIsNotOpenGoesNowhere) {
  const std::string id = call("1");
  server_answers(id, "{}");

  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})");
  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientRequests, RootsListChangedAndOtherNotificationsGoNowhere) {
  for (const std::string method : {"notifications/roots/list_changed", "notifications/initialized",
                                   "notifications/progress", "notifications/com.example"}) {
    client_says(R"({"jsonrpc":"2.0","method":")" + method + R"("})");
  }
  client_says(R"({"jsonrpc":"2.0","id":901,"result":{}})");

  EXPECT_THAT(server, IsEmpty());
  EXPECT_THAT(client, IsEmpty());
}

TEST_F(LegacyClientRequests, SetLevelIsAnsweredHereAndToldWithEveryRequest) {
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}})");
  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_THAT(server, IsEmpty());

  client_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_EQ(at(one_to_server(), {"params", "_meta", "io.modelcontextprotocol/logLevel"}), R"("error")");
}

TEST_F(LegacyClientRequests, SetLevelRefusesALevelThatIsNone) {
  for (const std::string level : {R"({"level":"loud"})", R"({"level":3})", "{}"}) {
    client_says(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":)" + level + "}");
    EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32602");
  }
  client_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_EQ(at(one_to_server(), {"params", "_meta", "io.modelcontextprotocol/logLevel"}), R"("info")");
}

TEST_F(LegacyClientRequests, ThatSaidNothingOfTheLogGetTheUsualLines) {
  client_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  EXPECT_EQ(at(one_to_server(), {"params", "_meta", "io.modelcontextprotocol/logLevel"}), R"("info")");
}

TEST_F(LegacyClientRequests, SetLevelIsNotThereWithAServerThatHasNoLog) {
  bridge->instance_changed(R"({"capabilities":{"tools":{}}})");

  client_says(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32601");
}

}  // namespace
}  // namespace corral::bridge
