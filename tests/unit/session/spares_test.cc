// Private instances that wait for their session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Spares : public testing::Test {
 protected:
  Spares() { exchange.spec->entry.warm = 1; }

  FakeClient& connect(const std::string& name = "tester") {
    FakeClient& client = exchange.connect();
    client.say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
               R"("capabilities":{"sampling":{}},"clientInfo":{"name":")" +
               name + R"(","version":"1"}}})");
    exchange.settle();
    return client;
  }
  std::size_t spares() const {
    std::size_t count = 0;
    for (const pool::Slot& slot : exchange.pool.slots()) count += slot.holder().is_spare() ? 1 : 0;
    return count;
  }

  Exchange exchange{config::Share::Session};
};

TEST_F(Spares, OneIsStartedBesideTheFirstSessionAndGivenToTheSecond) {
  connect();
  ASSERT_EQ(exchange.started(), 2U);
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(0)));
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_EQ(spares(), 1U);

  FakeClient& second = connect();

  EXPECT_THAT(second.heard(), ElementsAre(HasSubstr("serverInfo"))) << "at once";
  EXPECT_EQ(exchange.started(), 3U) << "and another one takes its place";
  EXPECT_EQ(spares(), 1U);
  second.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}})");
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard(), ElementsAre(HasSubstr("tools/call")));
}

TEST_F(Spares, HearsNothingBeforeItsClientIsThere) {
  connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  EXPECT_THAT(exchange.server(1).heard(), IsEmpty()) << "not even notifications/initialized";
}

TEST_F(Spares, AnotherClientDoesNotGetIt) {
  connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(0)));
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  FakeClient& other = connect("somebody else");
  EXPECT_THAT(other.heard(), IsEmpty());
  EXPECT_EQ(exchange.started(), 4U) << "one for it, and a spare of its kind";
}

TEST_F(Spares, AUsedOneIsNeverGivenAgain) {
  connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(0)));
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  FakeClient& second = connect();
  second.session.end(session::EndReason::InputClosed);
  exchange.settle();
  EXPECT_TRUE(exchange.server(1).input_closed());
}

TEST_F(Spares, TheyGoWithTheIdleTime) {
  exchange.spec->entry.idle = std::chrono::milliseconds(20);
  FakeClient& client = connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(0)));
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  ASSERT_TRUE(exchange.until([&] { return exchange.server(1).input_closed(); }));
  exchange.server(1).exit(0);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U) << "and none follows before somebody comes";
  EXPECT_FALSE(client.session.ended());
}

TEST_F(Spares, OneThatDiesIsNotStartedOverAndOver) {
  connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(0)));
  exchange.server(1).exit(1 << 8);
  exchange.settle();
  EXPECT_EQ(exchange.started(), 2U);
  EXPECT_EQ(spares(), 0U);
}

TEST_F(Spares, CountTowardsTheInstancesThereMayBe) {
  exchange.pool.set_limits({.max_instances = 1, .keep = 9, .drain = std::chrono::seconds(1), .restart = {}});
  connect();
  EXPECT_EQ(exchange.started(), 1U);
}

TEST_F(Spares, NobodyHasToGoForOne) {
  exchange.spec->entry.park = true;
  exchange.pool.set_limits({.max_instances = 3, .keep = 9, .drain = std::chrono::seconds(1), .restart = {}});
  connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(0)));
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  connect("somebody else");
  EXPECT_EQ(exchange.started(), 3U);
  EXPECT_FALSE(exchange.server(0).input_closed());
  EXPECT_FALSE(exchange.server(1).input_closed());
}

TEST_F(Spares, EndWithTheDaemon) {
  connect();
  ASSERT_TRUE(exchange.answer_handshake(exchange.server(1)));
  exchange.pool.stop_all(instance::Instance::Haste::Polite);
  exchange.settle();
  EXPECT_TRUE(exchange.server(1).input_closed());
}

}  // namespace
}  // namespace corral::tests
