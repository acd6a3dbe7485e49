// What happens to the requests of one user while they wait, when they are given up, and at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/modern_fixture.h"

namespace corral::transport {
namespace {

using knowledge::Era;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ModernPosts, ReachTheServerUnderIdsThatAreNeverUsedTwice) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  fixture.ask(R"("a")", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":"a")"));
  const auto first = fixture.heard();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(first[0], HasSubstr(R"("progressToken":)" + ModernFixture::id_of(first[0])));
  fixture.say(wire::result_message(ModernFixture::id_of(first[0]), "{}"));
  fixture.ask(R"("a")", "tools/call", R"(,"name":"x")");
  EXPECT_NE(ModernFixture::id_of(fixture.heard().at(0)), ModernFixture::id_of(first[0]));
}

TEST(ModernPosts, AreCancelledByHangingUp) {
  for (const Era era : {Era::Modern, Era::Legacy}) {
    ModernFixture fixture(era);
    fixture.open();
    FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"x")");
    FakeExchange& other = fixture.ask("1", "tools/call", R"(,"name":"y")");
    const auto asked = fixture.heard();
    ASSERT_THAT(asked, SizeIs(2));
    call.hang_up();
    fixture.daemon.settle();
    EXPECT_THAT(fixture.heard(),
                ElementsAre(AllOf(HasSubstr("notifications/cancelled"),
                                  HasSubstr(R"("requestId":)" + ModernFixture::id_of(asked[0])))));
    fixture.say(wire::result_message(ModernFixture::id_of(asked[0]), "{}"));
    EXPECT_EQ(call.body, "");
    EXPECT_EQ(fixture.modern->in_use(), 1U);
    fixture.say(wire::result_message(ModernFixture::id_of(asked[1]), "{}"));
    EXPECT_TRUE(other.replied);
  }
}

TEST(ModernPosts, AListenEndsAtTheServerWhenItsClientHangsUp) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& listen =
      fixture.ask("1", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  const std::string up = ModernFixture::id_of(fixture.heard().at(0));
  listen.hang_up();
  fixture.daemon.settle();
  EXPECT_THAT(fixture.heard(), ElementsAre(HasSubstr(R"("requestId":)" + up)));
}

TEST(ModernPosts, AreForgottenBeforeTheServerIsThere) {
  ModernFixture fixture(Era::Modern);
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"x")");
  FakeExchange& second = fixture.ask("2", "tools/call", R"(,"name":"y")");
  second.hang_up();
  fixture.answer(
      R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  const auto asked = fixture.heard();
  ASSERT_FALSE(asked.empty());
  fixture.say(wire::result_message(ModernFixture::id_of(asked[0]), "{}"));
  EXPECT_EQ(call.body, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_EQ(second.body, "");
}

TEST(ModernPosts, NotificationsAreTakenButNoneCancelsAnothersRequest) {
  ModernFixture fixture(Era::Modern, {}, config::Share::Session);
  fixture.open();
  fixture.ask("1", "tools/call", R"(,"name":"x")");
  fixture.heard();
  FakeExchange& cancel =
      fixture.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  FakeExchange& vendor = fixture.post(R"({"jsonrpc":"2.0","method":"vendor/news"})");
  fixture.daemon.settle();
  EXPECT_EQ(cancel.status, 202);
  EXPECT_EQ(vendor.status, 202);
  EXPECT_EQ(cancel.body + vendor.body, "");
  EXPECT_THAT(fixture.heard(), ElementsAre(HasSubstr("vendor/news")));
}

TEST(ModernPosts, WaitForAServerThatDoesNotReadAndAreRefusedBeyondThat) {
  HttpLimits limits;
  limits.waiting = 2;
  ModernFixture fixture(Era::Modern, limits);
  fixture.open();
  fixture.modern->pause();
  FakeExchange& first = fixture.post(modern_message("1", "prompts/list"));
  FakeExchange& second = fixture.post(modern_message("2", "prompts/list"));
  FakeExchange& third = fixture.post(modern_message("3", "prompts/list"));
  fixture.daemon.settle();
  EXPECT_THAT(fixture.heard(), IsEmpty());
  EXPECT_EQ(third.status, 503);
  EXPECT_NE(third.header("Retry-After"), "");
  EXPECT_THAT(third.body, HasSubstr(R"("id":3,"error")"));
  first.hang_up();
  fixture.modern->resume();
  fixture.daemon.settle();
  EXPECT_THAT(fixture.heard(), SizeIs(1));
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(fixture.modern->in_use(), 1U);
}

TEST(ModernPosts, AreLimitedInNumber) {
  HttpLimits limits;
  limits.open_requests = 2;
  ModernFixture fixture(Era::Modern, limits);
  fixture.open();
  fixture.ask("1", "prompts/list");
  fixture.ask("2", "prompts/list");
  EXPECT_EQ(fixture.ask("3", "prompts/list").status, 429);
}

TEST(ModernPosts, BecomeAStreamWhenNothingIsHeardForLong) {
  HttpLimits limits;
  limits.hold = std::chrono::milliseconds(1);
  limits.alive = std::chrono::milliseconds(1);
  ModernFixture fixture(Era::Modern, limits);
  FakeExchange& call = fixture.post(modern_message("1", "tools/list"));
  EXPECT_TRUE(fixture.daemon.until([&] { return call.body.starts_with(":\n\n:\n\n"); }));
  EXPECT_TRUE(call.streaming);
  EXPECT_EQ(call.status, 200);
}

/// Progress of 60 KiB, `times` over.
void flood(ModernFixture& fixture, const std::string& up, int times) {
  const std::string message(std::size_t{60} << 10, 'x');
  for (int i = 0; i < times; ++i) {
    fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up +
                R"(,"progress":1,"message":")" + message + R"("}})");
  }
}

