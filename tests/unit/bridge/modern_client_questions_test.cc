// A legacy server asks its client something during a call of a modern client.
#include <gtest/gtest.h>

#include "bridge/modern_exchange.h"

namespace corral::bridge::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

const std::string kForms = R"({"elicitation":{}})";
const std::string kForm = R"("message":"who?","requestedSchema":{"type":"object","properties":{}})";

std::string elicit(const std::string& id, const std::string& more = "") {
  return request(id, "elicitation/create", kForm + more);
}

TEST(ModernClient, AnElicitationSuspendsTheCallThatDeclaredIt) {
  ModernExchange x;
  x.client(call("\"a\"", kForms));
  x.server_heard();
  x.server(elicit("0", R"(,"elicitationId":"e","task":{},"mode":"form","_meta":{"progressToken":3})"));
  EXPECT_TRUE(x.client_heard().empty());
  x.pass(milliseconds(5));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), "a");
  EXPECT_EQ(heard.at("result").at("resultType"), "input_required");
  EXPECT_EQ(heard.at("result").at("inputRequests"),
            json(R"({"r1":{"method":"elicitation/create","params":{)" + kForm + R"(,"mode":"form"}}})"));
  EXPECT_EQ(heard.at("result").at("requestState").as_string().size(), 64U);
  EXPECT_EQ(heard.at("result").at("_meta"), json("{" + kInfo + "}").at("_meta"));
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, SamplingAndRootsSuspendTooInEachMethodThatMayAsk) {
  for (const char* method : {"tools/call", "prompts/get", "resources/read"}) {
    ModernExchange x;
    x.client(request("1", method, meta(R"({"sampling":{},"roots":{}})")));
    x.server(request("\"q\"", "sampling/createMessage", R"("messages":[],"maxTokens":5)"));
    x.server(R"({"jsonrpc":"2.0","id":8,"method":"roots/list"})");
    x.pass(milliseconds(5));

    EXPECT_EQ(x.client_heard_one().at("result").at("inputRequests"),
              json(R"({"r1":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}},
                       "r2":{"method":"roots/list"}})"));
  }
}

TEST(ModernClient, OfSeveralProgramsOnlyTheOneThatCanHaveCausedItIsAsked) {
  ModernExchange x(kInitialized, true);
  x.client(call("1", kForms));
  x.client(call("2", kForms));
  x.server_heard();
  x.server(elicit("5"));
  x.pass(milliseconds(5));
  EXPECT_TRUE(x.client_heard().empty());
  EXPECT_EQ(x.server_heard().at(0).at("error").at("code"), -32601);

  x.client(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  x.server_heard();
  x.server(elicit("6"));
  x.pass(milliseconds(5));
  EXPECT_TRUE(x.client_heard().empty()) << "the server may still work on the one that was given up";
  x.server_heard();
  x.pass(minutes(1));
  x.server(elicit("7"));
  x.pass(milliseconds(5));
  EXPECT_EQ(x.client_heard_one().at("id"), 1);
}

TEST(ModernClient, QuestionsThatComeTogetherAreToldTogether) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.server(elicit("5"));
  x.pass(milliseconds(4));
  x.server(elicit("6"));
  EXPECT_EQ(x.bridge().next_deadline(), x.now + milliseconds(1));
  x.pass(milliseconds(1));

  EXPECT_EQ(x.client_heard_one().at("result").at("inputRequests").as_object().size(), 2U);
  EXPECT_EQ(x.bridge().next_deadline(), x.now + minutes(10));
}

TEST(ModernClient, TheServerMayNameTheKeyOnce) {
  const std::string wish = R"(,"_meta":{"dev.corral/inputKey":"who"})";
  ModernExchange x;
  x.client(call("1", kForms));
  x.server(elicit("5", wish));
  x.server(elicit("6", wish));
  x.server(elicit("7", R"(,"_meta":{"dev.corral/inputKey":")" + std::string(65, 'k') + "\"}"));
  x.pass(milliseconds(5));

  const auto requests = x.client_heard_one().at("result").at("inputRequests").as_object();
  EXPECT_TRUE(requests.contains("who") && requests.contains("r1") && requests.contains("r2"));
  EXPECT_FALSE(requests.at("who").at("params").as_object().contains("_meta"));
}

TEST(ModernClient, OfSeveralCallsTheLatestThatDeclaredItIsSuspended) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.client(call("2", kForms));
  x.client(call("3"));
  x.client(request("4", "tools/list", meta(kForms)));
  x.server(elicit("0"));
  x.pass(milliseconds(5));

  EXPECT_EQ(x.client_heard_one().at("id"), 2);
}

