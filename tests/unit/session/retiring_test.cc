// Instances that are ended on somebody's word: restart, stop, a new configuration, the end of a session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using pool::Cause;
using pool::InstanceEnd;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Retiring : public testing::Test {
 protected:
  std::size_t retire(Cause cause) {
    return exchange.pool.retire("files", cause, [this](const std::vector<InstanceEnd>& all) { gone = all; });
  }

  Exchange exchange;
  std::optional<std::vector<InstanceEnd>> gone;
};

TEST_F(Retiring, LetsCallsInFlightFinishAndHoldsBackNewOnes) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  EXPECT_EQ(retire(Cause::Restarted), 1U);
  client.say(request("2", "tools/call"));
  exchange.settle();
  EXPECT_FALSE(exchange.server().input_closed());
  EXPECT_THAT(exchange.server().heard(), IsEmpty());

  exchange.server().say(answer_to(asked.back()));
  exchange.settle();
  EXPECT_EQ(json(client.heard().at(0)).at("id"), 1);
  EXPECT_TRUE(exchange.server().input_closed());
  EXPECT_EQ(exchange.started(), 1U) << "the next one starts when the tree of this one is gone";
  EXPECT_FALSE(gone);

  exchange.server().exit(0);
  exchange.settle();
  ASSERT_TRUE(gone);
  ASSERT_THAT(*gone, SizeIs(1));
  EXPECT_EQ(gone->front().cause, Cause::Restarted);
  EXPECT_TRUE(gone->front().ending.proved_empty);
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_THAT(exchange.server(1).heard().back(), HasSubstr("tools/call"));
}

TEST_F(Retiring, ACallThatTakesTooLongIsGivenUp) {
  exchange.pool.set_limits({.drain = std::chrono::milliseconds(5)});
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  retire(Cause::Restarted);
  ASSERT_TRUE(exchange.until([&] { return exchange.server().input_closed(); }));
  const auto heard = client.heard();
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_EQ(json(heard[0]).at("error").at("message").as_string(),
            "server files was restarted with `corral restart`");
}

TEST_F(Retiring, NothingToEndIsReportedAtOnce) {
  EXPECT_EQ(retire(Cause::Restarted), 0U);
  ASSERT_TRUE(gone);
  EXPECT_THAT(*gone, IsEmpty());
}

TEST_F(Retiring, AStoppedServerAnswersWithTheReasonUntilItIsAllowed) {
  FakeClient& client = exchange.ready_client();
  retire(Cause::Stopped);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_TRUE(gone);
  client.say(request("1", "tools/call"));
  exchange.settle();
  EXPECT_THAT(client.heard().at(0),
              HasSubstr("was stopped with `corral stop`; `corral start files` allows it"));
  FakeClient& late = exchange.connect();
  late.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(late.heard().at(0), HasSubstr("was stopped"));
  EXPECT_EQ(exchange.started(), 1U);

  EXPECT_TRUE(exchange.pool.allow("files"));
  EXPECT_FALSE(exchange.pool.allow("files"));
  client.say(request("2", "tools/call"));
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_THAT(exchange.server(1).heard().back(), HasSubstr("tools/call"));
}

TEST_F(Retiring, ASessionThatWaitsForAStartIsToldOfTheStop) {
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  exchange.settle();
  retire(Cause::Stopped);
  exchange.settle();
  EXPECT_THAT(client.heard().at(0), HasSubstr("was stopped"));
}

class RetiringWhileItWaits : public Retiring, public testing::WithParamInterface<Cause> {};

TEST_P(RetiringWhileItWaits, DoesNotStartTheOldDefinition) {
  exchange.pool.set_limits({.restart = {.second_delay = std::chrono::hours(1)}});
  FakeClient& client = exchange.ready_client();
  for (std::size_t death = 0; death < 2; ++death) {
    ASSERT_EQ(exchange.started(), death + 1);
    exchange.spawner.servers.back().exit(0);
    exchange.settle();
  }
  ASSERT_EQ(exchange.pool.slots().front().life(), pool::Life::Waiting);
  auto redefined = std::make_shared<pool::ServerSpec>(*exchange.spec);
  redefined->entry.timeout = std::chrono::seconds(77);
  if (GetParam() == Cause::Reloaded) client.session.attachment().redefine(redefined);

  EXPECT_EQ(retire(GetParam()), 0U);
  exchange.settle();

  if (GetParam() == Cause::Stopped) {
    EXPECT_EQ(exchange.started(), 2U);
  } else {
    ASSERT_EQ(exchange.started(), 3U);
    EXPECT_EQ(exchange.pool.slots().front().router()->options().call_timeout, std::chrono::seconds(77));
  }
}
INSTANTIATE_TEST_SUITE_P(For, RetiringWhileItWaits, testing::Values(Cause::Stopped, Cause::Reloaded));

