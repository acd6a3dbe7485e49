// One session, one instance: everything that the two have to say to each other passes.
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

TEST(PrivateInstance, GetsItsClientsOwnHandshake) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();

  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_EQ(json(heard[0]).at("params"), json(kInitialize).at("params"));
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","extra":[1.0,2]}})");
  exchange.settle();
  EXPECT_THAT(
      client.heard(),
      ElementsAre(R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05","extra":[1.0,2]}})"));
  EXPECT_THAT(exchange.server().heard(), IsEmpty()) << "its client says when it is initialized";
  client.say(kInitialized);
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(kInitialized));
}

TEST(PrivateInstance, AtItsEndNothingMoreOfTheClientIsRead) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  ASSERT_TRUE(client.reading);

  client.session.end(session::EndReason::SessionEnded);

  EXPECT_FALSE(client.reading);
}

TEST(PrivateInstance, IsNotSharedWithTheNextSession) {
  Exchange exchange(config::Share::Session);
  exchange.ready_client();
  exchange.ready_client();
  EXPECT_EQ(exchange.started(), 2U);
}

TEST(PrivateInstance, AsksItsClientAndGetsTheAnswerUnderItsOwnId) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  exchange.server().say(
      R"({"jsonrpc":"2.0","id":"ask-1","method":"elicitation/create","params":{"message":"?"}})");
  exchange.server().say(R"({"jsonrpc":"2.0","id":0,"method":"roots/list"})");
  exchange.settle();
  const auto asked = client.heard();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_THAT(asked[0], HasSubstr("elicitation/create"));

  client.say(answer_to(asked[1], R"({"roots":[]})"));
  client.say(answer_to(asked[0], R"({"action":"accept"})"));
  client.say(answer_to(asked[0], R"({"action":"twice"})"));
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(),
              ElementsAre(R"({"jsonrpc":"2.0","id":0,"result":{"roots":[]}})",
                          R"({"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}})"));
  EXPECT_THAT(client.notes, ElementsAre(HasSubstr("answered a question that is not open")));
}

TEST(PrivateInstance, TakesAQuestionBack) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  exchange.server().say(R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}})");
  exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}})");
  exchange.settle();
  const auto heard = client.heard();
  ASSERT_THAT(heard, SizeIs(2));
  EXPECT_EQ(json(heard[1]).at("params").at("requestId"), json(heard[0]).at("id"));
}

TEST(PrivateInstance, PassesOnWhatWeDoNotKnow) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  const std::string up = R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed","x":1.50})";
  const std::string down = R"({"jsonrpc":"2.0","method":"vendor/news","params":{"n":12345678901234567890}})";
  client.say(up);
  exchange.server().say(down);
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(up));
  EXPECT_THAT(client.heard(), ElementsAre(down));
}

TEST(PrivateInstance, EndsWithItsSessionAndTheExitWaitsForThat) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.session.input_ended();
  exchange.settle();

  EXPECT_TRUE(exchange.server().input_closed());
  EXPECT_EQ(client.closed, session::Transport::Close::Flushed);
  EXPECT_EQ(client.exit_code, std::nullopt) << "not before the tree is gone";
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(client.exit_code, 0);
  EXPECT_THAT(exchange.pool.slots(), IsEmpty());
}

TEST(PrivateInstance, GetsAnAnswerToItsQuestionsThoughItsClientSaysNothingMore) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"x"}})");
  exchange.settle();
  const std::string call = exchange.server().heard().at(0);
  exchange.server().say(R"({"jsonrpc":"2.0","id":"early","method":"elicitation/create","params":{}})");
  exchange.settle();

  client.session.input_ended();
  exchange.server().say(R"({"jsonrpc":"2.0","id":"late","method":"sampling/createMessage","params":{}})");
  exchange.settle();

  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(2));
  EXPECT_EQ(heard[0], R"({"jsonrpc":"2.0","id":"early","result":{"action":"cancel"}})");
  EXPECT_EQ(json(heard[1]).at("id"), "late");
  EXPECT_EQ(json(heard[1]).at("error").at("code"), -32603);
  EXPECT_EQ(client.closed, std::nullopt) << "its call is not answered yet";
  exchange.server().say(answer_to(call));
  exchange.settle();
  EXPECT_EQ(client.closed, session::Transport::Close::Flushed);
}

