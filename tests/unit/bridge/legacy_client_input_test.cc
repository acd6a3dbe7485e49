#include "bridge/legacy_exchange.h"

namespace corral::bridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kForm =
    R"({"method":"elicitation/create","params":{"message":"who?","requestedSchema":{}}})";
const std::string kUrl =
    R"({"method":"elicitation/create","params":{"mode":"url","message":"go","url":"http://u"}})";
const std::string kSample = R"({"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}})";
const std::string kRoots = R"({"method":"roots/list"})";

std::string wants(const std::string& requests, const std::string& state = R"("s\u0031")") {
  return R"({"resultType":"input_required","inputRequests":)" + requests + R"(,"requestState":)" + state +
         "}";
}

class LegacyClientInput : public LegacyClientTest {
 protected:
  void client_answers(const std::string& id, const std::string& result) {
    client_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}");
  }
  void client_fails(const std::string& id, const std::string& message) {
    client_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-1,"message":")" + message + R"("}})");
  }
  /// The tool says that it needs something else; whatever the client was asked is forgotten here.
  std::string expect_tool_error() {
    const std::string answer = one_to_client();
    EXPECT_EQ(at(answer, {"result", "isError"}), "true") << answer;
    EXPECT_THAT(server, IsEmpty());
    EXPECT_FALSE(bridge->next_deadline());
    return answer;
  }
};

TEST_F(LegacyClientInput, InputRequiredBecomesAQuestionAndItsAnswerTheNextRound) {
  client_says(
      R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t","arguments":{"n":1.0}}})");
  const std::string first = one_to_server();

  server_answers(at(first, {"id"}), wants(R"({"who":)" + kForm + "}"));
  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":901,"method":"elicitation/create",)"
                             R"("params":{"message":"who?","requestedSchema":{}}})");
  EXPECT_THAT(server, IsEmpty());
  client_answers("901", R"({"action":"accept","content":{"n":2.50}})");

  const std::string second = one_to_server();
  EXPECT_NE(at(second, {"id"}), at(first, {"id"}));
  EXPECT_EQ(at(second, {"method"}), R"("tools/call")");
  EXPECT_EQ(at(second, {"params"}),
            R"({"_meta":{)" + modern_meta(params, "info") +
                R"(},"name":"t","arguments":{"n":1.0},"inputResponses":{"who":)"
                R"({"action":"accept","content":{"n":2.50}}},"requestState":"s\u0031"})");
  server_answers(at(second, {"id"}), R"({"resultType":"complete","content":[]})");
  EXPECT_EQ(one_to_client(), R"({"jsonrpc":"2.0","id":"c","result":{"content":[]}})");
}

TEST_F(LegacyClientInput, AllQuestionsAreAskedAndAllAnswersAwaited) {
  server_answers(call("1", "prompts/get"),
                 wants(R"({"a":)" + kForm + R"(,"b\"":)" + kSample + R"(,"c":)" + kRoots + "}"));
  const std::vector<std::string> asked = to_client();
  ASSERT_THAT(asked, SizeIs(3));
  EXPECT_EQ(asked[1], R"({"jsonrpc":"2.0","id":902,"method":"sampling/createMessage",)"
                      R"("params":{"messages":[],"maxTokens":1}})");
  EXPECT_EQ(asked[2], R"({"jsonrpc":"2.0","id":903,"method":"roots/list"})");

  client_answers("903", R"({"roots":[]})");
  client_answers("901", R"({"action":"decline"})");
  client_answers("901", R"({"action":"accept"})");
  EXPECT_THAT(server, IsEmpty());
  client_answers("902", R"({"model":"m"})");

  EXPECT_EQ(at(one_to_server(), {"params", "inputResponses"}),
            R"({"a":{"action":"decline"},"b\"":{"model":"m"},"c":{"roots":[]}})");
}

