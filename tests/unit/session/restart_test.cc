// A server dies, and its sessions go on with the next instance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int kExit3 = 3 << 8;

class Restart : public testing::Test {
 protected:
  Restart() { exchange.pool.set_limits({.restart = {.second_delay = std::chrono::milliseconds(1)}}); }

  /// The number of the instance that is to be opened next.
  FakeServer& next_server() { return exchange.spawner.servers.back(); }
  bool comes_back(std::size_t instances) {
    return exchange.until([&] { return exchange.started() >= instances; }) &&
           exchange.until([&] { return exchange.answer_handshake(next_server()); });
  }

  Exchange exchange;
};

TEST_F(Restart, GivesEachLostCallOneErrorAndServesTheNext) {
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(request("1", "tools/call"));
  second.say(request("1", "tools/call"));
  exchange.settle();
  exchange.server().complain("out of cheese\n");
  exchange.settle();
  exchange.server().exit(kExit3);
  exchange.settle();

  for (FakeClient* client : {&first, &second}) {
    const auto heard = client->heard();
    ASSERT_THAT(heard, SizeIs(1));
    EXPECT_EQ(json(heard[0]).at("error").at("message").as_string(),
              "server files exited with code 3; `corral logs files` shows its stderr");
    EXPECT_EQ(json(heard[0]).at("error").at("code"), -31001);
    EXPECT_EQ(client->exits, 0);
  }
  ASSERT_TRUE(comes_back(2));
  first.say(request("2", "tools/call"));
  exchange.settle();
  const auto asked = exchange.server(1).heard();
  ASSERT_THAT(asked.back(), HasSubstr("tools/call"));
  exchange.server(1).say(answer_to(asked.back(), R"({"text":"back"})"));
  exchange.settle();
  EXPECT_THAT(first.heard().back(), HasSubstr("back"));
  EXPECT_EQ(exchange.started(), 2U);
}

TEST_F(Restart, StartsOneInstanceForAllSessionsOfASharedServer) {
  for (int client = 0; client < 5; ++client) exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  ASSERT_TRUE(comes_back(2));
  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_EQ(exchange.pool.slots().front().router()->sessions().size(), 5U);
}

TEST_F(Restart, HoldsCallsUntilTheNextInstanceIsReady) {
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  client.heard();
  client.say(request("7", "tools/call"));
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  ASSERT_TRUE(comes_back(2));
  const auto asked = exchange.server(1).heard();
  ASSERT_THAT(asked, SizeIs(testing::Ge(1U)));
  EXPECT_THAT(asked.back(), HasSubstr("tools/call"));
}

