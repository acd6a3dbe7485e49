// The modern client comes back with what it was asked for.
#include <gtest/gtest.h>

#include "bridge/modern_exchange.h"

namespace corral::bridge::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

const std::string kAll = R"({"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}})";
const std::string kAccept = R"({"action":"accept","content":{"n":1.50}})";
const std::string kElicit = R"("message":"who?","requestedSchema":{})";

std::string elicit(const std::string& id) { return request(id, "elicitation/create", kElicit); }
std::string progress(const std::string& token, int value) {
  return R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
         R"(,"progress":)" + std::to_string(value) + "}}";
}
std::string retry(const std::string& id, const std::string& state, const std::string& responses) {
  return call(id, kAll, R"(,"requestState":")" + state + R"(","inputResponses":)" + responses);
}

/// Tells the questions that have been asked; the handle that the client gets.
std::string suspend(ModernExchange& x) {
  x.pass(milliseconds(5));
  const auto heard = x.client_heard();
  x.server_heard();
  return std::string(heard.back().at("result").at("requestState").as_string());
}
std::string suspended(ModernExchange& x, int questions = 1) {
  x.client(call("1", kAll));
  for (int i = 0; i < questions; ++i) x.server(elicit(std::to_string(70 + i)));
  return suspend(x);
}
int refused(ModernExchange& x) {
  const auto heard = x.client_heard_one();
  return x.server_heard().empty() && heard.is_object()
             ? static_cast<int>(heard.at("error").at("code").as_int64())
             : 0;
}

TEST(ModernClient, TheRetryAnswersTheServerAndGetsTheResultOfTheCall) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.client(retry("\"again\"", state, R"({"r1":)" + kAccept + R"(,"unknown":7})"));
  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept)));
  EXPECT_TRUE(x.client_heard().empty());
  x.server(result("1", R"({"content":[]})"));

  EXPECT_EQ(x.client_heard_one(),
            json(result("\"again\"", R"({"resultType":"complete","content":[],)" + kInfo + "}")));
  EXPECT_EQ(x.bridge().next_deadline(), std::nullopt);
}

TEST(ModernClient, TheRetryMayWriteTheSameParamsOtherwise) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.client(request("2", "tools/call",
                   R"( "requestState":")" + state + R"(", "arguments" : { "a" : 1 } ,)" +
                       meta(kAll, R"("v/new":1)") + R"(,"n\u0061me":"t","inputResponses":{"r1":)" + kAccept +
                       "}"));

  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept)));
}

/// The other call may be another program's, which must not hear what this one was asked.
TEST(ModernClient, OfSeveralProgramsNoneIsAskedWhatAnotherOneLeftUnanswered) {
  ModernExchange x(kInitialized, true);
  const std::string state = suspended(x);
  x.client(call("2", kAll));
  x.server(result("1", R"({"content":[]})"));
  x.server_heard();
  x.client(retry("3", state, "{}"));

  EXPECT_EQ(x.client_heard_one().at("id"), 3);
  EXPECT_EQ(x.server_heard_one(), json(result("70", R"({"action":"cancel"})")));
  x.pass(milliseconds(5));
  EXPECT_TRUE(x.client_heard().empty()) << "the other one is not asked";
}

TEST(ModernClient, ARequestStateWorksOnce) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));
  x.server_heard();
  x.client(retry("3", state, R"({"r1":)" + kAccept + "}"));
  EXPECT_EQ(refused(x), -32602);
  x.server(result("1", "{}"));
  x.client_heard();
  x.client(retry("4", state, R"({"r1":)" + kAccept + "}"));

  EXPECT_EQ(refused(x), -32602);
}

TEST(ModernClient, ARequestStateThatIsWrongIsRefusedAndNothingIsExecuted) {
  ModernExchange x;
  ModernExchange other;
  std::string state = suspended(x);
  other.client(retry("2", state, "{}"));
  EXPECT_EQ(refused(other), -32602) << "of another session";
  x.client(retry("2", state.substr(1), "{}"));
  EXPECT_EQ(refused(x), -32602) << "cut";
  std::string tampered = state;
  tampered[5] = tampered[5] == '0' ? '1' : '0';
  x.client(retry("2", tampered, "{}"));
  EXPECT_EQ(refused(x), -32602) << "tampered";
  x.client(call("2", kAll, R"(,"requestState":7)"));
  EXPECT_EQ(refused(x), -32602) << "no string";
  x.client(request("2", "prompts/get",
                   R"("name":"t","arguments":{"a":1},"requestState":")" + state + "\"," + meta()));
  EXPECT_EQ(refused(x), -32602) << "of another method";
  x.client(request("2", "tools/call",
                   R"("name":"t","arguments":{"a":2},"requestState":")" + state + "\"," + meta()));
  EXPECT_EQ(refused(x), -32602) << "of other arguments";
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));
  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept))) << "the right one still works";
}

