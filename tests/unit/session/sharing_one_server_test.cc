// Several sessions on one instance: nobody gets what belongs to somebody else.
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

std::uint64_t id_of(const std::string& line) { return json(line).at("id").to_number<std::uint64_t>(); }

std::string answer(std::uint64_t id, const std::string& text) {
  return result(std::to_string(id), R"({"text":")" + text + "\"}");
}

TEST(SharedInstance, IsInitializedOnceForSessionsThatComeTogether) {
  Exchange exchange;
  FakeClient& first = exchange.connect();
  FakeClient& second = exchange.connect();
  first.say(kInitialize);
  second.say(R"({"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2024-11-05"}})");
  exchange.settle();

  ASSERT_EQ(exchange.started(), 1U);
  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_EQ(json(heard[0]).at("params").at("capabilities"), json("{}"))
      << "a shared server is told of no capability";
  exchange.server().say(R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":)"
                        R"({"tasks":{"list":{}},"tools":{}},"serverInfo":{"name":"f","version":"1"}}})");
  exchange.settle();

  const auto to_first = first.heard();
  const auto to_second = second.heard();
  ASSERT_THAT(to_first, SizeIs(1));
  ASSERT_THAT(to_second, SizeIs(1));
  EXPECT_EQ(json(to_first[0]).at("id"), 0);
  EXPECT_EQ(json(to_first[0]).at("result").at("protocolVersion"), "2025-06-18");
  EXPECT_EQ(json(to_first[0]).at("result").at("capabilities"), json(R"({"tools":{"listChanged":true}})"))
      << "we are the ones who tell of changes";
  EXPECT_EQ(json(to_second[0]).at("id"), "a");
  EXPECT_EQ(json(to_second[0]).at("result").at("protocolVersion"), "2024-11-05");
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("notifications/initialized")));
}

TEST(SharedInstance, PutsNewerContentInTheWordsOfTheRevisionThatWasAgreedOn) {
  const std::string link = R"({"content":[{"type":"resource_link","uri":"file:///a","name":"a"}]})";
  for (const auto& [asked, links] :
       {std::pair{"2024-11-05", false}, {"2025-06-18", true}, {"2024-01-01", true}}) {
    Exchange exchange;
    FakeClient& client = exchange.connect();
    client.say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
               std::string(asked) + "\"}}");
    exchange.settle();
    ASSERT_TRUE(exchange.answer_handshake(exchange.server()));
    client.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}})");
    exchange.settle();
    client.heard();
    const auto up_id = json(exchange.server().heard().back()).at("id");
    exchange.server().say(R"({"jsonrpc":"2.0","id":)" + boost::json::serialize(up_id) + R"(,"result":)" +
                          link + "}");
    exchange.settle();
    const auto heard = client.heard();
    ASSERT_THAT(heard, SizeIs(1)) << asked;
    EXPECT_EQ(heard[0].find("resource_link") != std::string::npos, links) << asked << ": " << heard[0];
    EXPECT_THAT(heard[0], HasSubstr("file:///a"));
  }
}

TEST(SharedInstance, GivesEachSessionItsOwnAnswersForEqualIds) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call("7", "one"));
  second.say(call("7", "two"));
  first.say(call("\"7\"", "three"));
  first.say(call("7.0", "four"));
  exchange.settle();
  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(4));

  exchange.server().say(answer(id_of(heard[1]), "two"));
  exchange.server().say(answer(id_of(heard[3]), "four"));
  exchange.server().say(answer(id_of(heard[2]), "three"));
  exchange.server().say(answer(id_of(heard[0]), "one"));
  exchange.settle();

  EXPECT_THAT(second.heard(), ElementsAre(R"({"jsonrpc":"2.0","id":7,"result":{"text":"two"}})"));
  EXPECT_THAT(first.heard(), ElementsAre(R"({"jsonrpc":"2.0","id":7.0,"result":{"text":"four"}})",
                                         R"({"jsonrpc":"2.0","id":"7","result":{"text":"three"}})",
                                         R"({"jsonrpc":"2.0","id":7,"result":{"text":"one"}})"));
}

TEST(SharedInstance, RefusesASecondCallUnderAnIdInFlightAndKeepsTheFirst) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(call("5", "one"));
  client.say(call("5", "again"));
  exchange.settle();
  const auto heard = exchange.server().heard();

  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-32600")));
  exchange.server().say(answer(id_of(heard[0]), "one"));
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr(R"("id":5,"result")")));
}

