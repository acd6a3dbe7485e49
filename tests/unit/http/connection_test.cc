// What a connection reads and writes.
#include "http/connection.h"

#include <gtest/gtest.h>

#include "http/connection_fixture.h"

namespace corral::http {
namespace {

class ConnectionTest : public ConnectionFixture {};

TEST_F(ConnectionTest, ServesSoManyRequestsThatWereSentAheadAndThenOthersHaveTheirTurn) {
  open();
  std::string ahead = get("/first");
  std::string answers = ok("first");
  for (int i = 0; i < 70; ++i) {
    ahead += post("/echo", std::to_string(i));
    answers += ok(std::to_string(i));
  }
  std::vector<std::uint64_t> served;
  send(ahead);
  ASSERT_EQ(held_.size(), 1U);
  held().reply(text("first"));
  const std::function<void()> look = [&] {
    served.push_back(shared_->counters.requests);
    if (served.size() < 4) loop_.post(look);
  };
  loop_.post(look);

  EXPECT_EQ(heard(), answers);
  EXPECT_EQ(served, (std::vector<std::uint64_t>{33, 65, 71, 71}));
}

TEST_F(ConnectionTest, Reads64KibibytesAheadAndLeavesTheRestToTheClient) {
  open();
  send(get("/later"));
  const std::string ahead(100'000, 'x');
  ASSERT_EQ(::send(client_.get(), ahead.data(), ahead.size(), MSG_NOSIGNAL), 100'000);
  turn();
  EXPECT_EQ(unread(), 100'000 - 65'536);

  int gone = 0;
  held().when_gone([&] { ++gone; });
  hang_up();
  EXPECT_EQ(gone, 1) << "and that it hangs up is noticed all the same";
  EXPECT_EQ(left_, 1);
}

TEST_F(ConnectionTest, NoticesThatItsClientHangsUp) {
  open();
  send(get("/later"));
  int gone = 0;
  held().when_gone([&] { ++gone; });
  turn();
  EXPECT_EQ(gone, 0);
  hang_up();

  EXPECT_EQ(gone, 1);
  EXPECT_EQ(left_, 1);
  held().when_gone([&] { ++gone; });
  EXPECT_EQ(gone, 1);
  turn();
  EXPECT_EQ(gone, 2) << "who asks late is told, too";
  held().reply(text("nobody hears it"));
}

TEST_F(ConnectionTest, AnswersOnce) {
  open();
  send(get("/later"));
  held().reply(text("one"));
  held().reply(text("two"));
  held().reply_json({"{}", nullptr}, {});
  held().begin(200, {});
  held().write({"three", nullptr});
  held().finish();

  EXPECT_EQ(heard(), ok("one"));
  EXPECT_EQ(held().queued(), 0U);
}

TEST_F(ConnectionTest, WritesAStreamInChunksAndGoesOn) {
  open();
  send(get("/later") + post("/echo", "next"));
  held().write({"before it began", nullptr});
  held().finish();
  held().begin(200, {{"A", "b"}});
  held().begin(500, {});
  held().reply(text("instead"));
  held().write({"0123456789abcdef", nullptr});
  held().write({"", nullptr});
  EXPECT_EQ(heard(),
            "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n");
  held().finish();
  held().finish();
  held().write({"behind the end", nullptr});

  EXPECT_EQ(heard(), "0\r\n\r\n" + ok("next"));
}

TEST_F(ConnectionTest, EndsAStreamOfHttp10WithTheConnection) {
  open();
  let_go();
  send("GET /later HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  held().begin(200, {});
  held().write({"all", nullptr});
  held().finish();

  EXPECT_EQ(heard(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall");
  EXPECT_TRUE(over_);
}

TEST_F(ConnectionTest, GoesOnWithHttp10IfItIsAskedTo) {
  open();
  send("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(heard(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_FALSE(over_);
  send(get("/echo"));
  EXPECT_EQ(heard(), ok(""));
}

TEST_F(ConnectionTest, SendsNoBodyWhereNoneMayBe) {
  open();
  send("HEAD /later HTTP/1.1\r\nHost: a\r\n\r\n");
  held(0).reply(text("four"));
  EXPECT_EQ(heard(), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");

  send(get("/later"));
  held(1).reply({204, {}, "nothing", nullptr});
  EXPECT_EQ(heard(), "HTTP/1.1 204 No Content\r\n\r\n");

  send(get("/later"));
  held(2).begin(304, {});
  held(2).write({"nothing", nullptr});
  held(2).finish();
  EXPECT_EQ(heard(), "HTTP/1.1 304 Not Modified\r\n\r\n");

  send("HEAD /later HTTP/1.1\r\nHost: a\r\n\r\n");
  held(3).reply_json({"{\"id\":1}", nullptr}, {{6, 7}, "22"});
  EXPECT_EQ(heard(), "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n");

  send("HEAD /later HTTP/1.1\r\nHost: a\r\n\r\n");
  held(4).begin(200, {});
  held(4).write({"nothing", nullptr});
  held(4).finish();
  EXPECT_EQ(heard(), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST_F(ConnectionTest, SendsALargeBodyWhole) {
  open();
  std::string large(std::size_t{16} << 10, 'x');
  for (int i = 0; i < 2; ++i) {
    send(get("/later"));
    held(static_cast<std::size_t>(i)).reply(text(large));
    EXPECT_TRUE(heard() == ok(large)) << large.size();
    large.pop_back();
  }
}

TEST_F(ConnectionTest, ClosesAfterALastRequest) {
  open();
  let_go();
  send(get("/echo", "Connection: close\r\n") + get("/echo"));

  EXPECT_EQ(heard(), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(over_);
  EXPECT_EQ(shared_->counters.requests, 1U) << "what follows it is not a request";
  send("and more");
  EXPECT_EQ(left_, 0);
  hang_up();
  EXPECT_EQ(left_, 1);
}

TEST_F(ConnectionTest, AsksForABodyThatIsHeldBack) {
  open();
  send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(heard(), "HTTP/1.1 100 Continue\r\n\r\n");
  send("body");
  EXPECT_EQ(heard(), ok("body"));
}

TEST_F(ConnectionTest, AsksForNoBodyThatComesByItself) {
  open();
  for (const std::string expectation : {"Expect: 100-continue\r\n", ""}) {
    send("POST /echo HTTP/1.1\r\nHost: a\r\n" + expectation + "Content-Length: 4\r\n\r\nb");
    EXPECT_EQ(heard(), "");
    send("ody");
    EXPECT_EQ(heard(), ok("body"));
  }
  send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(heard(), "") << "nobody asked";
}

TEST_F(ConnectionTest, AsksTheGateOnlyAboutABodyThatHasNotCome) {
  std::vector<std::string> asked;
  open({}, [&](const Request& head) -> std::optional<Response> {
    asked.push_back(head.path);
    if (head.path == "/echo") return std::nullopt;
    return error_response(403, "no");
  });
  send(post("/later", "here") + get("/later"));
  held(0).reply(text(""));
  turn();
  held(1).reply(text(""));
  heard();
  EXPECT_EQ(asked, std::vector<std::string>{});

  send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n");
  EXPECT_EQ(heard(), ok("c"));
  EXPECT_EQ(asked, std::vector<std::string>{"/echo"}) << "where chunks end is not known before";

  send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(heard(), closing(403, "no"));
  send("ab" + get("/echo"));
  EXPECT_EQ(shared_->counters.requests, 3U);
  EXPECT_EQ(heard(), "") << "where the next request would begin is not known";
}

TEST_F(ConnectionTest, RefusesAHeadAndSaysNothingMore) {
  open();
  send(post("/echo", "a") + "nonsense\r\n\r\n" + get("/echo"));
  const std::string answer = heard();
  EXPECT_TRUE(answer.starts_with(ok("a") + "HTTP/1.1 400 Bad Request\r\n")) << answer;
  EXPECT_EQ(shared_->counters.malformed, 1U);
  EXPECT_EQ(shared_->counters.requests, 1U);
}

TEST_F(ConnectionTest, RefusesAfterAHeadRequestWithABody) {
  open();
  send("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n");
  EXPECT_TRUE(heard().ends_with("}\n")) << "the second answer is not one to HEAD";
}

TEST_F(ConnectionTest, HoldsOnlySoMuchOfAllBodiesThatAreComing) {
  Limits limits;
  limits.bodies = 100;
  open(limits);
  shared_->bodies = 90;  // of others
  send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n0123456789");
  EXPECT_EQ(heard(), "");
  EXPECT_EQ(shared_->bodies, 100U);
  send("0");

  EXPECT_EQ(heard(), closing(503, "too many large requests are arriving at once: try again later",
                             {{"Retry-After", "5"}}));
  EXPECT_EQ(shared_->bodies, 90U);
}

TEST_F(ConnectionTest, FreesABodyThatHasCome) {
  open();
  send("POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo");
  EXPECT_EQ(shared_->bodies, 2U);
  send("dy");
  EXPECT_EQ(shared_->bodies, 0U);
  EXPECT_EQ(*held_.at(0).request.body, "body");
}

TEST_F(ConnectionTest, KeepsOnlySoMuchThatIsNotTaken) {
  for (const bool streams : {false, true}) {
    Limits limits;
    limits.unsent = std::size_t{2} << 20;
    open(limits);
    left_ = 0;
    held_.clear();
    send(get("/later"));
    const std::string much(std::size_t{3} << 20, 'x');
    int gone = 0;
    held().when_gone([&] { ++gone; });
    if (streams) {
      held().begin(200, {});
      held().write({much, nullptr});
      turn();
    } else {
      held().reply(text(much));
    }
    EXPECT_EQ(left_, 1);
    EXPECT_EQ(gone, streams ? 1 : 0);
    EXPECT_EQ(shared_->counters.too_slow, 1U);
    EXPECT_EQ(shared_->unsent, 0U);
  }
}

TEST_F(ConnectionTest, CountsWhatIsNotTakenUntilItIs) {
  open();
  send(get("/later"));
  const std::string much(std::size_t{1} << 20, 'x');
  held().reply(text(much));
  EXPECT_GT(shared_->unsent, 0U);
  EXPECT_LT(shared_->unsent, ok(much).size());
  EXPECT_TRUE(heard() == ok(much));
  EXPECT_EQ(shared_->unsent, 0U);
  EXPECT_EQ(shared_->counters.too_slow, 0U);
}

TEST_F(ConnectionTest, GoesOnAfterAClientThatWasSlow) {
  open();
  const std::string much(std::size_t{1} << 20, 'x');
  for (std::size_t i = 0; i < 2; ++i) {
    send(get("/later"));
    held(i).reply(text(much));
    EXPECT_TRUE(heard() == ok(much)) << i;
  }
  send(post("/echo", "small"));
  EXPECT_EQ(heard(), ok("small"));
}

TEST_F(ConnectionTest, FinishesAStreamThatIsBlocked) {
  open();
  send(get("/later"));
  held().begin(200, {});
  const std::string much(std::size_t{1} << 20, 'x');
  held().write({much, nullptr});
  turn();
  held().finish();
  EXPECT_TRUE(heard() ==
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n" + much + "\r\n0\r\n\r\n");
  send(post("/echo", "small"));
  EXPECT_EQ(heard(), ok("small"));
}

TEST_F(ConnectionTest, ClosesWhenItsExchangeIsDropped) {
  open();
  let_go();
  send(get("/later"));
  held_.clear();
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
  EXPECT_EQ(left_, 1);
}

TEST_F(ConnectionTest, ClosesAtOnceIfNothingHasBegun) {
  open();
  let_go();
  connection_->close_when_done();
  EXPECT_EQ(left_, 1);
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
}

TEST_F(ConnectionTest, ClosesWhenTheRequestThatHasBegunIsAnswered) {
  const std::string last = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na";
  for (const bool whole : {false, true}) {
    open();
    let_go();
    left_ = 0;
    over_ = false;
    held_.clear();
    send(post("/later", "a").substr(0, whole ? std::string::npos : 20));
    connection_->close_when_done();
    EXPECT_EQ(left_, 0);
    if (!whole) send(post("/later", "a").substr(20));
    held().reply(text("a"));
    EXPECT_EQ(heard(), last);
    EXPECT_TRUE(over_);
  }
}

TEST_F(ConnectionTest, IsAbandonedWithoutAWord) {
  open();
  let_go();
  send(get("/later"));
  int gone = 0;
  held().when_gone([&] { ++gone; });
  connection_->abandon();
  turn();

  EXPECT_EQ(gone, 0);
  EXPECT_EQ(left_, 0);
  EXPECT_EQ(heard(), "");
  EXPECT_TRUE(over_);
}

}  // namespace
}  // namespace corral::http