TEST_F(Retiring, ANewDefinitionServesTheSameSession) {
  FakeClient& client = exchange.ready_client();
  auto redefined = std::make_shared<pool::ServerSpec>(*exchange.spec);
  redefined->launch.argv = {"/bin/other-server"};
  redefined->key = knowledge::launch_key(redefined->launch);
  client.session.attachment().redefine(redefined);
  retire(Cause::Reloaded);
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
  EXPECT_EQ(exchange.started(), 1U) << "the old one may hold what the new one needs";
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_THAT(client.notes, testing::Contains(HasSubstr("has a new configuration")));
  client.say(request("1", "tools/call"));
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard().back(), HasSubstr("tools/call"));
}

TEST_F(Retiring, ASessionOfARemovedServerEndsWhenItsCallsAreAnswered) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  client.session.withdraw("server files is no longer configured");
  retire(Cause::Reloaded);
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  exchange.server().say(answer_to(asked.back()));
  exchange.settle();
  EXPECT_EQ(json(client.heard().at(0)).at("id"), 1);
  EXPECT_TRUE(client.session.ended());
  EXPECT_EQ(client.exit_reason, "server files is no longer configured");
  EXPECT_EQ(exchange.started(), 1U);
}

TEST_F(Retiring, AServerThatIsBackBeforeItsSessionHasEndedGoesOn) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  exchange.settle();
  const auto asked = exchange.server().heard();
  client.session.withdraw("server files is no longer configured");
  retire(Cause::Reloaded);
  client.session.attachment().redefine(exchange.spec);
  exchange.server().say(answer_to(asked.back()));
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_FALSE(client.session.ended());
  EXPECT_EQ(exchange.started(), 2U);
}

// Between the loss of its instance and the task that follows, the server is configured again and the client
// asks. Another session, which is told right after this one, is where the test can step in.
TEST_F(Retiring, AMessageBeforeAServerIsBackAsksForItOnce) {
  exchange.pool.set_limits({.drain = std::chrono::milliseconds(5)});
  FakeClient& client = exchange.ready_client();
  FakeClient& other = exchange.ready_client();
  other.say(request("9", "tools/call"));
  exchange.settle();
  client.session.withdraw("server files is no longer configured");
  bool stepped_in = false;
  other.when_sent = [&] {
    EXPECT_EQ(client.session.attachment().phase(), session::Phase::Away);
    client.session.attachment().redefine(exchange.spec);
    client.say(request("1", "tools/call"));
    stepped_in = true;
  };
  retire(Cause::Reloaded);
  ASSERT_TRUE(exchange.until([&] { return stepped_in; }));
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));

  const auto asked = exchange.server(1).heard();
  ASSERT_THAT(asked, testing::Not(IsEmpty()));
  EXPECT_THAT(asked.back(), HasSubstr("tools/call"));
  exchange.server(1).say(answer_to(asked.back()));
  exchange.settle();
  const auto heard = client.heard();
  EXPECT_EQ(std::count_if(heard.begin(), heard.end(),
                          [](const std::string& line) { return line.find("\"id\"") != std::string::npos; }),
            1)
      << testing::PrintToString(heard);
}

TEST_F(Retiring, ASlotThatNoSessionWaitsForAnyMoreIsGone) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  for (const char* const program : {"/bin/second", "/bin/third"}) {
    auto redefined = std::make_shared<pool::ServerSpec>(*exchange.spec);
    redefined->launch.argv = {program};
    redefined->key = knowledge::launch_key(redefined->launch);
    client.session.attachment().redefine(redefined);
    retire(Cause::Reloaded);
    exchange.settle();
  }
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_EQ(exchange.pool.slots().size(), 1U);
  EXPECT_EQ(exchange.pool.slots().front().spec().launch.argv.front(), "/bin/third");
}

