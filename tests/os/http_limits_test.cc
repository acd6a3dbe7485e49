// The HTTP listener against clients that send too much, take too little, or do neither.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "support/eventually.h"
#include "support/http_listener.h"

namespace corral::os_tests {
namespace {

using std::chrono::milliseconds;

const std::string kRequest = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody";

class HttpLimits : public HttpListenerTest {
 protected:
  /// Sends without turning the loop.
  static bool put(const Client& client, std::string_view text) {
    return ::send(client.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
};

TEST_F(HttpLimits, KeepsALargeAnswerForASlowReaderWithoutACopy) {
  open_unix();
  Client client = connect();
  send(client, kRequest);
  ASSERT_TRUE(holds(1));
  http::Exchange& exchange = *held_[0].exchange;
  const auto large = std::make_shared<const std::string>(std::size_t{4} << 20, 'x');
  int drained = 0;
  exchange.when_drained([&] { ++drained; });
  exchange.begin(200, {});
  exchange.write({*large, large});
  EXPECT_EQ(large.use_count(), 2) << "it is not copied";
  turn();
  EXPECT_GT(exchange.queued(), 0U);
  EXPECT_EQ(drained, 0);

  ASSERT_TRUE(eventually([&] {
    read_some(client);
    return client.got.size() > large->size();
  }));
  turn();
  EXPECT_EQ(exchange.queued(), 0U);
  EXPECT_EQ(drained, 1);
  EXPECT_EQ(large.use_count(), 1);
}

TEST_F(HttpLimits, KeepsOnlySoMuchForAllThatDoNotRead) {
  http::Limits limits;
  limits.unsent = std::size_t{6} << 20;
  open_unix(limits);
  std::vector<Client> clients;
  const auto large = std::make_shared<const std::string>(std::size_t{4} << 20, 'x');
  for (std::size_t i = 0; i < 3; ++i) {
    clients.push_back(connect());
    send(clients.back(), kRequest);
    ASSERT_TRUE(holds(i + 1));
    held_[i].exchange->reply({200, {}, "", large});
    turn();
  }

  EXPECT_EQ(listener_->connections(), 1U) << "there is room for one such answer, not for two";
  EXPECT_TRUE(eventually([&] {
    read_some(clients[0]);
    return clients[0].got.size() > large->size();
  })) << "and the first client gets its answer";
  EXPECT_EQ(large.use_count(), 1);
}

TEST_F(HttpLimits, DropsAClientThatTakesNothing) {
  http::Limits limits;
  limits.write_patience = milliseconds(20);
  open_unix(limits);
  Client client = connect();
  send(client, kRequest);
  ASSERT_TRUE(holds(1));
  bool gone = false;
  held_[0].exchange->when_gone([&] { gone = true; });
  held_[0].exchange->begin(200, {});
  const auto large = std::make_shared<const std::string>(std::size_t{4} << 20, 'x');
  held_[0].exchange->write({*large, large});

  EXPECT_TRUE(eventually([&] {
    turn();
    return gone;
  }));
  EXPECT_EQ(listener_->connections(), 0U);
  EXPECT_EQ(listener_->counters().too_slow, 1U);
  EXPECT_EQ(large.use_count(), 1);
}

TEST_F(HttpLimits, TurnsAwayWhoIsTooMuchUntilSomebodyLeaves) {
  http::Limits limits;
  limits.connections_per_peer = 2;
  open(limits);
  Client one = connect();
  Client two = connect();
  Client three = connect();
  send(three, kRequest);

  const std::string answer = rest_of(three);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nRetry-After: "), std::string::npos);
  EXPECT_EQ(listener_->counters().refused, 1U);
  two.socket.reset();
  ASSERT_TRUE(eventually([&] {
    turn();
    return listener_->connections() == 1;
  }));
  Client four = connect();
  send(four, kRequest);
  EXPECT_TRUE(holds(1));
}

TEST_F(HttpLimits, RefusesALargeHeadAndGivesTheAnswerToAClientThatStillSends) {
  open();
  Client client = connect();
  send(client, "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(std::size_t{1} << 20, 'x'));

  const std::string answer = rest_of(client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 ")) << answer;
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_NE(answer.find(R"({"error":"the request's head is longer than 32768 bytes)"), std::string::npos);
}

TEST_F(HttpLimits, RefusesALargeBodyBeforeItComes) {
  http::Limits limits;
  limits.body = 1000;
  open(limits);
  Client announced = connect();
  send(announced, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n");
  EXPECT_TRUE(read_to(announced, "}\n").starts_with("HTTP/1.1 413 "));
  Client sent = connect();
  send(sent,
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1 << 20, 'x'));
  EXPECT_TRUE(rest_of(sent).starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(listener_->counters().requests, 0U);
}

TEST_F(HttpLimits, HoldsOnlySoMuchOfAllBodiesThatAreStillComing) {
  http::Limits limits;
  limits.bodies = 1000;
  open(limits);
  const std::string half =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 800\r\n\r\n" + std::string(600, 'x');
  Client one = connect();
  Client two = connect();
  send(one, half);
  send(two, half);
  const bool first = eventually([&] {
    read_some(one);
    read_some(two);
    return !one.got.empty() || !two.got.empty();
  });

  ASSERT_TRUE(first);
  Client& refused = one.got.empty() ? two : one;
  Client& other = one.got.empty() ? one : two;
  EXPECT_TRUE(refused.got.starts_with("HTTP/1.1 503 ")) << refused.got;
  send(other, std::string(200, 'x'));
  EXPECT_TRUE(holds(1));
}

TEST_F(HttpLimits, AsksTheGateBeforeABodyIsRead) {
  int asked = 0;
  open({}, [&](const http::Request& head) -> std::optional<http::Response> {
    ++asked;
    if (head.header("Authorization") == "yes") return std::nullopt;
    return http::Response{401, {{"WWW-Authenticate", "Bearer"}}, "who are you?", nullptr};
  });
  Client stranger = connect();
  send(stranger, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000000\r\n\r\n");
  const std::string answer = rest_of(stranger);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
  EXPECT_TRUE(answer.ends_with("who are you?")) << answer;

  Client friendly = connect();
  send(friendly, "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: yes\r\nContent-Length: 2\r\n\r\n");
  send(friendly, "hi");
  EXPECT_TRUE(holds(1));
  EXPECT_EQ(asked, 2);
  Client quick = connect();
  send(quick, kRequest);
  EXPECT_TRUE(holds(2));
  EXPECT_EQ(asked, 2) << "a body that came with its head is the handler's";
}

TEST_F(HttpLimits, GivesUpOnWhoIsSlowToSend) {
  http::Limits limits;
  limits.head_patience = limits.body_patience = milliseconds(20);
  open(limits);
  Client head = connect();
  Client body = connect();
  Client silent = connect();
  // Before the listener reads anything: nothing of it is late.
  EXPECT_TRUE(put(head, "GET / HTTP/1.1\r\nHos"));
  EXPECT_TRUE(put(body, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbo"));

  EXPECT_NE(rest_of(head).find("408 Request Timeout"), std::string::npos);
  EXPECT_NE(rest_of(body).find("408 Request Timeout"), std::string::npos);
  EXPECT_EQ(rest_of(silent), "");
  EXPECT_EQ(listener_->counters().too_slow, 3U);
}

TEST_F(HttpLimits, ClosesAnIdleConnectionButNotOneThatWaitsForItsAnswer) {
  http::Limits limits;
  limits.keep_alive = milliseconds(20);
  open(limits);
  Client idle = connect();
  Client waiting = connect();
  send(waiting, kRequest);
  ASSERT_TRUE(holds(1));
  send(idle, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");

  EXPECT_TRUE(rest_of(idle).ends_with("\r\n\r\nx"));
  EXPECT_EQ(listener_->counters().too_slow, 0U);
  EXPECT_EQ(listener_->connections(), 1U);
  held_[0].exchange->reply({200, {}, "late", nullptr});
  EXPECT_NE(read_to(waiting, "late"), "");
}

}  // namespace
}  // namespace corral::os_tests
