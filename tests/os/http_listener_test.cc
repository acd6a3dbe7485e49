// The HTTP listener with real sockets: connections that go on, answers that come later or in pieces, and
// clients that hang up.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

#include "support/eventually.h"
#include "support/http_listener.h"

namespace corral::os_tests {
namespace {

std::string post(std::string_view path, std::string_view body, std::string_view headers = "") {
  return std::string("POST ").append(path).append(" HTTP/1.1\r\nHost: a\r\n").append(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
std::string get(std::string_view path) {
  return std::string("GET ").append(path).append(" HTTP/1.1\r\nHost: a\r\n\r\n");
}
std::string ok(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
http::Response text(std::string body) { return {200, {}, std::move(body), nullptr}; }
wire::Line piece(std::string_view bytes) { return {bytes, nullptr}; }

class HttpListener : public HttpListenerTest {};

TEST_F(HttpListener, AnswersOneRequestAfterTheOtherOnOneConnection) {
  open();
  Client client = connect();

  for (const std::string body : {"one", "", "three"}) {
    send(client, post("/echo", body));
    EXPECT_EQ(read_to(client, ok(body)), ok(body));
  }
  EXPECT_EQ(listener_->connections(), 1U);
  EXPECT_EQ(listener_->counters().requests, 3U);
}

TEST_F(HttpListener, AnswersWhatWasSentAheadInOrder) {
  open();
  Client client = connect();
  send(client, post("/later", "1") + post("/echo", "2") + post("/later", "3") + post("/echo", "4"));

  ASSERT_TRUE(holds(1));
  EXPECT_EQ(listener_->counters().requests, 1U) << "the next is not looked at before this one has its answer";
  held_[0].exchange->reply(text("first"));
  EXPECT_EQ(listener_->counters().requests, 1U) << "and not from within the answer";
  ASSERT_TRUE(holds(2));
  EXPECT_EQ(*held_[1].request.body, "3");
  held_[1].exchange->reply(text("third"));
  EXPECT_EQ(read_to(client, ok("4")), ok("first") + ok("2") + ok("third") + ok("4"));
}

TEST_F(HttpListener, AnswersInOrderWhatFillsMoreThanOneRead) {
  open();
  Client client = connect();
  std::string ahead;
  std::string answers;
  for (int i = 0; i < 4000; ++i) {
    const std::string body = std::to_string(1000000 + i);
    ahead += post("/echo", body);
    answers += ok(body);
  }
  ASSERT_GT(ahead.size(), std::size_t{128} << 10);
  std::string_view left = ahead;
  EXPECT_TRUE(eventually([&] {
    while (!left.empty()) {  // as much as the kernel takes, before anything of it is read
      const ssize_t sent = ::send(client.socket.get(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
    turn();
    read_some(client);
    return client.got.size() >= answers.size();
  })) << left.size()
      << " not taken, " << client.got.size() << " answered";
  EXPECT_TRUE(client.got == answers)
      << "the first difference is at byte "
      << std::mismatch(answers.begin(), answers.end(), client.got.begin(), client.got.end()).first -
             answers.begin();
}

TEST_F(HttpListener, AnswersWithALineInWhichOneThingIsReplaced) {
  open();
  Client client = connect();
  const std::string filler(std::size_t{3} << 20, 'x');
  for (const std::string& rest : {std::string("small"), filler}) {
    const auto owner = std::make_shared<const std::string>(R"({"id":7,"result":")" + rest + "\"}\nnext");
    const std::string_view line = std::string_view(*owner).substr(0, owner->find('\n'));
    const std::string body = R"({"id":"mine","result":")" + rest + "\"}";
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n";
    send(client, get("/later"));
    ASSERT_TRUE(holds(1));
    held_[0].exchange->reply_json({line, owner}, {{6, 7}, R"("mine")"});
    held_.clear();
    EXPECT_TRUE(read_to(client, body) == head + body) << rest.size();
  }
  send(client, post("/echo", "and goes on"));
  EXPECT_EQ(read_to(client, ok("and goes on")), ok("and goes on"));
}

TEST_F(HttpListener, TakesOnlySoMuchThatIsSentAhead) {
  open_unix();
  Client client = connect();
  send(client, post("/later", ""));
  ASSERT_TRUE(holds(1));
  const std::string one(10000, 'x');
  constexpr int kCount = 400;
  std::string ahead;
  for (int i = 0; i < kCount; ++i) ahead += post("/echo", one);
  std::string_view left = ahead;
  const auto send_some = [&] {
    const ssize_t sent = ::send(client.socket.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent > 0) left.remove_prefix(static_cast<std::size_t>(sent));
    turn();
  };
  for (int i = 0; i < 100; ++i) send_some();
  EXPECT_GT(left.size(), ahead.size() / 2) << "it is the client who has to keep it";
  held_[0].exchange->reply(text("now"));

  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 100; ++i) {
      if (!left.empty()) send_some();
      read_some(client);
    }
    return client.got.size() >= ok("now").size() + kCount * ok(one).size();
  })) << left.size()
      << " not taken, " << client.got.size() << " answered";
  EXPECT_EQ(listener_->counters().requests, 1U + kCount);
}

TEST_F(HttpListener, AsksForABodyThatIsHeldBack) {
  open();
  Client client = connect();
  send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(read_to(client, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");

  send(client, "body");
  EXPECT_EQ(read_to(client, "body"), ok("body"));
}

TEST_F(HttpListener, TakesAndGivesChunks) {
  open();
  Client client = connect();
  send(client,
       "POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
       "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  ASSERT_TRUE(holds(1));
  EXPECT_EQ(*held_[0].request.body, "abcde");
  http::Exchange& exchange = *held_[0].exchange;
  exchange.begin(200, {{"Content-Type", "text/event-stream"}});
  exchange.write(piece("data: 1\n\n"));

  EXPECT_EQ(read_to(client, "data: 1\n\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            "9\r\ndata: 1\n\n\r\n");
  exchange.write(piece(""));
  exchange.write(piece("x"));
  exchange.finish();
  exchange.write(piece("too late"));
  EXPECT_EQ(read_to(client, "0\r\n\r\n"), "1\r\nx\r\n0\r\n\r\n");
  send(client, post("/echo", "again"));
  EXPECT_EQ(read_to(client, "again"), ok("again"));
}

TEST_F(HttpListener, EndsAStreamOfHttp10WithTheConnection) {
  open();
  Client client = connect();
  send(client, "GET /stream HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(holds(1));
  held_[0].exchange->begin(200, {});
  held_[0].exchange->write(piece("plain"));
  held_[0].exchange->finish();

  EXPECT_EQ(rest_of(client), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nplain");
}

TEST_F(HttpListener, SendsNoBodyWhereNoneMayBe) {
  open();
  Client client = connect();
  const auto answer = [&](std::string_view method, http::Response response) {
    send(client, std::string(method).append(" /x HTTP/1.1\r\nHost: a\r\n\r\n"));
    ASSERT_TRUE(holds(1));
    held_[0].exchange->reply(std::move(response));
    held_.clear();
  };
  answer("HEAD", text("body"));
  answer("GET", {204, {}, "body", nullptr});
  answer("GET", {202, {}, "", nullptr});

  EXPECT_EQ(read_to(client, "202 Accepted\r\nContent-Length: 0\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
}

TEST_F(HttpListener, TellsOnceThatAClientIsGone) {
  open();
  const auto reset = [](Client& client) {
    const linger at_once{1, 0};
    setsockopt(client.socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    client.socket.reset();
  };
  const std::vector<std::function<void(Client&)>> ways = {
      [](Client& client) { client.socket.reset(); },
      [](Client& client) { shutdown(client.socket.get(), SHUT_WR); },
      reset,
  };
  for (const bool begun : {false, true}) {
    for (const auto& way : ways) {
      Client client = connect();
      send(client, get("/x"));
      ASSERT_TRUE(holds(1));
      int told = 0;
      http::Exchange& exchange = *held_[0].exchange;
      exchange.when_gone([&] { ++told; });
      if (begun) exchange.begin(200, {});
      turn();

      way(client);
      EXPECT_TRUE(eventually([&] {
        turn();
        return told == 1 && listener_->connections() == 0;
      }));
      exchange.write(piece("ignored"));
      exchange.reply(text("ignored"));
      held_.clear();
      turn();
      EXPECT_EQ(told, 1);
    }
  }
}

TEST_F(HttpListener, TellsALateCallerThatTheClientIsGone) {
  open();
  Client client = connect();
  send(client, get("/x"));
  ASSERT_TRUE(holds(1));
  client.socket.reset();
  ASSERT_TRUE(eventually([&] {
    turn();
    return listener_->connections() == 0;
  }));

  bool told = false;
  held_[0].exchange->when_gone([&] { told = true; });
  EXPECT_FALSE(told) << "not from within the question";
  turn();
  EXPECT_TRUE(told);
}

TEST_F(HttpListener, ClosesWhenAnExchangeIsDroppedWithoutAnAnswer) {
  open();
  for (const bool begun : {false, true}) {
    Client client = connect();
    send(client, get("/x"));
    ASSERT_TRUE(holds(1));
    if (begun) held_[0].exchange->begin(200, {});
    held_.clear();
    EXPECT_EQ(rest_of(client).find("0\r\n\r\n"), std::string::npos) << "an end that is none";
  }
}

TEST_F(HttpListener, OutlivedByItsExchanges) {
  open();
  Client one = connect();
  Client two = connect();
  send(one, get("/x"));
  send(two, get("/x"));
  ASSERT_TRUE(holds(2));
  held_[0].exchange->begin(200, {});

  listener_.reset();
  held_[0].exchange->write(piece("x"));
  held_[0].exchange->finish();
  held_[1].exchange->reply(text("x"));
  EXPECT_EQ(held_[1].exchange->queued(), 0U);
  held_.clear();
  turn();
  EXPECT_EQ(rest_of(one), "");
  EXPECT_EQ(rest_of(two), "");
}

TEST_F(HttpListener, GivesTheLastAnswersWhenItCloses) {
  open();
  Client idle = connect();
  Client busy = connect();
  send(idle, post("/echo", "x"));
  EXPECT_NE(read_to(idle, ok("x")), "");
  send(busy, get("/x"));
  ASSERT_TRUE(holds(1));

  listener_->close();
  EXPECT_EQ(rest_of(idle), "");
  held_[0].exchange->reply(text("last"));
  EXPECT_EQ(rest_of(busy), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast");
}

TEST_F(HttpListener, ServesASocketInTheFileSystem) {
  open_unix();
  Client client = connect();
  send(client, get("/x"));
  ASSERT_TRUE(holds(1));

  EXPECT_EQ(held_[0].exchange->peer().socket, http::Peer::Socket::Unix);
  EXPECT_TRUE(held_[0].request.peer->ours);
  held_[0].exchange->reply(text("hello"));
  EXPECT_EQ(read_to(client, "hello"), ok("hello"));
}

}  // namespace
}  // namespace corral::os_tests
