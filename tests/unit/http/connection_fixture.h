// One HTTP connection, and a client at its other end that does nothing by itself. Time passes only when a
// test says so.
#pragma once

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/held_clock.h"
#include "http/connection.h"

namespace corral::http {

class ConnectionFixture : public testing::Test {
 protected:
  struct Held {
    Request request;
    std::shared_ptr<Exchange> exchange;
  };

  /// Everything is held but /echo, which is answered at once with its body.
  void open(const Limits& limits = {}, Gate gate = nullptr) {
    shared_ = std::make_shared<ListenerState>(
        ListenerState{loop_,
                      limits,
                      [this](const Request& request, std::shared_ptr<Exchange> exchange) {
                        handle(request, std::move(exchange));
                      },
                      std::move(gate),
                      [this](const std::shared_ptr<Connection>&) { ++left_; },
                      {},
                      0,
                      0,
                      {}});
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    client_ = UniqueFd(ends[1]);
    copy_ = UniqueFd(dup(ends[0]));
    connection_ = std::make_shared<Connection>(shared_, UniqueFd(ends[0]), Peer{});
    connection_->start();
  }
  void TearDown() override {
    if (connection_) connection_->abandon();
  }

  void turn() { loop_.run_due(); }
  void pass(Clock::duration time) {
    clock_.pass(time);
    turn();
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      turn();
      if (sent < 0 && errno != EAGAIN) return;
    }
  }
  /// What has come since the last time.
  std::string heard() {
    std::string text;
    std::array<char, 65536> bytes;
    for (;;) {
      turn();
      const ssize_t got = recv(client_.get(), bytes.data(), bytes.size(), 0);
      if (got == 0) over_ = true;
      if (got <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  /// What the client sent and nobody has read.
  int unread() const {
    int size = -1;
    EXPECT_EQ(ioctl(copy_.get(), FIONREAD, &size), 0);
    return size;
  }
  /// Nothing but the connection itself keeps it open.
  void let_go() { copy_.reset(); }
  void hang_up() {
    client_.reset();
    turn();
  }

  Exchange& held(std::size_t which = 0) { return *held_.at(which).exchange; }

  static std::string get(std::string_view path, std::string_view headers = "") {
    return std::string("GET ").append(path).append(" HTTP/1.1\r\nHost: a\r\n").append(headers) + "\r\n";
  }
  static std::string post(std::string_view path, std::string_view body, std::string_view headers = "") {
    return std::string("POST ").append(path).append(" HTTP/1.1\r\nHost: a\r\n").append(headers) +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  }
  static std::string ok(std::string_view body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  }
  static std::string closing(int status, const std::string& sentence, const Headers& more = {}) {
    Response response = error_response(status, sentence);
    response.headers.insert(response.headers.end(), more.begin(), more.end());
    return response_head(status, response.headers, {Framing::Kind::Length, response.body.size()},
                         Afterwards::Closes) +
           response.body;
  }
  static Response text(std::string body) { return {200, {}, std::move(body), nullptr}; }

  tests::HeldClock clock_;
  Loop loop_;
  std::shared_ptr<ListenerState> shared_;
  UniqueFd client_;
  UniqueFd copy_;  // of the connection's end
  std::shared_ptr<Connection> connection_;
  std::vector<Held> held_;
  int left_ = 0;
  bool over_ = false;  // the connection was closed

 private:
  void handle(const Request& request, std::shared_ptr<Exchange> exchange) {
    if (request.path != "/echo") return held_.push_back({request, std::move(exchange)});
    exchange->reply(text(*request.body));
  }
};

}  // namespace corral::http