TEST(ModernClient, ARequestStateThatHasExpiredIsRefused) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.now += minutes(10);  // nobody has called expire yet
  x.client(retry("2", state, "{}"));

  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32602);
  const auto heard = x.server_heard();
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0], json(result("70", R"({"action":"cancel"})")));
  EXPECT_EQ(heard[1].at("method"), "notifications/cancelled");
}

TEST(ModernClient, AResponseThatIsNotAnObjectIsInvalidAndTheStateStaysValid) {
  ModernExchange x;
  const std::string state = suspended(x);
  for (const char* responses : {R"({"r1":7})", R"({"r1":null})", R"({"r1":[]})", "[]", "7"}) {
    x.client(retry("2", state, responses));
    EXPECT_EQ(refused(x), -32602) << responses;
  }
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));
  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept)));
}

TEST(ModernClient, MissingResponsesAreAskedForAgain) {
  ModernExchange x;
  const std::string state = suspended(x, 2);
  x.client(retry("2", state, R"({"r2":)" + kAccept + "}"));
  EXPECT_EQ(x.server_heard_one(), json(result("71", kAccept)));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 2);
  EXPECT_EQ(heard.at("result").at("inputRequests"),
            json(R"({"r1":{"method":"elicitation/create","params":{)" + kElicit + "}}}"));
  const std::string next(heard.at("result").at("requestState").as_string());
  EXPECT_NE(next, state);
  x.client(retry("3", state, R"({"r1":)" + kAccept + "}"));
  EXPECT_EQ(refused(x), -32602);
  x.client(retry("3", next, R"({"r1":)" + kAccept + "}"));
  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept)));
}

TEST(ModernClient, ResponsesWithoutAStateAreAFreshCall) {
  ModernExchange x;
  suspended(x);
  x.client(call("2", kAll, R"(,"inputResponses":{"r1":{}})"));

  EXPECT_EQ(x.server_heard_one(), json(request("2", "tools/call", R"("name":"t","arguments":{"a":1})")));
}

TEST(ModernClient, AQuestionThatComesWhileSuspendedIsToldToTheRetry) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.server(elicit("80"));
  x.client(retry("2", state, R"({"r1":)" + kAccept + R"(,"r2":7})"));  // nobody was asked r2
  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept)));
  x.pass(milliseconds(5));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 2);
  EXPECT_TRUE(heard.at("result").at("inputRequests").as_object().contains("r2"));
}

TEST(ModernClient, AnAnswerThatComesWhileSuspendedIsKeptForTheRetry) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.server(result("1", R"({"content":[]})"));
  EXPECT_TRUE(x.client_heard().empty());
  EXPECT_EQ(x.server_heard_one(), json(result("70", R"({"action":"cancel"})")));
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));

  EXPECT_EQ(x.client_heard_one(),
            json(result("2", R"({"resultType":"complete","content":[],)" + kInfo + "}")));
  EXPECT_TRUE(x.server_heard().empty());
  EXPECT_EQ(x.bridge().next_deadline(), std::nullopt);
}

/// Two calls; the first asks, which the second one's client is told. The handle that it gets.
std::string second_suspended(ModernExchange& x) {
  x.client(call("1", kAll));
  x.client(call("2", kAll));
  x.server(elicit("70"));
  return suspend(x);
}

TEST(ModernClient, AResponseReachesTheCallThatAskedThoughAnotherWasToldAndIsAnswered) {
  ModernExchange x;
  const std::string state = second_suspended(x);
  x.server(result("2", R"({"content":[]})"));
  EXPECT_TRUE(x.server_heard().empty()) << "the first call waits for the response";
  x.client(retry("3", state, R"({"r1":)" + kAccept + "}"));

  EXPECT_EQ(x.server_heard_one(), json(result("70", kAccept)));
  EXPECT_EQ(x.client_heard_one(),
            json(result("3", R"({"resultType":"complete","content":[],)" + kInfo + "}")));
  x.server(result("1", "{}"));
  EXPECT_EQ(x.client_heard_one().at("id"), 1);
  EXPECT_EQ(x.bridge().next_deadline(), std::nullopt);
}

TEST(ModernClient, AQuestionThatTheRetryOfAnAnsweredCallLeavesOpenGoesToAnotherCall) {
  ModernExchange x;
  const std::string state = second_suspended(x);
  x.server(result("2", "{}"));
  x.client(retry("3", state, "{}"));
  EXPECT_EQ(x.client_heard_one().at("id"), 3);
  EXPECT_TRUE(x.server_heard().empty());
  x.pass(milliseconds(5));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 1);
  EXPECT_TRUE(heard.at("result").at("inputRequests").as_object().contains("r1"));
}

