// What happens to the requests of one user while they wait, when they are given up, and at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/modern_house.h"

namespace corral::transport {
namespace {

using knowledge::Era;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ModernPosts, ReachTheServerUnderIdsThatAreNeverUsedTwice) {
  ModernHouse house(Era::Modern);
  house.open();
  house.ask(R"("a")", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":"a")"));
  const auto first = house.heard();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(first[0], HasSubstr(R"("progressToken":)" + ModernHouse::id_of(first[0])));
  house.say(wire::result_message(ModernHouse::id_of(first[0]), "{}"));
  house.ask(R"("a")", "tools/call", R"(,"name":"x")");
  EXPECT_NE(ModernHouse::id_of(house.heard().at(0)), ModernHouse::id_of(first[0]));
}

TEST(ModernPosts, AreCancelledByHangingUp) {
  for (const Era era : {Era::Modern, Era::Legacy}) {
    ModernHouse house(era);
    house.open();
    FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"x")");
    FakeExchange& other = house.ask("1", "tools/call", R"(,"name":"y")");
    const auto asked = house.heard();
    ASSERT_THAT(asked, SizeIs(2));
    call.hang_up();
    house.daemon.settle();
    EXPECT_THAT(house.heard(),
                ElementsAre(AllOf(HasSubstr("notifications/cancelled"),
                                  HasSubstr(R"("requestId":)" + ModernHouse::id_of(asked[0])))));
    house.say(wire::result_message(ModernHouse::id_of(asked[0]), "{}"));
    EXPECT_EQ(call.body, "");
    EXPECT_EQ(house.modern->in_use(), 1U);
    house.say(wire::result_message(ModernHouse::id_of(asked[1]), "{}"));
    EXPECT_TRUE(other.replied);
  }
}

TEST(ModernPosts, AListenEndsAtTheServerWhenItsClientHangsUp) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& listen =
      house.ask("1", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  const std::string up = ModernHouse::id_of(house.heard().at(0));
  listen.hang_up();
  house.daemon.settle();
  EXPECT_THAT(house.heard(), ElementsAre(HasSubstr(R"("requestId":)" + up)));
}

TEST(ModernPosts, AreForgottenBeforeTheServerIsThere) {
  ModernHouse house(Era::Modern);
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"x")");
  FakeExchange& second = house.ask("2", "tools/call", R"(,"name":"y")");
  second.hang_up();
  house.answer(R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  const auto asked = house.heard();
  ASSERT_FALSE(asked.empty());
  house.say(wire::result_message(ModernHouse::id_of(asked[0]), "{}"));
  EXPECT_EQ(call.body, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(second.body, "");
}

TEST(ModernPosts, NotificationsAreTakenButNoneCancelsAnothersRequest) {
  ModernHouse house(Era::Modern, {}, config::Share::Session);
  house.open();
  house.ask("1", "tools/call", R"(,"name":"x")");
  house.heard();
  FakeExchange& cancel =
      house.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  FakeExchange& vendor = house.post(R"({"jsonrpc":"2.0","method":"vendor/news"})");
  house.daemon.settle();
  EXPECT_EQ(cancel.status, 202);
  EXPECT_EQ(vendor.status, 202);
  EXPECT_EQ(cancel.body + vendor.body, "");
  EXPECT_THAT(house.heard(), ElementsAre(HasSubstr("vendor/news")));
}

TEST(ModernPosts, WaitForAServerThatDoesNotReadAndAreRefusedBeyondThat) {
  HttpLimits limits;
  limits.waiting = 2;
  ModernHouse house(Era::Modern, limits);
  house.open();
  house.modern->pause();
  FakeExchange& first = house.post(modern_message("1", "prompts/list"));
  FakeExchange& second = house.post(modern_message("2", "prompts/list"));
  FakeExchange& third = house.post(modern_message("3", "prompts/list"));
  house.daemon.settle();
  EXPECT_THAT(house.heard(), IsEmpty());
  EXPECT_EQ(third.status, 503);
  EXPECT_NE(third.header("Retry-After"), "");
  EXPECT_THAT(third.body, HasSubstr(R"("id":3,"error")"));
  first.hang_up();
  house.modern->resume();
  house.daemon.settle();
  EXPECT_THAT(house.heard(), SizeIs(1));
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(house.modern->in_use(), 1U);
}

TEST(ModernPosts, AreLimitedInNumber) {
  HttpLimits limits;
  limits.open_requests = 2;
  ModernHouse house(Era::Modern, limits);
  house.open();
  house.ask("1", "prompts/list");
  house.ask("2", "prompts/list");
  EXPECT_EQ(house.ask("3", "prompts/list").status, 429);
}

TEST(ModernPosts, BecomeAStreamWhenNothingIsHeardForLong) {
  HttpLimits limits;
  limits.hold = std::chrono::milliseconds(1);
  limits.alive = std::chrono::milliseconds(1);
  ModernHouse house(Era::Modern, limits);
  FakeExchange& call = house.post(modern_message("1", "tools/list"));
  EXPECT_TRUE(house.daemon.until([&] { return call.body.starts_with(":\n\n:\n\n"); }));
  EXPECT_TRUE(call.streaming);
  EXPECT_EQ(call.status, 200);
}

/// Progress of 60 KiB, `times` over.
void flood(ModernHouse& house, const std::string& up, int times) {
  const std::string message(std::size_t{60} << 10, 'x');
  for (int i = 0; i < times; ++i) {
    house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up +
              R"(,"progress":1,"message":")" + message + R"("}})");
  }
}