TEST_F(Restart, ACallThatWasCancelledMeanwhileReachesNobody) {
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  client.say(request("7", "tools/call"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  ASSERT_TRUE(comes_back(2));
  for (const std::string& line : exchange.server(1).heard()) EXPECT_THAT(line, Not(HasSubstr("tools/call")));
}

TEST_F(Restart, TellsTheClientBeforeTheNextAnswer) {
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  client.say(request("7", "tools/call"));
  ASSERT_TRUE(comes_back(2));
  exchange.server(1).say(answer_to(exchange.server(1).heard().back(), "{}"));
  exchange.settle();
  const auto heard = client.heard();
  ASSERT_THAT(heard, SizeIs(2));
  EXPECT_EQ(json(heard[0]).at("method"), "notifications/message");
  EXPECT_EQ(json(heard[0]).at("params").at("data").as_string(),
            "server files exited with code 3; it was restarted, and its state in memory is lost");
  EXPECT_EQ(json(heard[0]).at("params").at("level"), "warning");
  EXPECT_EQ(json(heard[1]).at("id"), 7);
  EXPECT_THAT(client.notes, testing::Contains(HasSubstr("it was restarted")));
}

TEST_F(Restart, APrivateInstanceHearsWhatTheOneBeforeHeard) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "logging/setLevel", R"({"level":"error"})"));
  client.say(request("2", "resources/subscribe", R"({"uri":"file:///a"})"));
  client.say(request("3", "resources/subscribe", R"({"uri":"file:///b"})"));
  client.say(request("4", "resources/unsubscribe", R"({"uri":"file:///b"})"));
  exchange.settle();
  for (const std::string& line : exchange.server().heard()) exchange.server().say(answer_to(line, "{}"));
  exchange.settle();
  exchange.server().exit(kExit3);
  exchange.settle();
  client.heard();
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  exchange.settle();
  const auto opening = exchange.server(1).heard();
  ASSERT_THAT(opening, SizeIs(1));
  EXPECT_EQ(json(opening[0]).at("params").at("clientInfo").at("name"), "tester")
      << "in its client's own words";
  exchange.server(1).say(answer_to(opening[0], R"({"protocolVersion":"2025-06-18","capabilities":{}})"));
  exchange.settle();
  const auto heard = exchange.server(1).heard();
  ASSERT_THAT(heard, SizeIs(3));
  EXPECT_THAT(heard[0], HasSubstr("notifications/initialized"));
  EXPECT_THAT(heard[1], HasSubstr(R"("method":"logging/setLevel","params":{"level":"error"})"));
  EXPECT_THAT(heard[2], HasSubstr(R"("method":"resources/subscribe","params":{"uri":"file:///a"})"));
  exchange.server(1).say(answer_to(heard[2], "{}"));
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty()) << "it asked for none of this, and its level is above a warning";
}

TEST_F(Restart, ASharedInstanceIsSubscribedOnceForAll) {
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  first.say(request("1", "resources/subscribe", R"({"uri":"file:///a"})"));
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().back(), "{}"));
  exchange.settle();
  second.say(request("1", "resources/subscribe", R"({"uri":"file:///a"})"));
  exchange.settle();
  exchange.server().exit(kExit3);
  exchange.settle();
  ASSERT_TRUE(comes_back(2));
  std::size_t subscribed = 0;
  for (const std::string& line : exchange.server(1).heard()) {
    if (line.find("resources/subscribe") == std::string::npos) continue;
    ++subscribed;
    exchange.server(1).say(answer_to(line, "{}"));
  }
  EXPECT_EQ(subscribed, 1U);
  exchange.settle();
  first.heard();
  second.heard();
  exchange.server(1).say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}})");
  exchange.settle();
  EXPECT_THAT(first.heard(), SizeIs(1));
  EXPECT_THAT(second.heard(), SizeIs(1));
}

class RestartLists : public Restart, public testing::WithParamInterface<bool> {};

TEST_P(RestartLists, OnlyAListThatDiffersIsNews) {
  const std::string before = R"({"tools":[{"name":"look"}]})";
  const std::string after = GetParam() ? R"({"tools":[{"name":"look"},{"name":"new"}]})" : before;
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/list"));
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().back(), before));
  exchange.settle();
  exchange.server().exit(kExit3);
  exchange.settle();
  ASSERT_TRUE(comes_back(2));
  client.heard();
  const auto asked = exchange.server(1).heard();
  ASSERT_THAT(asked.back(), HasSubstr("tools/list"));
  exchange.server(1).say(answer_to(asked.back(), after));
  exchange.settle();
  const auto heard = client.heard();
  if (GetParam()) {
    EXPECT_THAT(heard, ElementsAre(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
  } else {
    EXPECT_THAT(heard, IsEmpty());
  }
}
INSTANTIATE_TEST_SUITE_P(A, RestartLists, testing::Bool());

TEST_F(Restart, GivesUpAfterFiveDeathsInARowAndSaysSo) {
  FakeClient& client = exchange.ready_client();
  for (std::size_t death = 1; death < 5; ++death) {
    exchange.spawner.servers.back().complain("no cheese\n");
    exchange.settle();
    exchange.spawner.servers.back().exit(kExit3);
    ASSERT_TRUE(exchange.until([&] { return exchange.started() == death + 1; })) << death;
  }
  client.say(request("9", "tools/call"));
  exchange.spawner.servers.back().complain("no cheese\n");
  exchange.settle();
  exchange.spawner.servers.back().exit(kExit3);
  exchange.settle();
  const std::string words =
      "server files died 5 times in a row and is not started again for now; `corral restart files` tries at "
      "once. Last error: server files exited with code 3; its stderr ended with: no cheese";
  auto heard = client.heard();
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_EQ(json(heard[0]).at("error").at("message").as_string(), words);
  client.say(request("10", "tools/call"));
  exchange.settle();
  heard = client.heard();
  ASSERT_THAT(heard, SizeIs(1)) << "an answer at once, no start";
  EXPECT_EQ(json(heard[0]).at("error").at("message").as_string(), words);
  EXPECT_EQ(exchange.started(), 5U);

  EXPECT_TRUE(exchange.pool.allow("files"));
  client.say(request("11", "tools/call"));
  ASSERT_TRUE(comes_back(6));
  EXPECT_THAT(exchange.server(5).heard().back(), HasSubstr("tools/call"));
}

TEST_F(Restart, DeathsBeforeARestartByHandDoNotCount) {
  FakeClient& client = exchange.ready_client();
  const auto dies = [&](std::size_t started) {
    exchange.spawner.servers.back().exit(kExit3);
    return exchange.until([&] { return exchange.started() == started; });
  };
  for (std::size_t death = 1; death < 5; ++death) ASSERT_TRUE(dies(death + 1)) << death;

  exchange.pool.retire("files", pool::Cause::Restarted, [](const auto&) {});
  client.say(request("9", "tools/call"));
  exchange.settle();
  exchange.server(4).exit(0);
  ASSERT_TRUE(comes_back(6));
  EXPECT_TRUE(dies(7)) << "the first death after it";
}

TEST_F(Restart, ANewSessionOfABrokenServerIsRefusedInTheSameWords) {
  exchange.ready_client();
  for (std::size_t death = 1; death <= 5; ++death) {
    ASSERT_TRUE(exchange.until([&] { return exchange.started() == death; }));
    exchange.spawner.servers.back().exit(kExit3);
    exchange.settle();
  }
  FakeClient& late = exchange.connect();
  late.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(late.heard().at(0), HasSubstr("died 5 times in a row"));
  EXPECT_EQ(late.exit_code, 3);
}

TEST_F(Restart, ABrokenServerIsTriedAgainAfterARest) {
  exchange.pool.set_limits({.restart = {.second_delay = std::chrono::milliseconds(1),
                                        .most_deaths = 1,
                                        .rest = std::chrono::milliseconds(1)}});
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  EXPECT_TRUE(exchange.until([&] { return exchange.pool.slots().empty(); }));
  client.heard();
  client.say(request("1", "tools/call"));
  EXPECT_TRUE(comes_back(2));
}

TEST_F(Restart, AServerThatCannotBeStartedAgainIsBrokenToo) {
  FakeClient& client = exchange.ready_client();
  exchange.spawner.failure = "no such file";
  exchange.server().exit(kExit3);
  exchange.settle();
  client.say(request("1", "tools/call"));
  ASSERT_TRUE(exchange.until([&] { return exchange.pool.slots().front().life() == pool::Life::Broken; }));
  const auto heard = client.heard();
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_THAT(heard[0], HasSubstr("no such file"));
}

TEST_F(Restart, IsNotForASessionThatSaidItsLast) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  client.session.input_ended();
  exchange.server().exit(kExit3);
  exchange.settle();
  EXPECT_THAT(client.heard().at(0), HasSubstr("exited with code 3"));
  EXPECT_EQ(client.exit_code, 3);
  EXPECT_EQ(exchange.started(), 1U);
}

TEST_F(Restart, EndsTheSessionWhereTheConfigurationSaysSo) {
  exchange.spec->entry.restart = false;
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  EXPECT_EQ(client.exit_code, 3);
  EXPECT_EQ(exchange.started(), 1U);
}

TEST_F(Restart, ASessionThatLeavesWhileItWaitsLeavesNothing) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  exchange.server().exit(kExit3);
  exchange.settle();
  ASSERT_TRUE(exchange.until([&] { return exchange.started() == 2; }));
  client.session.end(session::EndReason::ClientGone);
  exchange.settle();
  exchange.server(1).exit(0);
  exchange.settle();
  EXPECT_THAT(exchange.pool.slots(), IsEmpty());
  EXPECT_EQ(client.exits, 1);
}

TEST_F(Restart, AQuestionOfADeadServerIsTakenBack) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  exchange.server().say(R"({"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{}})");
  exchange.settle();
  const auto question = json(client.heard().at(0));
  exchange.server().exit(kExit3);
  exchange.settle();
  const auto heard = client.heard();
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_EQ(json(heard[0]).at("method"), "notifications/cancelled");
  EXPECT_EQ(json(heard[0]).at("params").at("requestId"), question.at("id"));
}

// ---- hanging

TEST_F(Restart, AServerThatHangsIsEndedAndReplaced) {
  exchange.spec->entry.probe = std::chrono::milliseconds(20);
  FakeClient& client = exchange.ready_client();
  std::vector<std::string> asked;
  ASSERT_TRUE(exchange.until([&] {
    asked = exchange.server().heard();
    return !asked.empty();
  }));
  EXPECT_THAT(asked[0], HasSubstr(R"("method":"ping")"));
  exchange.server().say(answer_to(asked[0], "{}"));  // it can answer; from now on it does not
  ASSERT_TRUE(exchange.until([&] { return exchange.pool.slots().front().life() == pool::Life::Dying; }));
  EXPECT_EQ(exchange.pool.slots().front().run().cause(), pool::Cause::Hung);
  exchange.server().exit(SIGKILL);
  ASSERT_TRUE(comes_back(2));
  EXPECT_THAT(client.notes, testing::Contains(HasSubstr("stopped answering")));
}

TEST_F(Restart, AServerThatKnowsNoPingIsLeftAlone) {
  exchange.spec->entry.probe = std::chrono::milliseconds(2);
  exchange.ready_client();
  std::size_t pings = 0;
  ASSERT_TRUE(exchange.until([&] {
    pings += exchange.server().heard().size();
    return pings > 5;
  }));
  EXPECT_EQ(exchange.pool.slots().front().life(), pool::Life::Ready);
  EXPECT_EQ(exchange.started(), 1U);
}

}  // namespace
}  // namespace corral::tests