TEST(ModernClient, AQuestionThatWaitsForAnAnsweredCallIsDismissedWhenNoCallIsOpen) {
  for (const std::string& end :
       {result("1", "{}"), std::string(R"({"method":"notifications/cancelled","params":{"requestId":1}})")}) {
    ModernExchange x;
    const std::string state = second_suspended(x);
    x.server(result("2", "{}"));
    if (end.find("cancelled") == std::string::npos) {
      x.server(end);
    } else {
      x.client(R"({"jsonrpc":"2.0",)" + end.substr(1));
    }
    EXPECT_EQ(x.server_heard().back(), json(result("70", R"({"action":"cancel"})")));
    x.client_heard();
    x.client(retry("3", state, R"({"r1":)" + kAccept + "}"));
    EXPECT_EQ(x.client_heard_one().at("id"), 3);
    EXPECT_TRUE(x.server_heard().empty());
  }
}

TEST(ModernClient, ACallWhoseAnswerIsKeptIsTheCauseOfNoQuestion) {
  ModernExchange x;
  suspended(x);
  x.server(result("1", "{}"));
  x.server_heard();
  x.server(elicit("80"));

  EXPECT_EQ(x.server_heard_one().at("error").at("code"), -32601);
}

TEST(ModernClient, TheErrorOfAServerThatDiedWhileSuspendedIsToldOnce) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.server(error("1", -31001));
  x.bridge().instance_changed(kInitialized);
  x.server_heard();
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));
  EXPECT_EQ(x.client_heard_one(), json(error("2", -31001)));
  x.client(retry("3", state, R"({"r1":)" + kAccept + "}"));

  EXPECT_EQ(refused(x), -32602);
}

TEST(ModernClient, TheLastProgressWhileSuspendedGoesToTheRetrysToken) {
  ModernExchange x;
  x.client(request("1", "tools/call", R"("name":"t",)" + meta(kAll, R"("progressToken":"old")")));
  x.server(elicit("70"));
  const std::string state = suspend(x);
  x.server(progress("1", 3));
  x.server(progress("1", 4));
  EXPECT_TRUE(x.client_heard().empty());

  x.client(request("2", "tools/call",
                   R"("name":"t","inputResponses":{"r1":{}},"requestState":")" + state + "\"," +
                       meta(kAll, R"("progressToken":"new")")));
  EXPECT_EQ(x.client_heard_one(), json(progress("\"new\"", 4)));
  x.server(progress("1", 5));
  EXPECT_EQ(x.client_heard_one(), json(progress("\"new\"", 5)));
}

TEST(ModernClient, LogLinesDoNotComeWhileSuspendedAndComeToTheRetry) {
  const std::string log =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1}})";
  const std::string wanted = meta(kAll, R"("io.modelcontextprotocol/logLevel":"info")");
  ModernExchange x;
  x.client(request("1", "tools/call", R"("name":"t",)" + wanted));
  x.server(elicit("70"));
  const std::string state = suspend(x);
  x.server(log);
  EXPECT_TRUE(x.client_heard().empty());

  x.client(request("2", "tools/call",
                   R"("name":"t","inputResponses":{"r1":{}},"requestState":")" + state + "\"," + wanted));
  x.server(log);
  EXPECT_EQ(x.client_heard_one(), json(log));
}

TEST(ModernClient, AQuestionTakenBackWhileSuspendedNeedsNoResponse) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.server(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":70}})");
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));
  EXPECT_TRUE(x.server_heard().empty());
  x.server(result("1", "{}"));

  EXPECT_EQ(x.client_heard_one().at("id"), 2);
}

TEST(ModernClient, ARetryThatDeclaresLessIsNotAskedBeyondIt) {
  ModernExchange x;
  const std::string state = suspended(x, 2);
  x.client(call("2", "{}", R"(,"requestState":")" + state + R"(","inputResponses":{"r1":{}})"));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 2);
  EXPECT_EQ(heard.at("error").at("code"), -32021);
  const auto server = x.server_heard();
  ASSERT_EQ(server.size(), 3U);
  EXPECT_EQ(server[0], json(result("71", R"({"action":"cancel"})")));
  EXPECT_EQ(server[1].at("method"), "notifications/cancelled");
  EXPECT_EQ(server[2], json(result("70", "{}")));
}