TEST(ModernPosts, OneProgramThatDoesNotReadHoldsNoOtherUpAndGetsItsAnswer) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& stopped = house.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernHouse::id_of(house.heard().at(0));
  stopped.slow = true;

  flood(house, up, 100);

  EXPECT_FALSE(house.modern->congested());
  EXPECT_LT(stopped.waiting, std::size_t{2} << 20) << "what it does not take is not kept";
  EXPECT_GT(house.modern->dropped(), 0U);
  FakeExchange& other = house.ask("2", "prompts/list");
  const auto asked = house.heard();
  ASSERT_THAT(asked, SizeIs(1)) << "the server hears the other program at once";
  house.say(wire::result_message(ModernHouse::id_of(asked[0]), "{}"));
  EXPECT_TRUE(other.replied);
  house.say(wire::result_message(up, R"({"late":true})"));
  EXPECT_THAT(stopped.body, HasSubstr(R"({"late":true})"));
  EXPECT_TRUE(stopped.over);
}

TEST(ModernPosts, AListenThatHasMissedSomethingEndsSoThatItsClientAsksAgain) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& listen =
      house.ask("1", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  const std::string up = ModernHouse::id_of(house.heard().at(0));
  const std::string about = R"(","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + up + "}}}";
  house.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged)" + about);
  listen.waiting = std::size_t{2} << 20;

  house.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed)" + about);

  EXPECT_EQ(house.posted.back().use_count(), 1) << "letting go of it closes its connection";
  EXPECT_EQ(house.modern->in_use(), 0U);
  EXPECT_THAT(house.heard(), ElementsAre(HasSubstr("notifications/cancelled")));
}

TEST(ModernPosts, OfOneProgramLeaveRoomForAnother) {
  HttpLimits limits;
  limits.open_requests = 2;
  limits.waiting = 2;
  ModernHouse house(Era::Modern, limits);
  house.open();
  const auto post = [&house](const char* id, std::uint64_t program) -> FakeExchange& {
    return house.post(modern_message(id, "prompts/list"), program);
  };
  post("1", 7);
  post("2", 7);
  EXPECT_EQ(post("3", 7).status, 429);
  EXPECT_THAT(house.posted.back()->body, HasSubstr("of this program"));
  EXPECT_EQ(post("4", 8).status, 0);
  house.daemon.settle();
  EXPECT_THAT(house.heard(), SizeIs(3));

  house.modern->pause();
  post("5", 9);
  post("6", 9);
  EXPECT_EQ(post("7", 9).status, 429);
  EXPECT_EQ(post("8", 8).status, 0) << "one that floods a server which does not read fills no other's place";
}