TEST(ModernClient, ACallWhoseClientWaitsIsAskedBeforeOneThatIsSuspended) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.client(call("2", kForms));
  x.server(elicit("0"));
  x.pass(milliseconds(5));
  x.client_heard();
  x.server(elicit("1"));
  x.pass(milliseconds(5));

  EXPECT_EQ(x.client_heard_one().at("id"), 1);
}

TEST(ModernClient, AMissingCapabilityRefusesTheServerAndEndsTheCall) {
  const std::vector<std::vector<std::string>> cases = {
      {"{}", elicit("9"), R"({"elicitation":{"form":{}}})"},
      {R"({"elicitation":{"url":{}}})", elicit("9"), R"({"elicitation":{"form":{}}})"},
      {kForms, elicit("9", R"(,"mode":"url","url":"https://x")"), R"({"elicitation":{"url":{}}})"},
      {kForms, request("9", "sampling/createMessage", R"("messages":[])"), R"({"sampling":{}})"},
      {R"({"sampling":{}})", request("9", "sampling/createMessage", R"("tools":[])"),
       R"({"sampling":{"tools":{}}})"},
      {R"({"sampling":{}})", request("9", "sampling/createMessage", R"("toolChoice":{})"),
       R"({"sampling":{"tools":{}}})"},
      {kForms, request("9", "roots/list", ""), R"({"roots":{}})"}};
  for (const auto& one : cases) {
    ModernExchange x;
    x.client(call("\"a\"", one[0]));
    x.server_heard();
    x.server(one[1]);

    const auto heard = x.server_heard();
    ASSERT_EQ(heard.size(), 2U) << one[1];
    EXPECT_EQ(heard[0].at("id"), 9);
    EXPECT_EQ(heard[0].at("error").at("code"), -32601);
    EXPECT_EQ(heard[1].at("method"), "notifications/cancelled");
    EXPECT_EQ(heard[1].at("params").at("requestId"), 1);
    const auto answer = x.client_heard_one();
    EXPECT_EQ(answer.at("id"), "a");
    EXPECT_EQ(answer.at("error").at("code"), -32021);
    EXPECT_EQ(answer.at("error").at("data").at("requiredCapabilities"), json(one[2]));
    x.server(result("1", "{}"));
    EXPECT_TRUE(x.client_heard().empty());
  }
}

TEST(ModernClient, WithSeveralPossibleCausesOnlyTheServerIsRefused) {
  ModernExchange x;
  x.client(call("1"));
  x.client(call("2"));
  x.server_heard();
  x.server(elicit("9"));

  EXPECT_EQ(x.server_heard_one().at("error").at("code"), -32601);
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, AQuestionWithoutACauseIsRefusedAndRootsAreNone) {
  ModernExchange x;
  x.client(request("1", "tools/list", meta(kForms)));
  x.server_heard();
  x.server(elicit("9"));
  EXPECT_EQ(x.server_heard_one().at("error").at("code"), -32601);
  x.server(request("\"q\"", "roots/list", ""));
  EXPECT_EQ(x.server_heard_one(), json(result("\"q\"", R"({"roots":[]})")));
  x.server(request("3", "tasks/get", ""));
  EXPECT_EQ(x.server_heard_one().at("error").at("code"), -32601);
  x.server(request("4", "ping", ""));
  EXPECT_EQ(x.server_heard_one(), json(result("4", "{}")));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, AQuestionThatTheServerTakesBackIsForgotten) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.server_heard();
  x.server(elicit("\"q\""));
  x.server(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
  EXPECT_EQ(x.bridge().next_deadline(), std::nullopt);
  x.pass(milliseconds(5));

  EXPECT_TRUE(x.client_heard().empty());
  x.server(result("1", "{}"));
  EXPECT_EQ(x.client_heard_one().at("result").at("resultType"), "complete");
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, AnAnswerBeforeTheQuestionIsToldEndsTheCall) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.server_heard();
  x.server(elicit("9"));
  x.server(result("1", "{}"));

  EXPECT_EQ(x.client_heard_one().at("result").at("resultType"), "complete");
  EXPECT_EQ(x.server_heard_one(), json(result("9", R"({"action":"cancel"})")));
  x.pass(minutes(11));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, AnAnswerBeforeTheQuestionIsToldGivesItToAnotherCall) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.client(call("2", kForms));
  x.server_heard();
  x.server(elicit("9"));
  x.server(result("2", "{}"));
  EXPECT_EQ(x.client_heard_one().at("id"), 2);
  x.pass(milliseconds(5));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 1);
  EXPECT_EQ(heard.at("result").at("resultType"), "input_required");
  EXPECT_TRUE(x.server_heard().empty());
}