TEST(ModernPosts, OneProgramThatDoesNotReadHoldsNoOtherUpAndGetsItsAnswer) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& stopped = fixture.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernFixture::id_of(fixture.heard().at(0));
  stopped.slow = true;

  flood(fixture, up, 100);

  EXPECT_FALSE(fixture.modern->congested());
  EXPECT_LT(stopped.waiting, std::size_t{2} << 20) << "what it does not take is not kept";
  EXPECT_GT(fixture.modern->dropped(), 0U);
  FakeExchange& other = fixture.ask("2", "prompts/list");
  const auto asked = fixture.heard();
  ASSERT_THAT(asked, SizeIs(1)) << "the server hears the other program at once";
  fixture.say(wire::result_message(ModernFixture::id_of(asked[0]), "{}"));
  EXPECT_TRUE(other.replied);
  fixture.say(wire::result_message(up, R"({"late":true})"));
  EXPECT_THAT(stopped.body, HasSubstr(R"({"late":true})"));
  EXPECT_TRUE(stopped.over);
}

TEST(ModernPosts, AListenThatHasMissedSomethingEndsSoThatItsClientAsksAgain) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& listen =
      fixture.ask("1", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  const std::string up = ModernFixture::id_of(fixture.heard().at(0));
  const std::string about = R"(","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + up + "}}}";
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged)" + about);
  listen.waiting = std::size_t{2} << 20;

  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed)" + about);

  EXPECT_EQ(fixture.posted.back().use_count(), 1) << "letting go of it closes its connection";
  EXPECT_EQ(fixture.modern->in_use(), 0U);
  EXPECT_THAT(fixture.heard(), ElementsAre(HasSubstr("notifications/cancelled")));
}

TEST(ModernPosts, OfOneProgramLeaveRoomForAnother) {
  HttpLimits limits;
  limits.open_requests = 2;
  limits.waiting = 2;
  ModernFixture fixture(Era::Modern, limits);
  fixture.open();
  const auto post = [&fixture](const char* id, std::uint64_t program) -> FakeExchange& {
    return fixture.post(modern_message(id, "prompts/list"), program);
  };
  post("1", 7);
  post("2", 7);
  EXPECT_EQ(post("3", 7).status, 429);
  EXPECT_THAT(fixture.posted.back()->body, HasSubstr("of this program"));
  EXPECT_EQ(post("4", 8).status, 0);
  fixture.daemon.settle();
  EXPECT_THAT(fixture.heard(), SizeIs(3));

  fixture.modern->pause();
  post("5", 9);
  post("6", 9);
  EXPECT_EQ(post("7", 9).status, 429);
  EXPECT_EQ(post("8", 8).status, 0) << "one that floods a server which does not read fills no other's place";
}

