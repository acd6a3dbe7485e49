// What happens to instances that nobody needs at the moment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"
#include "wire/rpc.h"

namespace corral::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::milliseconds kShort{20};

class Parking : public testing::Test {
 protected:
  explicit Parking(config::Share share = config::Share::Session) : exchange(share) {
    exchange.spec->entry.idle = kShort;
  }
  bool is_asked_to_end(std::size_t index) {
    return exchange.until([&] { return exchange.server(index).input_closed(); });
  }
  /// Waits for several times the idle time.
  bool stays(std::size_t index) {
    const auto end = Clock::now() + 5 * kShort;
    return exchange.until([&] { return exchange.server(index).input_closed() || Clock::now() > end; }) &&
           !exchange.server(index).input_closed();
  }

  Exchange exchange;
};

TEST_F(Parking, EndsTheTreeOfASilentSessionAndTheNextCallStartsAnother) {
  exchange.spec->entry.park = true;
  FakeClient& client = exchange.ready_client();
  ASSERT_TRUE(is_asked_to_end(0));
  EXPECT_STREQ(client.session.attachment().state(), "parked");
  EXPECT_FALSE(client.session.ended());
  exchange.server().exit(0);
  exchange.settle();
  EXPECT_EQ(exchange.pool.living(), 0U);
  EXPECT_EQ(exchange.started(), 1U) << "not before it is needed";

  client.say(request("3", "tools/call"));
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  const auto heard = exchange.server(1).heard();
  ASSERT_THAT(heard.back(), HasSubstr("tools/call"));
  exchange.server(1).say(answer_to(heard.back()));
  exchange.settle();
  const auto said = client.heard();
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_EQ(json(said[0]).at("params").at("data").as_string(),
            "server files was parked after a time without calls; it was restarted, and its state in memory "
            "is lost");
  EXPECT_EQ(json(said[1]).at("id"), 3);
}

TEST_F(Parking, ACallThatComesWhileTheOldTreeGoesIsAnsweredByTheNext) {
  exchange.spec->entry.park = true;
  FakeClient& client = exchange.ready_client();
  ASSERT_TRUE(is_asked_to_end(0));
  client.say(request("3", "tools/call"));
  exchange.settle();
  EXPECT_EQ(exchange.started(), 1U) << "never two of one place";
  exchange.server().exit(0);
  exchange.settle();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_THAT(exchange.server(1).heard().back(), HasSubstr("tools/call"));
}

TEST_F(Parking, NeedsEvidence) {
  exchange.ready_client();
  EXPECT_TRUE(stays(0));
}

TEST_F(Parking, AnEntryThatIsCalledStatelessIsEvidence) {
  exchange.spec->entry.stateless = true;
  exchange.ready_client();
  EXPECT_TRUE(is_asked_to_end(0));
}

TEST_F(Parking, ToolsThatOnlyReadAreEvidence) {
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/list"));
  exchange.settle();
  const auto heard = exchange.server().heard();
  exchange.server().say(
      answer_to(heard.back(), R"({"tools":[{"name":"look","annotations":{"readOnlyHint":true}}]})"));
  EXPECT_TRUE(is_asked_to_end(0));
}

TEST_F(Parking, CanBeForbidden) {
  exchange.spec->entry.stateless = true;
  exchange.spec->entry.park = false;
  exchange.ready_client();
  EXPECT_TRUE(stays(0));
}

TEST_F(Parking, WorkInFlightCountsAsUse) {
  exchange.spec->entry.park = true;
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "tools/call"));
  EXPECT_TRUE(stays(0));
}

TEST_F(Parking, AnOpenSubscriptionCountsAsUse) {
  exchange.spec->entry.park = true;
  FakeClient& client = exchange.ready_client();
  client.say(request("1", "resources/subscribe", R"({"uri":"file:///a"})"));
  exchange.settle();
  exchange.server().say(answer_to(exchange.server().heard().back()));
  EXPECT_TRUE(stays(0));
}

TEST_F(Parking, AnUnansweredQuestionCountsAsUse) {
  exchange.spec->entry.park = true;
  exchange.ready_client();
  exchange.server().say(R"({"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}})");
  EXPECT_TRUE(stays(0));
}

class SharedParking : public Parking {
 protected:
  SharedParking() : Parking(config::Share::Shared) {}
};

TEST_F(SharedParking, AClientThatKeepsItsPipeOpenKeepsNoStatelessTree) {
  exchange.spec->entry.stateless = true;
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  ASSERT_TRUE(is_asked_to_end(0));
  exchange.server().exit(0);
  exchange.settle();
  first.say(request("1", "tools/call"));
  second.say(request("1", "tools/call"));
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U);
}

TEST_F(SharedParking, SharingThatTheUserWantedIsNotEvidence) {
  exchange.ready_client();
  EXPECT_TRUE(stays(0));
}

TEST_F(SharedParking, WithoutSessionsItIsEndedWithoutEvidence) {
  FakeClient& client = exchange.ready_client();
  client.session.end(session::EndReason::InputClosed);
  EXPECT_TRUE(is_asked_to_end(0));
}

// ---- caps

TEST_F(SharedParking, OnlyTheNewestIdleOnesAreKept) {
  exchange.spec->entry.idle = std::chrono::hours(1);
  exchange.pool.set_limits({.keep = 2});
  for (int root = 0; root < 4; ++root) {
    exchange.spec = std::make_shared<pool::ServerSpec>(*exchange.spec);
    exchange.spec->launch.directory = "/" + std::to_string(root);
    exchange.ready_client().session.end(session::EndReason::InputClosed);
    exchange.clock.pass(std::chrono::milliseconds(1));
  }
  exchange.settle();
  EXPECT_TRUE(exchange.server(0).input_closed());
  EXPECT_TRUE(exchange.server(1).input_closed());
  EXPECT_FALSE(exchange.server(2).input_closed());
  EXPECT_FALSE(exchange.server(3).input_closed());
}

TEST_F(SharedParking, AFullPoolEndsTheLeastRecentlyUsedInstance) {
  exchange.spec->entry.idle = std::chrono::hours(1);
  exchange.pool.set_limits({.max_instances = 2});
  std::vector<FakeClient*> clients;
  for (int root = 0; root < 3; ++root) {
    exchange.spec = std::make_shared<pool::ServerSpec>(*exchange.spec);
    exchange.spec->launch.directory = "/" + std::to_string(root);
    exchange.spec->entry.stateless = true;
    clients.push_back(&exchange.ready_client());
    exchange.clock.pass(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(exchange.server(0).input_closed());
  EXPECT_FALSE(exchange.server(1).input_closed());
  EXPECT_STREQ(clients[0]->session.attachment().state(), "parked");
}

TEST_F(SharedParking, APoolFullOfWorkingInstancesRefuses) {
  exchange.pool.set_limits({.max_instances = 1});
  FakeClient& busy = exchange.ready_client();
  busy.say(request("1", "tools/call"));
  exchange.settle();
  exchange.spec = std::make_shared<pool::ServerSpec>(*exchange.spec);
  exchange.spec->launch.directory = "/elsewhere";
  FakeClient& late = exchange.connect();
  late.say(kInitialize);
  exchange.settle();
  EXPECT_THAT(late.heard().at(0), HasSubstr("max_instances"));
  EXPECT_EQ(exchange.started(), 1U);
  EXPECT_FALSE(exchange.server().input_closed());
}

}  // namespace
}  // namespace corral::tests