TEST_F(Retiring, NothingIsStartedForASessionThatEndsWhileTheOldOneGoes) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  auto redefined = std::make_shared<pool::ServerSpec>(*exchange.spec);
  redefined->launch.argv = {"/bin/other-server"};
  redefined->key = knowledge::launch_key(redefined->launch);
  client.session.attachment().redefine(redefined);
  retire(Cause::Reloaded);
  exchange.settle();
  client.session.end(session::EndReason::InputClosed);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_THAT(exchange.pool.slots(), IsEmpty());
  EXPECT_EQ(client.exits, 1);
}

TEST_F(Retiring, AnInstanceThatIsStartedAgainBelongsToTheSessionThatWaitsForIt) {
  FakeClient& first = exchange.ready_client({}, "s-1");
  first.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  FakeClient& second = exchange.connect("s-2");
  second.say(kInitialize);
  exchange.settle();
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  second.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  EXPECT_TRUE(exchange.server(1).input_closed());
}

TEST_F(Retiring, AnEndWithoutProofIsToldToTheSessionObject) {
  exchange.spec->entry.share = config::Share::Session;
  std::vector<std::string> owners;
  exchange.pool.when_unproved([&](const std::string& owner, const InstanceEnd&) { owners.push_back(owner); });
  exchange.ready_client({}, "s-1");
  exchange.server().exit(0, FakeServer::Proof::None);
  exchange.settle();
  EXPECT_THAT(owners, testing::ElementsAre("s-1"));
}

TEST_F(Retiring, TheEndOfASessionTellsWhenItsInstanceIsGone) {
  exchange.spec->entry.share = config::Share::Session;
  FakeClient& client = exchange.ready_client();
  std::optional<InstanceEnd> evidence;
  client.session.end(session::EndReason::SessionEnded, [&](const InstanceEnd* one) {
    ASSERT_NE(one, nullptr);
    evidence = *one;
  });
  exchange.settle();
  EXPECT_FALSE(evidence);
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_TRUE(evidence);
  EXPECT_EQ(evidence->server, "files");
  EXPECT_EQ(evidence->cause, Cause::SessionEnded);
}

TEST_F(Retiring, TheEndOfOneOfSeveralSessionsEndsNoSharedInstance) {
  FakeClient& first = exchange.ready_client();
  exchange.ready_client();
  bool told = false;
  first.session.end(session::EndReason::SessionEnded, [&](const InstanceEnd* one) {
    EXPECT_EQ(one, nullptr);
    told = true;
  });
  exchange.settle();
  EXPECT_TRUE(told);
  EXPECT_FALSE(exchange.server().input_closed());
}

TEST_F(Retiring, ASharedInstanceGoesWithTheSessionObjectThatItWasStartedFor) {
  FakeClient& first = exchange.ready_client({}, "s-1");
  FakeClient& second = exchange.ready_client({}, "s-1");
  bool kept = false;
  first.session.end(session::EndReason::SessionEnded, [&](const InstanceEnd* one) { kept = one == nullptr; });
  exchange.settle();
  EXPECT_TRUE(kept);
  std::optional<InstanceEnd> evidence;
  second.session.end(session::EndReason::SessionEnded, [&](const InstanceEnd* one) {
    if (one != nullptr) evidence = *one;
  });
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_TRUE(evidence);
}

TEST_F(Retiring, ASharedInstanceEndsWithTheLastSessionObjectEvenIfAnotherStartedIt) {
  FakeClient& first = exchange.ready_client({}, "s-1");
  FakeClient& second = exchange.ready_client({}, "s-2");
  first.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  EXPECT_FALSE(exchange.server().input_closed());
  second.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  EXPECT_TRUE(exchange.server().input_closed());
}

TEST_F(Retiring, ASharedInstanceThatAPlainSessionUsesTooOutlivesItsSessionObjects) {
  FakeClient& first = exchange.ready_client({}, "s-1");
  exchange.ready_client();
  FakeClient& third = exchange.ready_client({}, "s-3");
  first.session.end(session::EndReason::SessionEnded);
  third.session.end(session::EndReason::SessionEnded);
  exchange.settle();
  EXPECT_FALSE(exchange.server().input_closed());
}

TEST_F(Retiring, ASharedInstanceThatSomebodyElseStartedStays) {
  FakeClient& before = exchange.ready_client();
  before.session.end(session::EndReason::InputClosed);
  FakeClient& client = exchange.ready_client({}, "s-1");
  client.session.end(session::EndReason::SessionEnded,
                     [](const InstanceEnd* one) { EXPECT_EQ(one, nullptr); });
  exchange.settle();
  EXPECT_FALSE(exchange.server().input_closed());
}

}  // namespace
}  // namespace corral::tests