TEST(ModernClient, ACallThatIsCancelledWithAQuestionOpenAnswersItToo) {
  ModernExchange x;
  x.client(call("1", R"({"sampling":{}})"));
  x.server_heard();
  x.server(request("9", "sampling/createMessage", R"("messages":[])"));
  x.client(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");

  const auto heard = x.server_heard();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0].at("params").at("requestId"), 1);
  EXPECT_EQ(heard[1].at("error").at("code"), -32603);
  x.pass(milliseconds(5));
  EXPECT_TRUE(x.client_heard().empty());
}

TEST(ModernClient, NoRetryWithinTheTimeGivesTheCallUp) {
  ModernExchange x;
  x.client(call("1", R"({"elicitation":{},"roots":{}})"));
  x.server(elicit("8"));
  x.server(request("9", "roots/list", ""));
  x.pass(milliseconds(5));
  x.server_heard();
  x.client_heard();
  x.pass(minutes(10));

  const auto heard = x.server_heard();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0], json(result("8", R"({"action":"cancel"})")));
  EXPECT_EQ(heard[1].at("error").at("code"), -32603);
  EXPECT_EQ(heard[2].at("method"), "notifications/cancelled");
  EXPECT_EQ(heard[2].at("params").at("requestId"), 1);
  EXPECT_TRUE(x.client_heard().empty());
  EXPECT_EQ(x.bridge().next_deadline(), std::nullopt);
}

TEST(ModernClient, AClientThatHasEndedIsAskedNothingMore) {
  ModernExchange x;
  x.client(call("1", kForms));
  x.server(elicit("8"));
  x.pass(milliseconds(5));
  x.client(call("2", kForms));
  x.server(elicit("9"));
  x.client_heard();
  x.server_heard();
  x.bridge().client_ended();

  const auto heard = x.server_heard();
  ASSERT_EQ(heard.size(), 3U);
  EXPECT_EQ(heard[0], json(result("8", R"({"action":"cancel"})")));
  EXPECT_EQ(heard[1].at("params").at("requestId"), 1);
  EXPECT_EQ(heard[2], json(result("9", R"({"action":"cancel"})")));
  x.server(elicit("10"));
  EXPECT_EQ(x.server_heard_one(), json(result("10", R"({"action":"cancel"})")));
  x.server(result("2", "{}"));
  EXPECT_EQ(x.client_heard_one().at("id"), 2);
}

TEST(ModernClient, SuspendedCallsAndTheirQuestionsAreLimited) {
  ModernExchange x;
  for (int i = 0; i < 257; ++i) {
    x.client(call(std::to_string(i), kForms));
    x.server(elicit(std::to_string(i)));
    x.pass(milliseconds(5));
  }
  EXPECT_EQ(x.client_heard().size(), 256U);
  EXPECT_EQ(x.server_heard().back().at("error").at("code"), -32603);

  ModernExchange y;
  y.client(call("1", kForms));
  y.server_heard();
  for (int i = 0; i < 65; ++i) y.server(elicit(std::to_string(i)));
  EXPECT_EQ(y.server_heard_one().at("id"), 64);
}

TEST(ModernClient, ACallThatIsTooLargeToBeKeptCannotBeAsked) {
  const auto large = [](const std::string& id) {
    return std::make_shared<const std::string>(
        call(id, kForms, R"(,"x":")" + std::string(40 << 20, 'x') + "\""));
  };
  ModernExchange x;
  const auto first = large("1");
  const auto second = large("2");
  x.client(*first, first);
  x.client(*second, second);
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(second.use_count(), 1) << "64 MiB are the most";
  x.server(result("1", "{}"));
  EXPECT_EQ(first.use_count(), 1);
  x.client_heard();
  x.server(elicit("9"));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 2);
  EXPECT_EQ(heard.at("error").at("code"), -32021);
  x.client(*first, first);
  x.server(elicit("10"));
  x.pass(milliseconds(5));
  EXPECT_EQ(x.client_heard_one().at("result").at("resultType"), "input_required") << "there is room again";
}

}  // namespace
}  // namespace corral::bridge::tests