TEST(SharedInstance, RestoresTheProgressTokenOfTheCallerOnly) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"mine"},"name":"x"}})");
  second.say(
      R"({"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":1},"name":"y"},"id":1})");
  exchange.settle();
  const auto heard = exchange.server().heard();
  ASSERT_THAT(heard, SizeIs(2));
  const auto token = [&](std::size_t i) {
    return boost::json::serialize(json(heard[i]).at("params").at("_meta").at("progressToken"));
  };
  EXPECT_NE(token(0), token(1));

  const auto progress = [](const std::string& of) {
    return R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + of +
           R"(,"progress":1}})";
  };
  exchange.server().say(progress(token(1)));
  exchange.server().say(progress(token(0)));
  exchange.server().say(progress("999"));
  exchange.server().say(answer(id_of(heard[0]), "done"));
  exchange.server().say(progress(token(0)));
  exchange.settle();

  EXPECT_THAT(first.heard(), ElementsAre(HasSubstr(R"("progressToken":"mine")"), HasSubstr("done")));
  EXPECT_THAT(second.heard(), ElementsAre(HasSubstr(R"("progressToken":1,)")));
}

TEST(SharedInstance, CancelsTheRightCallAndSwallowsItsLateAnswer) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call("1", "one"));
  second.say(call("1", "two"));
  exchange.settle();
  const auto calls = exchange.server().heard();

  second.say(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}})");
  second.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}})");
  exchange.settle();

  const auto cancelled = exchange.server().heard();
  ASSERT_THAT(cancelled, SizeIs(1));
  EXPECT_EQ(json(cancelled[0]).at("params").at("requestId"), id_of(calls[1]));
  exchange.server().say(answer(id_of(calls[1]), "late"));
  exchange.server().say(answer(id_of(calls[0]), "one"));
  exchange.settle();
  EXPECT_THAT(second.heard(), IsEmpty());
  EXPECT_THAT(first.heard(), SizeIs(1));
  const auto& counters = exchange.pool.slots().front().router()->counters();
  EXPECT_EQ(counters.late_answers, 1U);
  EXPECT_EQ(counters.unknown_answers, 0U);
}

TEST(SharedInstance, CancelsTheCallsOfASessionThatEndsAndLivesOnForTheOthers) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call("1", "block"));
  exchange.settle();
  exchange.server().heard();

  first.session.end(session::EndReason::ClientGone);
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("notifications/cancelled")));
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_FALSE(exchange.server().input_closed());
  second.say(call("2", "still here"));
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("still here")));
}

TEST(SharedInstance, RefusesAQuestionAndTheNextSessionIsPrivate) {
  Exchange exchange(config::Share::Auto);
  exchange.spec->entry.stateless = true;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  ASSERT_EQ(exchange.started(), 1U);

  exchange.server().say(R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}})");
  exchange.settle();

  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr(R"("id":"q","error":{"code":-32601)")));
  EXPECT_THAT(first.heard(), IsEmpty());
  EXPECT_THAT(second.heard(), IsEmpty());
  exchange.connect().say(kInitialize);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U) << "a private one";
  EXPECT_THAT(exchange.server(1).heard(), ElementsAre(HasSubstr("sampling")))
      << "with the client's capabilities";
}

TEST(SharedInstance, AnswersAPingOfItsServer) {
  Exchange exchange;
  exchange.ready_client();
  exchange.server().say(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(R"({"jsonrpc":"2.0","id":3,"result":{}})"));
}

TEST(SharedInstance, SubscribesOnceAndTellsOnlyWhoAsked) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  FakeClient& third = exchange.ready_client();
  const std::string subscribe =
      R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}})";
  first.say(subscribe);
  second.say(subscribe);
  exchange.settle();
  const auto asked = exchange.server().heard();
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_THAT(first.heard(), IsEmpty()) << "not before the server has agreed";
  exchange.server().say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id_of(asked[0])) + R"(,"result":{}})");
  exchange.settle();
  EXPECT_THAT(first.heard(), ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  EXPECT_THAT(second.heard(), SizeIs(1));

  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a/b"}})");
  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///ab"}})");
  exchange.settle();
  EXPECT_THAT(first.heard(), SizeIs(1));
  EXPECT_THAT(second.heard(), SizeIs(1));
  EXPECT_THAT(third.heard(), IsEmpty());

  first.session.end(session::EndReason::InputClosed);
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), IsEmpty()) << "somebody still listens";
  second.session.end(session::EndReason::InputClosed);
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr("resources/unsubscribe")));
}

TEST(SharedInstance, MergesLogLevelsAndFiltersForEach) {
  Exchange exchange;
  FakeClient& talkative = exchange.ready_client();
  FakeClient& calm = exchange.ready_client();
  talkative.say(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}})");
  calm.say(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}})");
  calm.say(R"({"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"loud"}})");
  exchange.settle();
  const auto told = exchange.server().heard();
  ASSERT_THAT(told, ElementsAre(HasSubstr(R"("level":"debug")"))) << "the lowest, once";
  exchange.server().say(answer(id_of(told[0]), "done"));
  EXPECT_THAT(talkative.heard(), SizeIs(1));
  EXPECT_THAT(calm.heard(), ElementsAre(HasSubstr("result"), HasSubstr("-32602")));

  // The session that has just changed the level is the only possible cause: neither line is the calm one's.
  const auto log = [](const std::string& level) {
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" + level +
           R"(","data":1}})";
  };
  exchange.server().say(log("debug"));
  exchange.server().say(log("error"));
  exchange.settle();
  EXPECT_THAT(talkative.heard(),
              ElementsAre(HasSubstr(R"("level":"debug")"), HasSubstr(R"("level":"error")")));
  EXPECT_THAT(calm.heard(), IsEmpty());
  calm.say(call("9", "x"));
  exchange.settle();
  exchange.server().say(log("error"));
  exchange.settle();
  EXPECT_THAT(talkative.heard(), IsEmpty());
  EXPECT_THAT(calm.heard(), IsEmpty()) << "it may still be about the change to the level";
}

