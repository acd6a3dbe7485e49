// How a session ends, how its server does, and in which words it is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "keeper/plan.h"
#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using pool::Cause;
using pool::InstanceEnd;
using session::EndReason;
using session::Transport;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSlowCall = R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"a"}})";

struct Ended {
  EndReason reason;
  const char* name;
  bool polite;
};
constexpr Ended kEnds[] = {
    {EndReason::InputClosed, "stdin-closed", true},
    {EndReason::OutputClosed, "stdout-closed", false},
    {EndReason::ClientGone, "client-gone", false},
    {EndReason::ShimGone, "shim-gone", false},
    {EndReason::ServerEnded, "server-ended", true},
    {EndReason::SlowReader, "slow-reader", false},
    {EndReason::ShuttingDown, "shutting-down", true},
    {EndReason::SessionEnded, "session-ended", true},
    {EndReason::Removed, "server-removed", true},
    {EndReason::Deleted, "deleted", true},
    {EndReason::Expired, "expired", true},
};

TEST(EndOfASession, IsOrderlyUnlessNobodyIsThereToHearOfIt) {
  for (const Ended& one : kEnds) {
    Exchange exchange(config::Share::Session);
    FakeClient& client = exchange.ready_client();
    client.say(kSlowCall);
    exchange.settle();
    client.session.end(one.reason);
    exchange.settle();

    EXPECT_STREQ(client.session.record().reason, one.name);
    EXPECT_EQ(client.closed, one.polite ? Transport::Close::Flushed : Transport::Close::AtOnce) << one.name;
    EXPECT_EQ(exchange.server().stops_told(), one.polite ? 0U : 1U) << one.name;
    const auto heard = client.heard();
    ASSERT_EQ(heard.size(), one.polite ? 1U : 0U) << one.name;
    if (one.polite) {
      EXPECT_THAT(heard[0],
                  AllOf(HasSubstr("-31006"), HasSubstr("the session is ending: " + std::string(one.name))));
    }
    EXPECT_EQ(client.exits, 0) << "its tree is not gone";
    EXPECT_FALSE(client.reading);
  }
}

TEST(EndOfASession, IsToldOnceWhenItsTreeIsGone) {
  for (const Ended& one : kEnds) {
    Exchange exchange(config::Share::Session);
    FakeClient& client = exchange.ready_client();
    client.session.end(one.reason);
    exchange.settle();
    exchange.server().exit(0);
    exchange.settle();

    EXPECT_EQ(client.exits, 1) << one.name;
    EXPECT_EQ(client.exit_code, one.reason == EndReason::Removed ? 1 : 0) << one.name;
    EXPECT_EQ(client.exit_reason, one.reason == EndReason::SessionEnded ? "the session ended" : "")
        << one.name;
  }
}

TEST(EndOfASession, ThatIsEndedAgainTellsTheSecondCallerAtOnce) {
  Exchange exchange(config::Share::Session);
  FakeClient& client = exchange.ready_client();
  client.session.end(EndReason::InputClosed);
  exchange.settle();
  bool told = false;
  client.session.end(EndReason::Expired, [&](const InstanceEnd* gone) { told = gone == nullptr; });
  EXPECT_TRUE(told);
  EXPECT_STREQ(client.session.record().reason, "stdin-closed") << "the first counts";
  EXPECT_EQ(exchange.server().stops_told(), 0U) << "no haste";
}

TEST(EndOfASession, WaitsAMinuteForTheLastAnswersOfAClientThatSaysNoMore) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(kSlowCall);
  exchange.settle();
  client.session.input_ended();
  client.session.input_ended();
  exchange.clock.pass(milliseconds(59'999));
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  exchange.clock.pass(milliseconds(1));
  exchange.settle();
  EXPECT_TRUE(client.session.ended());
  EXPECT_STREQ(client.session.record().reason, "stdin-closed");
}

TEST(EndOfASession, ComesWithTheLastAnswerIfItsClientSaysNoMore) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(kSlowCall);
  exchange.settle();
  client.session.input_ended();
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  const auto asked = exchange.server().heard();
  ASSERT_EQ(asked.size(), 1U);
  exchange.server().say(answer_to(asked[0]));
  exchange.settle();
  EXPECT_TRUE(client.session.ended());
}