TEST(ModernPosts, OneProgramAloneSlowsItsServerDownUntilItReads) {
  ModernHouse house(Era::Modern, {}, config::Share::Auto, ModernSession::Programs::One);
  house.open();
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernHouse::id_of(house.heard().at(0));
  call.slow = true;
  const std::string message(std::size_t{60} << 10, 'x');
  for (int i = 0; i < 20; ++i) {
    house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up +
              R"(,"progress":1,"message":")" + message + R"("}})");
  }
  EXPECT_TRUE(house.modern->congested());
  EXPECT_FALSE(house.modern->overflowing());
  FakeExchange& waits = house.ask("2", "prompts/list");
  EXPECT_THAT(house.heard(), IsEmpty());
  call.drain();
  house.daemon.settle();
  EXPECT_FALSE(house.modern->congested());
  EXPECT_THAT(house.heard(), SizeIs(1)) << "the one that waited";
  EXPECT_EQ(waits.status, 0);
}

TEST(ModernPosts, OneThatHasItsAnswerHoldsNobodyUp) {
  ModernHouse house(Era::Modern, {}, config::Share::Auto, ModernSession::Programs::One);
  house.open();
  FakeExchange& call = house.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernHouse::id_of(house.heard().at(0));
  house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up + "}}");
  call.waiting = std::size_t{2} << 20;
  house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up + "}}");
  EXPECT_TRUE(house.modern->congested());
  house.say(wire::result_message(up, "{}"));
  EXPECT_FALSE(house.modern->congested());
  house.ask("2", "prompts/list");
  EXPECT_THAT(house.heard(), SizeIs(1));
}

TEST(ModernPosts, OneThatDoesNotReadAtAllIsGivenUpAlone) {
  HttpLimits limits;
  limits.queued = std::size_t{100} << 10;
  ModernHouse house(Era::Modern, limits);
  house.open();
  house.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)")).slow = true;
  FakeExchange& other = house.ask("2", "prompts/list");
  const auto asked = house.heard();
  ASSERT_THAT(asked, SizeIs(2));
  const std::string message(std::size_t{60} << 10, 'x');
  for (int i = 0; i < 2; ++i) {
    house.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
              ModernHouse::id_of(asked[0]) + R"(,"progress":1,"message":")" + message + R"("}})");
  }
  EXPECT_THAT(house.heard(), ElementsAre(HasSubstr("notifications/cancelled")));
  EXPECT_EQ(house.posted[1].use_count(), 1) << "letting go of it closes its connection";
  EXPECT_EQ(house.modern->in_use(), 1U);
  house.say(wire::result_message(ModernHouse::id_of(asked[1]), "{}"));
  EXPECT_TRUE(other.replied);
}

TEST(ModernPosts, AreAnsweredAtTheEndWhichIsToldOnce) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& held = house.ask("1", "tools/call", R"(,"name":"x")");
  FakeExchange& listen =
      house.ask("2", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  house.say(
      R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
      ModernHouse::id_of(house.heard().at(1)) + "}}}");
  house.modern->pause();
  FakeExchange& waits = house.post(modern_message("3", "prompts/list"));
  house.modern->session().end(session::EndReason::SessionEnded);
  house.daemon.settle();
  EXPECT_THAT(held.body, HasSubstr(R"("id":1,"error")"));
  EXPECT_EQ(held.status, 200);
  EXPECT_TRUE(listen.over);
  EXPECT_EQ(waits.status, 503);
  EXPECT_EQ(house.ask("4", "prompts/list").status, 503);
  EXPECT_EQ(house.modern->in_use(), 0U);
  house.daemon.server().exit(0);
  house.daemon.settle();
  EXPECT_EQ(house.gone, 1);
}

TEST(ModernPosts, HearThatTheServerCouldNotBeStarted) {
  ModernHouse house(Era::Modern);
  house.daemon.spawner.failure = "no such program";
  FakeExchange& call = house.ask("1", "tools/list");
  EXPECT_EQ(call.status, 200);
  EXPECT_THAT(call.body, AllOf(HasSubstr(R"("id":1,"error":{"code":-31001)"), HasSubstr("no such program")));
  EXPECT_EQ(house.gone, 1) << "the next request starts a new session";
}

TEST(ModernPosts, LetGoOfTheirConnectionsWithTheSession) {
  ModernHouse house(Era::Modern);
  house.open();
  FakeExchange& call = house.ask("1", "tools/list");
  house.modern.reset();
  EXPECT_EQ(house.posted.back().use_count(), 1);
  call.hang_up();
  house.daemon.settle();
}

}  // namespace
}  // namespace corral::transport