TEST(ModernClient, ALargeAnswerIsNotKeptBeyondTheLimit) {
  ModernExchange x;
  const std::string first = suspended(x);
  x.client(call("2", kAll));
  x.server(elicit("71"));
  const std::string second = suspend(x);
  const std::string large(40 << 20, 'x');
  x.server(result("1", R"({"content":")" + large + "\"}"));
  x.server(result("2", R"({"content":")" + large + "\"}"));
  x.server_heard();
  x.client(retry("8", second, "{}"));
  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -31004);
  x.client(retry("9", first, "{}"));
  EXPECT_EQ(x.client_heard_one().at("result").at("content").as_string().size(), large.size());
}

TEST(ModernClient, UrlElicitationRequiredBecomesInputRequiredAndTheRetryCallsAgain) {
  ModernExchange x;
  x.client(call("1", kAll));
  x.server_heard();
  x.server(error("1", -32042,
                 R"(,"data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x",)"
                 R"("message":"m"},{"url":"https://y","message":"n"}]})"));
  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("id"), 1);
  EXPECT_EQ(heard.at("result").at("inputRequests"), json(R"({
    "r1":{"method":"elicitation/create","params":{"mode":"url","url":"https://x","message":"m"}},
    "r2":{"method":"elicitation/create","params":{"mode":"url","url":"https://y","message":"n"}}})"));
  const std::string state(heard.at("result").at("requestState").as_string());
  EXPECT_TRUE(x.server_heard().empty());

  x.client(retry("2", state, R"({"r1":{"action":"accept"}})"));
  const auto again = x.client_heard_one();
  EXPECT_EQ(again.at("result").at("inputRequests").as_object().size(), 1U);
  EXPECT_TRUE(x.server_heard().empty());
  const std::string next(again.at("result").at("requestState").as_string());
  x.client(retry("3", next, R"({"r2":{"action":"accept"}})"));
  const auto sent = x.server_heard_one();
  EXPECT_EQ(sent.at("method"), "tools/call");
  EXPECT_EQ(sent.at("params"), json(R"({"name":"t","arguments":{"a":1}})"));
  x.server(result(std::to_string(sent.at("id").as_int64()), "{}"));
  EXPECT_EQ(x.client_heard_one().at("id"), 3);
}

TEST(ModernClient, UrlElicitationRequiredNeedsAClientThatOpensUrls) {
  ModernExchange x;
  x.client(call("1", R"({"elicitation":{}})"));
  x.server(
      error("1", -32042, R"(,"data":{"elicitations":[{"mode":"url","url":"https://x","message":"m"}]})"));

  const auto heard = x.client_heard_one();
  EXPECT_EQ(heard.at("error").at("code"), -32021);
  EXPECT_EQ(heard.at("error").at("data").at("requiredCapabilities"), json(R"({"elicitation":{"url":{}}})"));
}

TEST(ModernClient, UrlElicitationRequiredOfNoUseIsAnInternalError) {
  for (const char* data :
       {"", R"(,"data":{})", R"(,"data":{"elicitations":[]})", R"(,"data":{"elicitations":[7]})",
        R"(,"data":{"elicitations":{"mode":"url","url":"u"}})", R"(,"data":{"elicitations":null})",
        R"(,"data":{"elicitations":[{"mode":"form"}]})"}) {
    ModernExchange x;
    x.client(call("1", kAll));
    x.server(error("1", -32042, data));
    EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32603) << data;
  }
  ModernExchange x;
  x.client(request("1", "tools/list", meta(kAll)));
  x.server(error("1", -32042, R"(,"data":{"elicitations":[{"mode":"url","url":"u"}]})"));
  EXPECT_EQ(x.client_heard_one().at("error").at("code"), -32603);
}

TEST(ModernClient, AnErrorMayNameAsManyUrlsAsACallMayAskAndNoMore) {
  const auto with_urls = [](int count) {
    std::string urls;
    for (int i = 0; i < count; ++i)
      urls += (i == 0 ? "" : ",") + std::string(R"({"mode":"url","url":"https://x","message":"m"})");
    return error("1", -32042, R"(,"data":{"elicitations":[)" + urls + "]}");
  };

  ModernExchange most;
  most.client(call("1", kAll));
  most.server(with_urls(64));
  EXPECT_EQ(most.client_heard_one().at("result").at("inputRequests").as_object().size(), 64U);

  ModernExchange too_many;
  too_many.client(call("1", kAll));
  too_many.server(with_urls(65));
  EXPECT_EQ(too_many.client_heard_one().at("error").at("code"), -32603);
}

TEST(ModernClient, AServerThatAnswersAtOnceFindsTheRetryInPlace) {
  ModernExchange x;
  const std::string state = suspended(x);
  x.on_server = [&x](const std::string&) { x.server(result("1", "{}")); };
  x.client(retry("2", state, R"({"r1":)" + kAccept + "}"));

  EXPECT_EQ(x.client_heard_one().at("id"), 2);
}

}  // namespace
}  // namespace corral::bridge::tests
