// Where a bound lies, to the byte, and where haste ends: at the servers of the session that is in haste.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::tests {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{1} << 20;  // bytes, while a server starts
constexpr std::size_t kMostBehind = std::size_t{64} << 10;  // that are read beyond it

/// A call whose text has so many bytes.
std::string call_of(std::size_t bytes) {
  const std::string head = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")";
  const std::string tail = "\"}}";
  return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
}

/// Whether a session is read on after a call of so many bytes, and 64 KiB of something else.
bool is_read_behind(std::size_t call, std::size_t more) {
  Exchange exchange;
  FakeClient& client = exchange.connect();
  client.say(kInitialize);
  client.say(call_of(call));
  EXPECT_TRUE(client.reading) << "a cancellation may follow it";
  client.say(call_of(more));
  return client.reading;
}

TEST(Edges, ASessionIsReadUntilOneMebibyteWaitsForItsServerAndSixtyFourKibibytesBehindIt) {
  EXPECT_TRUE(is_read_behind(kMostWaiting, kMostBehind - 1));
  EXPECT_FALSE(is_read_behind(kMostWaiting, kMostBehind));
  EXPECT_TRUE(is_read_behind(kMostWaiting - kMostBehind - 1, kMostBehind));
  EXPECT_TRUE(is_read_behind(kMostWaiting - kMostBehind, kMostBehind)) << "it is what makes it enough";
}

TEST(Edges, TheHasteOfOneSessionIsNotThatOfAnother) {
  Exchange exchange(config::Share::Session);
  FakeClient& first = exchange.ready_client();
  FakeClient& second = exchange.ready_client();
  ASSERT_EQ(exchange.started(), 2U);

  first.session.end(session::EndReason::InputClosed);
  exchange.settle();
  EXPECT_EQ(exchange.server(0).stops_told(), 0U) << "it may leave by itself";
  first.session.end(session::EndReason::ClientGone);
  exchange.settle();

  EXPECT_EQ(exchange.server(0).stops_told(), 1U);
  EXPECT_EQ(exchange.server(1).stops_told(), 0U);
  EXPECT_FALSE(exchange.server(1).input_closed());
  second.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  exchange.settle();
  EXPECT_THAT(exchange.server(1).heard(), testing::SizeIs(1));
}

}  // namespace
}  // namespace corral::tests