TEST(PrivateInstance, AnswersWhatWasAskedBeforeTheInputEnded) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  client.session.input_ended();
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(1));
  exchange.server().say(answer_to(heard[0], R"({"tools":[]})"));
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(1));
  EXPECT_TRUE(client.session.ended());
}

TEST(PrivateInstance, IsHeldUpByAClientThatDoesNotRead) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.slow = true;
  exchange.server().say(R"({"jsonrpc":"2.0","id":99,"method":"roots/list"})");
  exchange.settle();
  EXPECT_FALSE(client.reading);
  client.heard();
  exchange.server().say(R"({"jsonrpc":"2.0","id":98,"method":"roots/list"})");
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty()) << "the server's output is not even read";
  client.slow = false;
  client.session.output_drained();
  exchange.settle();
  EXPECT_THAT(client.heard(), SizeIs(1));
}

TEST(PrivateInstance, IsReadAgainWhenItsSessionEndsSoThatItCanReadToItsEnd) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.slow = true;
  exchange.server().say(R"({"jsonrpc":"2.0","id":99,"method":"roots/list"})");
  exchange.settle();
  exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
  exchange.settle();
  ASSERT_GT(exchange.server().unread(), 0U);

  client.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
  EXPECT_EQ(exchange.server().unread(), 0U);
}

TEST(Session, EndsAReaderThatLetsEverythingPileUp) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.overflow = true;
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  exchange.server().say(answer_to(heard.at(0)));
  exchange.settle();
  EXPECT_TRUE(client.session.ended());
  EXPECT_EQ(client.closed, session::Transport::Close::AtOnce);
}

TEST(Session, TellsWhyAServerCouldNotBeStarted) {
  Exchange exchange(config::Share::Session);
  exchange.spawner.failure = "no such command";
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("no such command")));
  EXPECT_EQ(client.exit_code, 125);
}

TEST(Session, EndsWithItsServersExitCodeDuringTheHandshake) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  exchange.server().complain("missing token");
  exchange.server().exit(9 << 8);
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(testing::AllOf(HasSubstr("-31001"), HasSubstr("missing token"))));
  EXPECT_EQ(client.exit_code, 9);
  EXPECT_EQ(client.exits, 1);
}

TEST(Sharing, IsExplainedOnlyToThoseWhoWantAdvice) {
  Exchange exchange(config::Share::Auto);
  FakeClient& script = exchange.connect();
  script.advice = false;
  script.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(script.notes, testing::IsEmpty());

  EXPECT_THAT(exchange.ready_client().notes, SizeIs(1)) << "the next session is still told once";
}

// Beside the reason why it failed, it would only distract.
TEST(Sharing, IsNotExplainedBeforeTheServerHasStarted) {
  Exchange exchange(config::Share::Auto);
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(client.notes, IsEmpty());
  exchange.server().exit(3 << 8);
  exchange.settle();
  EXPECT_THAT(client.notes, IsEmpty());

  EXPECT_THAT(exchange.ready_client().notes, SizeIs(1));
}

TEST(Sharing, FollowsTheEvidenceOfTheFirstSession) {
  Exchange exchange(config::Share::Auto);
  FakeClient& first = exchange.ready_client();
  EXPECT_THAT(first.notes, SizeIs(1)) << "why it is private, once";
  first.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  const std::string tools = R"(,"result":{"tools":[{"name":"look","annotations":{"readOnlyHint":true}}]}})";
  const auto id = [](const std::string& line) { return boost::json::serialize(json(line).at("id")); };
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + id(exchange.server().heard().at(0)) + tools);
  exchange.settle();

  FakeClient& second = exchange.connect();
  second.say(kInitialize);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U) << "a private instance never becomes a shared one";
  FakeServer& shared = exchange.server(1);
  shared.say(R"({"jsonrpc":"2.0","id":)" + id(shared.heard().at(0)) +
             R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}})");
  exchange.settle();
  EXPECT_THAT(second.heard(), IsEmpty()) << "it must show its tools under the plain profile first";
  const auto asked = shared.heard();
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_THAT(asked[1], HasSubstr("tools/list"));
  shared.say(R"({"jsonrpc":"2.0","id":)" + id(asked[1]) + tools);
  exchange.settle();
  EXPECT_THAT(second.heard(), SizeIs(1));
  FakeClient& third = exchange.connect();
  third.say(kInitialize);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_THAT(third.heard(), SizeIs(1));
}

