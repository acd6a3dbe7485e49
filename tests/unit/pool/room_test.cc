// Whether there is room for an instance, before anybody waits for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Room : public testing::Test {
 protected:
  explicit Room(config::Share share = config::Share::Session) : exchange_(share) {
    pool::Limits limits;
    limits.max_instances = 4;
    exchange_.pool.set_limits(limits);
    exchange_.spec->key = knowledge::launch_key(exchange_.spec->launch);
  }

  std::shared_ptr<pool::ServerSpec> another(const std::string& program) const {
    auto spec = std::make_shared<pool::ServerSpec>(*exchange_.spec);
    spec->server = program;
    spec->launch.argv = {"/bin/" + program};
    spec->key = knowledge::launch_key(spec->launch);
    return spec;
  }
  std::string objection(std::size_t more = 0) { return objection_for(exchange_.spec, more); }
  std::string objection_for(const std::shared_ptr<pool::ServerSpec>& spec, std::size_t more = 0) {
    return exchange_.pool.why_no_room({spec, "{}", std::nullopt}, more);
  }

  Shares shares;  // outlives those who hold something
  Exchange exchange_;
};

class SharedRoom : public Room {
 protected:
  SharedRoom() : Room(config::Share::Shared) {}
};

TEST_F(Room, IsThereForAsManyAsThereMayBe) {
  EXPECT_EQ(objection(3), "");
  EXPECT_THAT(objection(4),
              AllOf(StartsWith("server files cannot be started, because all instances are in use: "),
                    HasSubstr("this daemon allows at most 4 instances, and 0 are in use")));
  exchange_.ready_client();
  EXPECT_EQ(objection(2), "");
  EXPECT_THAT(objection(3), HasSubstr("and 1 are in use"));
}

TEST_F(Room, IsUsedUpByInstancesThatMayNotBeParked) {
  for (int i = 0; i < 3; ++i) exchange_.ready_client();
  EXPECT_EQ(objection(), "");
  exchange_.ready_client();
  EXPECT_THAT(objection(), HasSubstr("this daemon allows at most 4 instances, and 4 are in use"));
}

TEST_F(Room, IsMadeByThoseThatMayBeParked) {
  exchange_.spec->entry.park = true;
  for (int i = 0; i < 4; ++i) exchange_.ready_client();
  EXPECT_EQ(objection(3), "");
  EXPECT_THAT(objection(4), HasSubstr("4 are in use"));

  exchange_.clients.front().say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}})");
  exchange_.settle();
  EXPECT_EQ(objection(2), "");
  EXPECT_THAT(objection(3), HasSubstr("4 are in use")) << "one of them works";
}

TEST_F(Room, IsFreeAgainOnceAnInstanceIsOnItsWayOut) {
  for (int i = 0; i < 4; ++i) exchange_.ready_client();
  exchange_.clients.front().session.end(session::EndReason::InputClosed);
  exchange_.settle();
  EXPECT_EQ(objection(), "");
  EXPECT_NE(objection(1), "");
}

TEST_F(Room, IsNotNeededWhereASpareWaits) {
  exchange_.spec->entry.warm = 1;
  exchange_.ready_client();
  exchange_.settle();
  ASSERT_EQ(exchange_.started(), 2U);
  exchange_.answer_handshake(exchange_.server(1));
  const auto other = another("other");
  exchange_.spec->entry.warm = 0;
  for (int i = 0; i < 2; ++i) {
    FakeClient& client = exchange_.clients.emplace_back(
        exchange_.loop, router::SessionId(50U + static_cast<unsigned>(i)), exchange_.pool, other, "");
    client.say(kInitialize);
    exchange_.settle();
    exchange_.answer_handshake(exchange_.spawner.servers.back());
  }
  ASSERT_EQ(exchange_.pool.living(), 4U);

  EXPECT_EQ(objection(7), "") << "it gets the one that is ready";
  EXPECT_NE(objection_for(other, 7), "");
}

TEST_F(SharedRoom, IsNotNeededWhereOneRunsThatIsShared) {
  exchange_.ready_client();
  EXPECT_EQ(objection(7), "");
  EXPECT_NE(objection_for(another("other"), 7), "");

  exchange_.pool.retire("files", pool::Cause::Stopped, [](const auto&) {});
  exchange_.settle();
  EXPECT_NE(objection(7), "") << "it is on its way out";
}

TEST_F(SharedRoom, IsNeededByAPrivateSessionUnlessThereIsASpare) {
  exchange_.ready_client();
  const auto own = another("fake-server");
  own->launch = exchange_.spec->launch;
  own->key = exchange_.spec->key;
  own->entry.share = config::Share::Session;
  EXPECT_NE(objection_for(own, 7), "") << "the one that runs is shared";
}

TEST_F(Room, OfATokenIsAQuarterAndOfAllTokensThreeQuarters) {
  const auto user = exchange_.spec;
  const auto start = [&](const std::string& token) {
    exchange_.spec = another(token);
    exchange_.spec->account = &shares.account("token:" + token);
    FakeClient& client = exchange_.connect();
    client.say(kInitialize);
    exchange_.settle();
    if (exchange_.started() > 0) exchange_.answer_handshake(exchange_.spawner.servers.back());
    return client.heard();
  };
  EXPECT_THAT(start("a"), ElementsAre(HasSubstr("result")));
  EXPECT_THAT(start("a"), ElementsAre(HasSubstr("one token may hold at most 1 instances, and 1 are in use")));
  EXPECT_THAT(start("b"), ElementsAre(HasSubstr("result")));
  EXPECT_THAT(start("c"), ElementsAre(HasSubstr("result")));
  EXPECT_THAT(start("d"), ElementsAre(HasSubstr("at most 3 instances, and 3 are in use")));
  EXPECT_EQ(exchange_.started(), 3U);
  EXPECT_EQ(objection_for(user), "") << "the last one is the user's";
}

TEST_F(Room, OfATokenIsMadeAmongItsOwnAndThoseOfTokens) {
  exchange_.spec->entry.park = true;
  const auto user = exchange_.spec;
  exchange_.ready_client();
  exchange_.ready_client();
  const auto token = another("a");
  token->account = &shares.account("token:a");
  exchange_.spec = token;
  exchange_.ready_client();
  ASSERT_EQ(exchange_.started(), 3U);

  exchange_.connect().say(kInitialize);
  exchange_.settle();

  EXPECT_TRUE(exchange_.server(2).input_closed()) << "its own made room";
  EXPECT_FALSE(exchange_.server(0).input_closed());
  EXPECT_FALSE(exchange_.server(1).input_closed());
  EXPECT_EQ(exchange_.started(), 4U);
}

}  // namespace
}  // namespace corral::tests