TEST_F(LegacyClientInput, ElicitationByUrlGetsAnIdThatIsNeverTheSame) {
  server_answers(call("1"), wants(R"({"a":)" + kUrl + R"(,"b":)" + kUrl + "}"));

  const std::vector<std::string> asked = to_client();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_THAT(text_at(asked[0], {"params", "elicitationId"}), SizeIs(32));
  EXPECT_NE(at(asked[0], {"params", "elicitationId"}), at(asked[1], {"params", "elicitationId"}));
  EXPECT_EQ(at(asked[0], {"params", "url"}), R"("http://u")");
}

TEST_F(LegacyClientInput, WithoutAStateNoneIsGivenBack) {
  server_answers(call(), R"({"resultType":"input_required","inputRequests":{"r":)" + kRoots + "}}");
  client_answers("901", "{}");

  const std::string again = one_to_server();
  EXPECT_EQ(at(again, {"params", "inputResponses"}), R"({"r":{}})");
  EXPECT_EQ(at(again, {"params", "requestState"}), "");
}

TEST_F(LegacyClientInput, AStateAloneIsGivenBackAfterAPause) {
  server_answers(call(), R"({"resultType":"input_required","requestState":"later"})");
  EXPECT_THAT(server, IsEmpty());
  ASSERT_EQ(bridge->next_deadline(), now + std::chrono::seconds(1));

  now += std::chrono::milliseconds(999);
  bridge->expire(now);
  EXPECT_THAT(server, IsEmpty());
  now += std::chrono::milliseconds(1);
  bridge->expire(now);

  const std::string again = one_to_server();
  EXPECT_EQ(at(again, {"params", "requestState"}), R"("later")");
  EXPECT_EQ(at(again, {"params", "inputResponses"}), "");
  EXPECT_FALSE(bridge->next_deadline());
}

TEST_F(LegacyClientInput, EndsAfterEightRounds) {
  std::string id = call();
  for (std::uint64_t round = 1; round <= 8; ++round) {
    server_answers(id, wants(R"({"r":)" + kRoots + "}"));
    to_client();
    client_answers(std::to_string(last_question), R"({"roots":[]})");
    id = at(one_to_server(), {"id"});
    ASSERT_NE(id, "") << round;
  }

  server_answers(id, wants(R"({"r":)" + kRoots + "}"));

  const std::string answer = one_to_client();
  EXPECT_EQ(at(answer, {"error", "code"}), "-32603");
  EXPECT_THAT(answer, HasSubstr("8 times"));
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientInput, EndsIfTheClientDoesNotAnswerForTenMinutes) {
  server_answers(call("7"), wants(R"({"r":)" + kRoots + "}"));
  to_client();
  ASSERT_EQ(bridge->next_deadline(), now + std::chrono::minutes(10));

  now += std::chrono::minutes(10);
  bridge->expire(now);

  const std::vector<std::string> said = to_client();
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(said[0], R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":901}})");
  EXPECT_EQ(at(said[1], {"id"}), "7");
  EXPECT_EQ(at(said[1], {"error", "code"}), "-32603");
  client_answers("901", "{}");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientInput, AClientThatAnswersWithAnErrorEndsATool) {
  server_answers(call(), wants(R"({"a":)" + kForm + R"(,"b":)" + kRoots + "}"));
  to_client();

  client_fails("901", "not now");

  const std::vector<std::string> said = to_client();
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(said[0], R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":902}})");
  EXPECT_EQ(at(said[1], {"result", "isError"}), "true");
  EXPECT_THAT(said[1], HasSubstr("not now"));
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientInput, AClientThatAnswersWithAnErrorEndsAnythingElseWithInternalError) {
  for (const std::string method : {"prompts/get", "resources/read"}) {
    server_answers(call("1", method), wants(R"({"a":)" + kForm + "}"));
    to_client();
    client_fails(std::to_string(last_question), "not now");

    const std::string answer = one_to_client();
    EXPECT_EQ(at(answer, {"error", "code"}), "-32603");
    EXPECT_THAT(answer, HasSubstr("not now"));
  }
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientInput, AnAnswerThatIsNotAnObjectIsAnError) {
  server_answers(call(), wants(R"({"a":)" + kForm + "}"));
  to_client();

  client_answers("901", "[1]");

  expect_tool_error();
}

TEST_F(LegacyClientInput, DeclineAndCancelPassThroughAsResults) {
  for (const std::string action : {R"({"action":"decline"})", R"({"action":"cancel"})"}) {
    server_answers(call(), wants(R"({"a":)" + kForm + "}"));
    client_answers(std::to_string(last_question), action);
    const std::string again = one_to_server();
    EXPECT_EQ(at(again, {"params", "inputResponses", "a"}), action);
    server_answers(at(again, {"id"}), "{}");
  }
}

TEST_F(LegacyClientInput, AClientThatCannotIsNotAskedAndTheToolSaysWhatItLacks) {
  const std::vector<std::vector<std::string>> cases = {
      {"2025-11-25", "{}", kForm, "elicitation"},
      {"2025-11-25", "{}", kSample, "sampling"},
      {"2025-11-25", "{}", kRoots, "roots"},
      {"2025-11-25", R"({"elicitation":{}})", kUrl, "elicitation.url"},
      {"2025-11-25", R"({"elicitation":{"url":{}}})", kForm, "elicitation.form"},
      {"2025-06-18", R"({"elicitation":{"url":{}}})", kUrl, "elicitation.url"},
      {"2025-11-25", R"({"sampling":{}})", R"({"method":"sampling/createMessage","params":{"tools":[]}})",
       "sampling.tools"},
      {"2025-11-25", R"({"sampling":{}})",
       R"({"method":"sampling/createMessage","params":{"toolChoice":{}}})", "sampling.tools"},
      {"2025-11-25", R"({"elicitation":{}})", R"({"method":"sampling/createMessage","params":{"tools":[]}})",
       "sampling"},
  };
  for (const std::vector<std::string>& each : cases) {
    begin(each[0], each[1]);
    server_answers(call(), wants(R"({"a":)" + each[2] + "}"));
    EXPECT_THAT(text_at(expect_tool_error(), {"result", "isError"}), "no text");
    begin(each[0], each[1]);
    server_answers(call("1", "resources/read"), wants(R"({"a":)" + each[2] + "}"));
    const std::string answer = one_to_client();
    EXPECT_EQ(at(answer, {"error", "code"}), "-32603");
    EXPECT_THAT(answer, HasSubstr("lacks the capability " + each[3] + "\""));
  }
}

TEST_F(LegacyClientInput, AnInvalidQuestionEndsTheCall) {
  const std::vector<std::string> odd = {
      R"({"a":{"method":"ping"}})",
      R"({"a":{"method":"elicitation/create"}})",
      R"({"a":{"method":"elicitation/create","params":[]}})",
      R"({"a":{"method":"elicitation/create","params":{"mode":"voice"}}})",
      R"({"a":{"method":"roots/list","params":{"_meta":1}}})",
      R"({"a":7})",
      "[]",
      "7",
  };
  for (const std::string& requests : odd) {
    server_answers(call(), wants(requests));
    const std::string answer = one_to_client();
    EXPECT_EQ(at(answer, {"error", "code"}), "-32603") << requests;
    EXPECT_THAT(server, IsEmpty());
  }
  server_answers(call(), R"({"resultType":"input_required"})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32603");
  server_answers(call(), R"({"resultType":"input_required","inputRequests":{}})");
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32603");
}

TEST_F(LegacyClientInput, MoreQuestionsThanAnybodyHasAreNotAsked) {
  std::string requests;
  for (int i = 0; i < 65; ++i) requests += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":" + kRoots;

  server_answers(call(), wants("{" + requests + "}"));

  EXPECT_THAT(text_at(one_to_client(), {"error", "message"}), HasSubstr("64 questions"));
}

TEST_F(LegacyClientInput, AKeyThatIsTooLongEndsTheCall) {
  const std::string limit(1024, 'k');
  server_answers(call(), wants(R"({"a":)" + kRoots + R"(,"k)" + limit + R"(":)" + kRoots + "}"));

  const std::string answer = one_to_client();
  EXPECT_EQ(at(answer, {"error", "code"}), "-32603");
  EXPECT_THAT(text_at(answer, {"error", "message"}), HasSubstr("under a key of more than 1024 bytes"));
  EXPECT_FALSE(bridge->next_deadline());

  server_answers(call("2"), wants("{\"" + limit + "\":" + kRoots + "}"));
  client_answers(std::to_string(last_question), "{}");
  EXPECT_EQ(at(one_to_server(), {"params", "inputResponses", limit}), "{}");
}

TEST_F(LegacyClientInput, OnlyThreeMethodsMayAsk) {
  server_answers(call("1", "tools/list"), wants(R"({"a":)" + kRoots + "}"));

  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32603");
  EXPECT_THAT(server, IsEmpty());
}

TEST_F(LegacyClientInput, ARequestThatIsTooLargeIsNotMadeAgain) {
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":")" + std::string(4 << 20, 'x') +
              R"("}})");

  server_answers(at(one_to_server(), {"id"}), wants(R"({"a":)" + kRoots + "}"));

  const std::string answer = one_to_client();
  EXPECT_EQ(at(answer, {"error", "code"}), "-32603");
  EXPECT_THAT(answer, HasSubstr("4 MiB"));
}