TEST(SharedInstance, KeepsTheLogLinesOfASessionThatIsGoneToItself) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call("1", "works on and on"));
  exchange.settle();
  first.session.end(session::EndReason::ClientGone);
  second.say(call("1", "x"));
  exchange.settle();
  exchange.server().say(
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"secret"}})");
  exchange.settle();
  EXPECT_THAT(second.heard(), IsEmpty());
}

TEST(SharedInstance, AnswersASubscriptionBeforeTheSessionEnds) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}})");
  client.session.input_ended();
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  client.session.end(session::EndReason::ShuttingDown);
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-31006")));
}

TEST(SharedInstance, IsNotAskedToHearMoreThanItReads) {
  Exchange exchange;
  exchange.ready_client();
  for (int i = 0; i < 400; ++i) {
    std::string pings;
    for (int j = 0; j < 500; ++j)
      pings += R"({"jsonrpc":"2.0","id":")" + std::string(64, 'x') +
               R"(","method":"ping"})"
               "\n";
    exchange.server().say_raw(pings.substr(0, pings.size() - 1) + "\n");
    exchange.settle();
  }
  EXPECT_GT(exchange.pool.slots().front().router()->counters().dropped_replies, 0U);
}

TEST(SharedInstance, TellsEveryReadySessionThatAListChanged) {
  Exchange exchange;
  FakeClient& first = exchange.ready_client();
  FakeClient& slow = exchange.ready_client();
  FakeClient& fresh = exchange.connect();
  fresh.say(kInitialize);
  exchange.settle();
  fresh.heard();
  slow.slow = true;
  const std::string changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
  exchange.server().say(changed);
  exchange.server().say(changed);
  exchange.settle();

  EXPECT_THAT(first.heard(), ElementsAre(changed, changed));
  EXPECT_THAT(fresh.heard(), IsEmpty()) << "it has not said that it is initialized";
  EXPECT_THAT(slow.heard(), IsEmpty());
  slow.slow = false;
  slow.session.output_drained();
  EXPECT_THAT(slow.heard(), ElementsAre(changed)) << "once, when it reads again";
}

TEST(SharedInstance, AnswersEveryCallOnceWhenItDies) {
  Exchange exchange;
  exchange.spec->entry.restart = false;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(call("1", "a"));
  first.say(call("2", "b"));
  second.say(call("1", "c"));
  exchange.settle();
  exchange.server().complain("out of cheese\n");
  exchange.settle();

  exchange.server().exit(3 << 8);
  exchange.settle();

  const auto to_first = first.heard();
  ASSERT_THAT(to_first, SizeIs(2));
  for (const std::string& line : to_first) {
    EXPECT_THAT(line, HasSubstr("exited with code 3"));
  }
  EXPECT_THAT(second.heard(), SizeIs(1));
  EXPECT_EQ(first.exit_code, 3);
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_EQ(first.exits, 1);
  EXPECT_THAT(exchange.pool.slots(), IsEmpty());
}

TEST(SharedInstance, NeverRemembersAFailedStart) {
  Exchange exchange;
  FakeClient& first = exchange.connect();
  first.say(kInitialize);
  exchange.settle();
  exchange.server().exit(1 << 8);
  exchange.settle();
  EXPECT_THAT(first.heard(), ElementsAre(HasSubstr("exited with code 1")));

  FakeClient& second = exchange.ready_client();
  EXPECT_EQ(exchange.started(), 2U);
  second.say(call("1", "x"));
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard(), SizeIs(1));
}

TEST(SharedInstance, OffersNoTasks) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(R"({"jsonrpc":"2.0","id":1,"method":"tasks/list"})");
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("-32601")));
  EXPECT_THAT(exchange.server().heard(), IsEmpty());
}

TEST(SharedInstance, PausesItsSessionsWhenItsServerDoesNotRead) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(call("0", "x"));
  exchange.settle();
  EXPECT_TRUE(client.reading);
  const std::string large(std::size_t{700} << 10, 'x');
  for (int i = 1; i <= 4; ++i) client.say(call(std::to_string(i), large));
  exchange.settle();
  EXPECT_FALSE(client.reading) << "the server's pipe and our queue are full";

  for (int turn = 0; turn < 200; ++turn) {
    exchange.server().heard();
    exchange.settle();
  }
  EXPECT_TRUE(client.reading);
}

}  // namespace
}  // namespace corral::tests
