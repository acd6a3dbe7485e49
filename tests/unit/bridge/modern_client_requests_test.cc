// What a legacy server hears of a modern client's requests, and what of a request is told to its client.
#include <gtest/gtest.h>

#include "bridge/modern_exchange.h"

namespace corral::bridge::tests {
namespace {

std::string with_level(const std::string& id, const std::string& level) {
  return request(id, "tools/call",
                 R"("name":"t",)" + meta("{}", R"("io.modelcontextprotocol/logLevel":")" + level + "\""));
}
std::string set_level(int id, const std::string& level) {
  return request(std::to_string(id), "logging/setLevel", R"("level":")" + level + "\"");
}
std::string log(const std::string& level) {
  return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" + level +
         R"(","data":1}})";
}
std::string progress(const std::string& token, int value) {
  return R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
         R"(,"progress":)" + std::to_string(value) + "}}";
}
std::string cancelled(const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
         R"(,"reason":"r"}})";
}

TEST(ModernClient, OnlyNotificationsOfItsOwnMakingReachTheServer) {
  ModernExchange x;
  const std::string own = R"({"jsonrpc":"2.0","method":"acme/noted","params":{"x":1}})";
  x.client(own);
  EXPECT_EQ(x.server_heard_one(), json(own));
  for (const char* method : {"notifications/initialized", "notifications/roots/list_changed"}) {
    x.client(R"({"jsonrpc":"2.0","method":")" + std::string(method) + "\"}");
    EXPECT_TRUE(x.server_heard().empty()) << method;
  }
}

TEST(ModernClient, MetaOfTheModernEraIsStrippedAndTheRestIsKept) {
  ModernExchange x;
  x.client(
      request("\"a\"", "tools/call",
              R"("name":"t","arguments":{"n":12345678901234567890},)" +
                  meta("{}", R"("progressToken":"p","traceparent":"00-1","io.modelcontextprotocol/logLevel":)"
                             R"("error","io.modelcontextprotocol/other":1)")));

  EXPECT_EQ(x.server_heard().back(),
            json(request("1", "tools/call",
                         R"("name":"t","arguments":{"n":12345678901234567890},"_meta":{"progressToken":1,)"
                         R"("traceparent":"00-1","io.modelcontextprotocol/other":1})")));
}

TEST(ModernClient, RequestsGetAnIdAndATokenOfTheBridgesOwn) {
  ModernExchange x;
  x.client(request("\"a\"", "tools/call",
                   R"("name":"t",)" + meta("{}", R"("progressToken":"p","traceparent":"00-1","v/k":[1])")));
  x.client(request("\"b\"", "prompts/get", R"("name":"p",)" + meta()));

  const auto heard = x.server_heard();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0],
            json(request("1", "tools/call",
                         R"("name":"t","_meta":{"progressToken":1,"traceparent":"00-1","v/k":[1]})")));
  EXPECT_EQ(heard[1], json(request("2", "prompts/get", R"("name":"p")")));
}

TEST(ModernClient, AFreshCallLosesTheResponsesToAnOldOne) {
  ModernExchange x;
  x.client(call("1", "{}", R"(,"inputResponses":{"r1":{}},"task":{})"));

  EXPECT_EQ(x.server_heard_one(), json(request("1", "tools/call", R"("name":"t","arguments":{"a":1})")));
}

TEST(ModernClient, UnknownMembersOfARequestSurvive) {
  ModernExchange x;
  x.client(R"({"params":{"k":1.50,)" + meta() + R"(},"method":"v/m","extra":true,"id":9,"jsonrpc":"2.0"})");

  EXPECT_EQ(x.server_heard_one(),
            json(R"({"params":{"k":1.50},"method":"v/m","extra":true,"id":1,"jsonrpc":"2.0"})"));
}

TEST(ModernClient, MissingClientCapabilitiesAreInvalidParams) {
  for (const char* said :
       {R"("_meta":{})", R"("name":"t")", R"("_meta":{"io.modelcontextprotocol/clientCapabilities":[]})",
        R"("_meta":{"io.modelcontextprotocol/clientCapabilities":null})"}) {
    ModernExchange x;
    x.client(request("1", "tools/call", said));
    EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32602) << said;
    EXPECT_TRUE(x.server_heard().empty());
  }
}

TEST(ModernClient, AnUnknownLogLevelIsInvalidParams) {
  ModernExchange x;
  x.client(with_level("1", "loud"));

  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32602);
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, ASecondRequestWithAnOpenIdIsRefusedAndTheFirstGoesOn) {
  ModernExchange x;
  x.client(call("1"));
  x.client(call("1"));
  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32600);
  x.client(call("\"1\""));
  EXPECT_TRUE(x.client_heard().empty());

  x.server(result("1", "{}"));
  EXPECT_EQ(x.client_heard_one().at("id"), 1);
  EXPECT_EQ(x.server_heard().size(), 2U);
}