TEST(Sharing, FallsBackToAPrivateInstanceWhenTheToolsAreOthers) {
  Exchange exchange(config::Share::Auto);
  FakeClient& first = exchange.ready_client();
  const auto id = [](const std::string& line) { return boost::json::serialize(json(line).at("id")); };
  first.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + id(exchange.server().heard().at(0)) +
                        R"(,"result":{"tools":[{"name":"a","annotations":{"readOnlyHint":true}}]}})");
  exchange.settle();
  FakeClient& second = exchange.connect();
  second.say(kInitialize);
  exchange.settle();
  FakeServer& shared = exchange.server(1);
  shared.say(R"({"jsonrpc":"2.0","id":)" + id(shared.heard().at(0)) + R"(,"result":{"capabilities":{}}})");
  exchange.settle();
  const auto asked = shared.heard();
  shared.say(R"({"jsonrpc":"2.0","id":)" + id(asked.at(1)) + R"(,"result":{"tools":[{"name":"delete"}]}})");
  exchange.settle();

  EXPECT_TRUE(exchange.server(1).input_closed()) << "of no use to anyone";
  exchange.server(1).exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 3U);
  const auto handshake = exchange.server(2).heard();
  ASSERT_THAT(handshake, SizeIs(1));
  EXPECT_EQ(json(handshake[0]).at("params"), json(kInitialize).at("params")) << "with its client's own words";
}

TEST(Sharing, TakesNoPageForTheWholeList) {
  Exchange exchange(config::Share::Auto);
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}})");
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().at(0),
                                  R"({"tools":[{"name":"a","annotations":{"readOnlyHint":true}}]})"));
  exchange.settle();
  exchange.connect().say(kInitialize);
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard(), ElementsAre(HasSubstr("sampling"))) << "private";
}

TEST(PrivateInstance, ItsLastAnswersArriveAlsoIfItExitsAtOnce) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  client.slow = true;  // so that the server is no longer read
  exchange.server().say(R"({"jsonrpc":"2.0","id":99,"method":"roots/list"})");
  exchange.settle();
  client.heard();
  exchange.server().say(answer_to(heard.at(0), R"({"last":"words"})"));
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("last"), HasSubstr("notifications/cancelled")));
}

TEST(AllowList, HidesAndRefusesOtherTools) {
  Exchange exchange;
  exchange.spec->allows_tool = [](std::string_view tool) { return tool == "look"; };
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  client.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"delete"}})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(1));
  exchange.server().say(answer_to(heard[0], R"({"tools":[{"name":"delete"},{"name":"look"}]})"));
  exchange.settle();
  const auto answers = client.heard();
  ASSERT_THAT(answers, SizeIs(2));
  EXPECT_THAT(answers[0], testing::AllOf(HasSubstr("-31005"), HasSubstr("delete")));
  EXPECT_EQ(json(answers[1]).at("result"), json(R"({"tools":[{"name":"look"}]})"));
}

TEST(PrivateInstance, ThatSaysMuchAndExitsIsHeardToItsLastWordBeforeItsEnd) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t"}})");
  exchange.settle();
  const std::string id = boost::json::serialize(json(exchange.server().heard().at(0)).at("id"));
  constexpr std::size_t kMany = 2 * wire::LinePipe::kLinesPerTurn;
  std::string words;
  for (std::size_t i = 0; i < kMany; ++i)
    words += R"({"jsonrpc":"2.0","method":"notifications/x"})"
             "\n";
  exchange.server().say_raw(words + R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"last":true}})" + "\n");
  exchange.server().exit(7);

  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; })) << "which follows its end";

  const auto heard = client.heard();
  ASSERT_GT(heard.size(), kMany);
  EXPECT_THAT(heard[kMany], HasSubstr(R"("last":true)"));
  EXPECT_THAT(heard[kMany], HasSubstr(R"("id":"c")"));
  for (const std::string& line : heard) EXPECT_EQ(line.find("\"error\""), line.npos) << line;
}

}  // namespace
}  // namespace corral::tests