TEST_F(LegacyClientInput, AnAnswerThatIsTooDeepIsNotPassedOn) {
  server_answers(call(), wants(R"({"a":)" + kRoots + "}"));
  to_client();

  client_answers("901", R"({"roots":)" + std::string(509, '[') + std::string(509, ']') + "}");

  expect_tool_error();
}

TEST_F(LegacyClientInput, ProgressIsToldInEveryRound) {
  client_says(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":3}}})");
  server_answers(at(one_to_server(), {"id"}), wants(R"({"a":)" + kRoots + "}"));
  client_answers("901", "{}");
  to_client();
  const std::string again = one_to_server();
  ASSERT_EQ(at(again, {"params", "_meta", "progressToken"}), at(again, {"id"}));

  server_says(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
              at(again, {"id"}) + R"(,"progress":1}})");

  EXPECT_EQ(at(one_to_client(), {"params", "progressToken"}), "3");
}

TEST_F(LegacyClientInput, CancelledByTheClientTakesTheQuestionsBack) {
  server_answers(call("1"), wants(R"({"a":)" + kForm + R"(,"b":)" + kRoots + "}"));
  to_client();
  client_answers("901", R"({"action":"accept"})");

  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");

  EXPECT_EQ(one_to_client(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":902}})");
  EXPECT_THAT(server, IsEmpty());
  client_answers("902", "{}");
  EXPECT_THAT(server, IsEmpty());
  EXPECT_FALSE(bridge->next_deadline());
}

TEST_F(LegacyClientInput, CancelledByTheClientGoesUpForTheCurrentRound) {
  server_answers(call("1"), wants(R"({"a":)" + kRoots + "}"));
  client_answers("901", "{}");
  const std::string id = at(one_to_server(), {"id"});

  client_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");

  EXPECT_EQ(one_to_server(),
            R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}");
}

TEST_F(LegacyClientInput, AClientThatSaysNoMoreIsNotWaitedFor) {
  const std::string running = call("2");
  server_answers(call("1"), wants(R"({"a":)" + kRoots + "}"));
  to_client();

  bridge->client_ended();
  const std::vector<std::string> said = to_client();
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(at(said[1], {"id"}), "1");
  EXPECT_FALSE(bridge->next_deadline());

  server_answers(running, wants(R"({"a":)" + kRoots + "}"));
  expect_tool_error();
}

TEST_F(LegacyClientInput, StateAndAnswersAreKeptOnlyUpToALimit) {
  const std::string big = "\"" + std::string(40 << 20, 's') + "\"";
  server_answers(call("1"), wants(R"({"a":)" + kRoots + "}", big));
  to_client();

  server_answers(call("2"), wants(R"({"a":)" + kRoots + "}", big));
  EXPECT_EQ(at(one_to_client(), {"error", "code"}), "-32603");

  client_answers("901", "{}");
  to_server();
  server_answers(call("3"), wants(R"({"a":)" + kRoots + "}", big));
  EXPECT_EQ(at(one_to_client(), {"method"}), R"("roots/list")");
}

}  // namespace
}  // namespace corral::bridge