TEST(ModernClient, TasksAreNotOffered) {
  ModernExchange x;
  x.client(request("1", "tasks/get", R"("taskId":"t",)" + meta()));

  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32601);
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, CancelledGoesUpUnderTheBridgesIdAndSilenceFollows) {
  ModernExchange x;
  x.client(call("\"a\""));
  x.server_heard();
  x.client(cancelled("\"a\""));
  x.server(result("1", "{}"));

  EXPECT_EQ(x.server_heard_one(), json(cancelled("1")));
  EXPECT_TRUE(x.client_heard().empty());
  x.client(cancelled("\"a\""));
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, OtherNotificationsOfLegacyClientsStopHere) {
  ModernExchange x;
  for (const char* method : {"notifications/initialized", "notifications/roots/list_changed"}) {
    x.client(R"({"jsonrpc":"2.0","method":")" + std::string(method) + "\"}");
  }
  x.client(result("7", "{}"));

  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, ProgressComesUnderTheClientsTokenUntilTheAnswer) {
  ModernExchange x;
  x.client(request("1", "tools/call", R"("name":"t",)" + meta("{}", R"("progressToken":"p")")));
  x.client(call("2"));
  x.server(progress("1", 5));
  EXPECT_EQ(x.client_heard_one(), json(progress("\"p\"", 5)));

  x.server(progress("2", 5));
  x.server(progress("\"01\"", 5));
  x.server(progress("77", 5));
  EXPECT_TRUE(x.client_heard().empty());
  x.server(progress("\"1\"", 5));
  EXPECT_EQ(x.client_heard_one(), json(progress("\"p\"", 5))) << "a number that came back as a string";
  x.server(result("1", "{}"));
  x.client_heard();
  x.server(progress("1", 6));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, LogLevelIsSetBeforeTheRequestThatWantsIt) {
  ModernExchange x;
  x.client(with_level("1", "warning"));

  const auto heard = x.server_heard();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0], json(set_level(2, "warning")));
  EXPECT_EQ(heard[1], json(request("1", "tools/call", R"("name":"t")")));
  x.server(result("2", "{}"));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, TheLowestLevelOfTheOpenRequestsIsToldWhenItChanges) {
  ModernExchange x;
  x.client(with_level("1", "warning"));
  x.client(with_level("2", "debug"));
  x.client(with_level("3", "error"));
  x.client(call("4"));
  x.server_heard();

  x.server(result("3", "{}"));  // the call "2": ids are given in turn, one went to the first level
  const auto after = x.server_heard();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].at("params").at("level"), "warning");
  x.server(result("1", "{}"));
  EXPECT_EQ(x.server_heard_one().at("params").at("level"), "error");
}

TEST(ModernClient, TheLevelIsLeftWhenNobodyWantsLines) {
  ModernExchange x;
  x.client(with_level("1", "debug"));
  x.server_heard();
  x.server(result("1", "{}"));
  EXPECT_TRUE(x.server_heard().empty());

  x.client(with_level("2", "debug"));
  EXPECT_EQ(x.server_heard_one().at("method"), "tools/call");
}

TEST(ModernClient, AServerWithoutLoggingIsToldNoLevel) {
  ModernExchange x(R"({"capabilities":{"tools":{}}})");
  x.client(with_level("1", "debug"));

  EXPECT_EQ(x.server_heard_one().at("method"), "tools/call");
}

TEST(ModernClient, LogLinesComeOnlyWhileAnOpenRequestWantsThem) {
  ModernExchange x;
  x.client(call("1"));
  x.server(log("emergency"));
  EXPECT_TRUE(x.client_heard().empty());

  x.client(with_level("2", "warning"));
  x.server(log("info"));
  x.server(log("loud"));
  EXPECT_TRUE(x.client_heard().empty());
  x.server(log("warning"));
  EXPECT_EQ(x.client_heard_one(), json(log("warning")));
  x.server(result("2", "{}"));
  x.client_heard();
  x.server(log("emergency"));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, NotificationsThatOnlyLegacyClientsKnowAreDropped) {
  ModernExchange x;
  x.client(call("1"));
  for (const char* method : {"notifications/elicitation/complete", "notifications/tasks/status", "v/thing"}) {
    x.server(R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":{"elicitationId":"e"}})");
  }

  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, AnswersToNobodyAreDropped) {
  ModernExchange x;
  for (const char* id : {"1", "0", "\"1\"", "-1", "1.0", "99999999999999999999"}) x.server(result(id, "{}"));
  x.server(R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}})");

  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, AnAnswerMayComeBeforeTheQuestionIsQuiteSent) {
  ModernExchange x;
  x.on_server = [&x](const std::string&) { x.server(result("1", R"({"content":[]})")); };
  x.client(call("5"));

  EXPECT_EQ(x.client_heard_one().at("id"), 5);
}

}  // namespace
}  // namespace corral::bridge::tests