TEST(EndOfASession, OfAClientThatDoesNotReadIsNotFromWithinAnAnswer) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.overflow = true;
  exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  exchange.settle();
  EXPECT_TRUE(client.session.ended());
  EXPECT_STREQ(client.session.record().reason, "slow-reader");
}

// ---- a server that does not start

TEST(AServerThatDiesAtItsStart, AnswersEveryCallThatWaitedForItAndEndsTheSessionWithItsCode) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  client.say(kSlowCall);
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  exchange.server().exit(3 << 8);
  exchange.settle();

  EXPECT_THAT(
      client.heard(),
      ElementsAre(AllOf(HasSubstr(R"("id":0)"), HasSubstr("-31001"), HasSubstr("exited with code 3")),
                  AllOf(HasSubstr(R"("id":"c")"), HasSubstr("-31001"), HasSubstr("server files has ended"))));
  EXPECT_EQ(client.exit_code, 3);
  EXPECT_EQ(client.exits, 1);
  EXPECT_EQ(client.closed, Transport::Close::Flushed);
}

// ---- how a server ended

TEST(EndOfAServer, IsToldAsAShellWouldTellIt) {
  struct Case {
    int status;
    const char* sentence;
    int code;
  };
  for (const Case& one : {Case{0, "exited with code 0", 0}, Case{255 << 8, "exited with code 255", 255},
                          Case{SIGKILL, "was ended by SIGKILL", 137},
                          Case{SIGTERM, "was ended by SIGTERM", 143}, Case{50, "was ended by SIG50", 178}}) {
    Exchange exchange;
    exchange.spec->entry.restart = false;
    FakeClient& client = exchange.ready_client();
    exchange.server().exit(one.status);
    exchange.settle();
    EXPECT_EQ(client.exit_code, one.code);
    EXPECT_EQ(client.exit_reason, "server files " + std::string(one.sentence));
  }
}

TEST(EndOfAServer, WhoseKeeperIsKilledIsToldAsSuch) {
  Exchange exchange;
  exchange.spec->entry.restart = false;
  FakeClient& client = exchange.ready_client();
  exchange.server().lose_keeper();
  ASSERT_TRUE(exchange.until([&] { return client.exits > 0; }));
  EXPECT_EQ(client.exit_code, 125);
  EXPECT_EQ(client.exit_reason, "server files lost its keeper, which another process killed");
}

TEST(EndOfAServer, ThatClosesItsOutputAndStaysIsGivenThreeSeconds) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client();
  client.say(kSlowCall);
  exchange.settle();
  exchange.server().close_output();
  exchange.settle();
  exchange.clock.pass(milliseconds(2999));
  exchange.settle();
  EXPECT_THAT(client.heard(), IsEmpty());
  exchange.clock.pass(milliseconds(1));
  exchange.settle();
  EXPECT_THAT(client.heard(), ElementsAre(HasSubstr("closed its standard output but did not exit")));
}

/// The session ends in this way, and again a second later; how long until its keeper is given up.
Clock::duration time_of_keeper(EndReason reason) {
  Exchange exchange(config::Share::Session);
  events::Stream stream;
  exchange.pool.write_to({.events = &stream});
  FakeClient& client = exchange.ready_client();
  client.session.end(reason);
  const Clock::time_point begun = Clock::now();
  exchange.clock.pass(seconds(1));
  exchange.settle();
  client.session.end(reason);
  for (int i = 0; i < 1000 && client.exits == 0; ++i) {
    exchange.clock.pass(milliseconds(100));
    exchange.settle();
  }
  EXPECT_EQ(client.exits, 1);
  EXPECT_THAT(stream.after(0, 100).back().text, HasSubstr("lost its keeper, which did not end it in time"));
  return Clock::now() - begun;
}

