// How long a connection waits for its client.
#include <gtest/gtest.h>

#include "http/connection_fixture.h"

namespace corral::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kMoment{1};
const std::string kLateHead = "the rest of the request's head did not arrive in time: send it faster";
const std::string kLateBody = "the rest of the request's body did not arrive in time: send it faster";

class ConnectionTimes : public ConnectionFixture {
 protected:
  /// Nothing happens before that time, and then the connection is let go.
  void expect_end_after(Clock::duration time) {
    pass(time - kMoment);
    EXPECT_EQ(left_, 0);
    pass(kMoment);
    EXPECT_EQ(left_, 1);
  }
};

TEST_F(ConnectionTimes, WaitTenSecondsForTheFirstByte) {
  open();
  let_go();
  expect_end_after(seconds(10));

  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
  EXPECT_EQ(shared_->counters.too_slow, 1U);
}

TEST_F(ConnectionTimes, CountForTheFirstHeadFromTheBeginning) {
  open();
  let_go();
  pass(seconds(9));
  send("GET / HT");
  pass(seconds(1) - kMoment);
  EXPECT_EQ(heard(), "");
  pass(kMoment);

  EXPECT_EQ(heard(), closing(408, kLateHead));
  EXPECT_EQ(shared_->counters.too_slow, 1U);
  EXPECT_EQ(shared_->counters.malformed, 0U);
  EXPECT_TRUE(over_) << "nothing more will be said";
  EXPECT_EQ(left_, 0) << "but what still comes is read";
  expect_end_after(seconds(2));
  EXPECT_EQ(shared_->counters.too_slow, 1U) << "it is counted once";
}

TEST_F(ConnectionTimes, CountForALaterHeadFromItsFirstByte) {
  open();
  send(post("/echo", "a"));
  ASSERT_EQ(heard(), ok("a"));
  pass(seconds(74));
  send("GET / HT");
  pass(seconds(10) - kMoment);
  send("TP");
  EXPECT_EQ(heard(), "");
  pass(kMoment);

  EXPECT_EQ(heard(), closing(408, kLateHead));
}

TEST_F(ConnectionTimes, LetAClientBeIdleFor75Seconds) {
  open();
  let_go();
  send(post("/echo", "a"));
  ASSERT_EQ(heard(), ok("a"));
  expect_end_after(seconds(75));

  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
  EXPECT_EQ(shared_->counters.too_slow, 0U) << "that is not a fault";
}

TEST_F(ConnectionTimes, BeginAgainWithEachPieceOfABody) {
  open();
  send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
  for (const char* piece : {"a", "b"}) {
    pass(seconds(20) - kMoment);
    send(piece);
  }
  pass(seconds(20) - kMoment);
  EXPECT_EQ(heard(), "");
  pass(kMoment);

  EXPECT_EQ(heard(), closing(408, kLateBody));
  EXPECT_EQ(shared_->counters.too_slow, 1U);
  EXPECT_EQ(shared_->bodies, 0U) << "its bytes are free for others";
}

TEST_F(ConnectionTimes, DoNotEndWhileARequestIsBeingAnswered) {
  open();
  send(get("/later"));
  ASSERT_EQ(held_.size(), 1U);
  pass(seconds(3600));
  held().reply(text("at last"));

  EXPECT_EQ(heard(), ok("at last"));
  EXPECT_EQ(shared_->counters.too_slow, 0U);
}

/// The bytes come when it is too late to read them before the timer: as on a machine that was asleep.
TEST_F(ConnectionTimes, AreLongerOnceIfWeAreTheOnesWhoAreLate) {
  Timer before(loop_);
  before.start(seconds(10), [&] { ASSERT_EQ(::send(client_.get(), "GET /l", 6, MSG_NOSIGNAL), 6); });
  open();
  Timer again(loop_);
  again.start(seconds(10) + milliseconds(100),
              [&] { ASSERT_EQ(::send(client_.get(), "ater", 4, MSG_NOSIGNAL), 4); });
  pass(seconds(10));
  EXPECT_EQ(left_, 0);
  EXPECT_EQ(shared_->counters.too_slow, 0U);
  pass(milliseconds(99));
  EXPECT_EQ(heard(), "");
  pass(kMoment);

  EXPECT_EQ(heard(), closing(408, kLateHead)) << "not a second time";
}

TEST_F(ConnectionTimes, AreGracedAgainForTheNextRequest) {
  open();
  for (int i = 0; i < 2; ++i) {
    Timer late(loop_);
    send("G");
    late.start(seconds(10) - kMoment, [&] {
      clock_.pass(kMoment);  // now the patience is over
      ASSERT_GT(::send(client_.get(), get("/echo").data() + 1, get("/echo").size() - 1, MSG_NOSIGNAL), 0);
    });
    pass(seconds(10) - kMoment);
    turn();
    EXPECT_EQ(heard(), ok("")) << i;
  }
}

TEST_F(ConnectionTimes, AreThirtySecondsForAClientThatTakesNothing) {
  open();
  send(get("/later"));
  int gone = 0;
  held().when_gone([&] { ++gone; });
  held().reply(text(std::string(std::size_t{4} << 20, 'x')));
  turn();
  expect_end_after(seconds(30));

  EXPECT_EQ(shared_->counters.too_slow, 1U);
  EXPECT_EQ(shared_->unsent, 0U);
  EXPECT_EQ(gone, 0) << "it was answered";
}

TEST_F(ConnectionTimes, BeginAgainWithEachByteTaken) {
  open();
  send(get("/later"));
  held().reply(text(std::string(std::size_t{4} << 20, 'x')));
  turn();
  std::string bytes(std::size_t{256} << 10, '\0');
  for (int i = 0; i < 3; ++i) {
    pass(seconds(30) - kMoment);
    ASSERT_GT(recv(client_.get(), bytes.data(), bytes.size(), 0), 0);
    turn();
  }
  EXPECT_EQ(left_, 0);
  expect_end_after(seconds(30));
}

TEST_F(ConnectionTimes, OfAStreamThatNobodyReadsEndIt) {
  open();
  send(get("/later"));
  int gone = 0;
  held().when_gone([&] { ++gone; });
  held().begin(200, {});
  const std::string piece(std::size_t{1} << 20, 'x');
  held().write({piece, nullptr});
  turn();
  pass(seconds(15));
  held().write({piece, nullptr});  // which does not count as progress
  pass(seconds(15) - kMoment);
  EXPECT_EQ(gone, 0);
  pass(kMoment);

  EXPECT_EQ(gone, 1);
  EXPECT_EQ(left_, 1);
  EXPECT_EQ(shared_->counters.too_slow, 1U);
}

TEST_F(ConnectionTimes, OfAStreamThatIsReadHaveNoEnd) {
  open();
  send(get("/later"));
  int drained = 0;
  held().when_drained([&] { ++drained; });
  held().begin(200, {});
  held().write({std::string(std::size_t{1} << 20, 'x'), nullptr});
  turn();
  EXPECT_EQ(drained, 0);
  EXPECT_GT(held().queued(), 0U);
  heard();
  EXPECT_EQ(drained, 1);
  EXPECT_EQ(held().queued(), 0U);
  pass(seconds(3600));

  EXPECT_EQ(left_, 0);
  held().write({"on", nullptr});
  EXPECT_EQ(heard(), "2\r\non\r\n");
}

}  // namespace
}  // namespace corral::http