TEST(ModernPosts, OneProgramAloneSlowsItsServerDownUntilItReads) {
  ModernFixture fixture(Era::Modern, {}, config::Share::Auto, ModernSession::Programs::One);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernFixture::id_of(fixture.heard().at(0));
  call.slow = true;
  const std::string message(std::size_t{60} << 10, 'x');
  for (int i = 0; i < 20; ++i) {
    fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up +
                R"(,"progress":1,"message":")" + message + R"("}})");
  }
  EXPECT_TRUE(fixture.modern->congested());
  EXPECT_FALSE(fixture.modern->overflowing());
  FakeExchange& waits = fixture.ask("2", "prompts/list");
  EXPECT_THAT(fixture.heard(), IsEmpty());
  call.drain();
  fixture.daemon.settle();
  EXPECT_FALSE(fixture.modern->congested());
  EXPECT_THAT(fixture.heard(), SizeIs(1)) << "the one that waited";
  EXPECT_EQ(waits.status, 0);
}

TEST(ModernPosts, OneThatHasItsAnswerHoldsNobodyUp) {
  ModernFixture fixture(Era::Modern, {}, config::Share::Auto, ModernSession::Programs::One);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)"));
  const std::string up = ModernFixture::id_of(fixture.heard().at(0));
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up + "}}");
  call.waiting = std::size_t{2} << 20;
  fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + up + "}}");
  EXPECT_TRUE(fixture.modern->congested());
  fixture.say(wire::result_message(up, "{}"));
  EXPECT_FALSE(fixture.modern->congested());
  fixture.ask("2", "prompts/list");
  EXPECT_THAT(fixture.heard(), SizeIs(1));
}

TEST(ModernPosts, OneThatDoesNotReadAtAllIsGivenUpAlone) {
  HttpLimits limits;
  limits.queued = std::size_t{100} << 10;
  ModernFixture fixture(Era::Modern, limits);
  fixture.open();
  fixture.ask("1", "tools/call", R"(,"name":"x")", meta_with(R"("progressToken":1)")).slow = true;
  FakeExchange& other = fixture.ask("2", "prompts/list");
  const auto asked = fixture.heard();
  ASSERT_THAT(asked, SizeIs(2));
  const std::string message(std::size_t{60} << 10, 'x');
  for (int i = 0; i < 2; ++i) {
    fixture.say(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" +
                ModernFixture::id_of(asked[0]) + R"(,"progress":1,"message":")" + message + R"("}})");
  }
  EXPECT_THAT(fixture.heard(), ElementsAre(HasSubstr("notifications/cancelled")));
  EXPECT_EQ(fixture.posted[1].use_count(), 1) << "letting go of it closes its connection";
  EXPECT_EQ(fixture.modern->in_use(), 1U);
  fixture.say(wire::result_message(ModernFixture::id_of(asked[1]), "{}"));
  EXPECT_TRUE(other.replied);
}

TEST(ModernPosts, AreAnsweredAtTheEndWhichIsToldOnce) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& held = fixture.ask("1", "tools/call", R"(,"name":"x")");
  FakeExchange& listen =
      fixture.ask("2", "subscriptions/listen", R"(,"notifications":{"toolsListChanged":true})");
  fixture.say(
      R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
      ModernFixture::id_of(fixture.heard().at(1)) + "}}}");
  fixture.modern->pause();
  FakeExchange& waits = fixture.post(modern_message("3", "prompts/list"));
  fixture.modern->session().end(session::EndReason::SessionEnded);
  fixture.daemon.settle();
  EXPECT_THAT(held.body, HasSubstr(R"("id":1,"error")"));
  EXPECT_EQ(held.status, 200);
  EXPECT_TRUE(listen.over);
  EXPECT_EQ(waits.status, 503);
  EXPECT_EQ(fixture.ask("4", "prompts/list").status, 503);
  EXPECT_EQ(fixture.modern->in_use(), 0U);
  fixture.daemon.server().exit(0);
  fixture.daemon.settle();
  EXPECT_EQ(fixture.gone, 1);
}

TEST(ModernPosts, HearThatTheServerCouldNotBeStarted) {
  ModernFixture fixture(Era::Modern);
  fixture.daemon.spawner.failure = "no such program";
  FakeExchange& call = fixture.ask("1", "tools/list");
  EXPECT_EQ(call.status, 200);
  EXPECT_THAT(call.body, AllOf(HasSubstr(R"("id":1,"error":{"code":-31001)"), HasSubstr("no such program")));
  EXPECT_EQ(fixture.gone, 1) << "the next request starts a new session";
}

TEST(ModernPosts, LetGoOfTheirConnectionsWithTheSession) {
  ModernFixture fixture(Era::Modern);
  fixture.open();
  FakeExchange& call = fixture.ask("1", "tools/list");
  fixture.modern.reset();
  EXPECT_EQ(fixture.posted.back().use_count(), 1);
  call.hang_up();
  fixture.daemon.settle();
}

}  // namespace
}  // namespace corral::transport