TEST(EndOfAServer, DoesNotWaitForAKeeperThatDoesNotRun) {
  const keeper::PlanHeader plan{};
  const Clock::duration hasty = keeper::longest_end(plan) + seconds(3) + seconds(2);
  const Clock::duration polite = hasty + plan.graces.stdin_closed + plan.graces.unread_cap + seconds(2);
  // Afterwards somebody looks for what it left, every 10 ms.
  EXPECT_GE(time_of_keeper(EndReason::ClientGone), hasty);
  EXPECT_LE(time_of_keeper(EndReason::ClientGone), hasty + milliseconds(400))
      << "a second word gives no more time";
  EXPECT_GE(time_of_keeper(EndReason::InputClosed), polite);
  EXPECT_LE(time_of_keeper(EndReason::InputClosed), polite + milliseconds(400));
}

// ---- in which words

TEST(Causes, HaveNames) {
  const std::vector<std::string> names = {
      "session-ended", "idle",     "parked",    "evicted", "hung",     "died",         "unfit",
      "outdated",      "reloaded", "restarted", "stopped", "recycled", "shutting-down"};
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(pool::cause_name(static_cast<Cause>(i)), names[i]);
}

TEST(Causes, AreToldToTheSessionThatGetsAnotherInstance) {
  struct Case {
    Cause cause;
    const char* sentence;
  };
  for (const Case& one : {Case{Cause::Restarted, "was restarted with `corral restart`"},
                          Case{Cause::Reloaded, "has a new configuration"},
                          Case{Cause::Recycled, "was replaced because it used too much memory"}}) {
    Exchange exchange;
    FakeClient& client = exchange.ready_client();
    if (one.cause == Cause::Recycled) {
      exchange.pool.recycle(InstanceId("instance1000000"), "it is large");
    } else {
      exchange.pool.retire("files", one.cause, [](const auto&) {});
    }
    exchange.settle();
    exchange.server().exit(0);
    exchange.settle();
    ASSERT_EQ(exchange.started(), 2U);
    exchange.answer_handshake(exchange.server(1));
    EXPECT_THAT(client.notes, ElementsAre("server files " + std::string(one.sentence) +
                                          "; it was restarted, and its state in memory is lost"));
  }
}

TEST(ASessionObject, TakesWhatWasStartedForItWithIt) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client({}, "s-1");
  client.session.end(EndReason::InputClosed);
  exchange.settle();
  ASSERT_FALSE(exchange.server().input_closed());
  std::vector<InstanceEnd> gone;
  const auto note = [&](const InstanceEnd& one) { gone.push_back(one); };
  EXPECT_EQ(exchange.pool.end_all_of("s-2", note), 0U);
  EXPECT_EQ(exchange.pool.end_all_of("s-1", note), 1U);
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
  EXPECT_EQ(exchange.pool.end_all_of("s-1", note), 1U) << "on its way out it still counts";
  EXPECT_EQ(exchange.server().stops_told(), 0U);
  exchange.pool.hasten_all_of("s-2");
  EXPECT_EQ(exchange.server().stops_told(), 0U);
  exchange.pool.hasten_all_of("s-1");
  EXPECT_EQ(exchange.server().stops_told(), 1U);
  exchange.server().exit(0);
  exchange.settle();

  ASSERT_EQ(gone.size(), 2U);
  EXPECT_EQ(gone[0].cause, Cause::SessionEnded);
}

TEST(ASessionObject, LeavesWhatOthersHaveJoined) {
  Exchange exchange;
  FakeClient& client = exchange.ready_client({}, "s-1");
  exchange.ready_client({}, "s-2");
  client.session.end(EndReason::InputClosed);
  exchange.settle();
  const auto nothing = [](const InstanceEnd&) {};
  EXPECT_EQ(exchange.pool.end_all_of("s-1", nothing), 0U);
  exchange.pool.hasten_all_of("s-2");
  exchange.settle();
  EXPECT_FALSE(exchange.server().input_closed());
  EXPECT_EQ(exchange.server().stops_told(), 0U) << "it is not on its way out";
}

}  // namespace
}  // namespace corral::tests
