// One connection at the daemon's socket, and a shim at its other end that does nothing by itself. What the
// session opener is told is kept. Time passes only when a test says so.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/held_clock.h"
#include "transport/control_connection.h"

namespace corral::transport {

class KeepingOpener final : public SessionOpener {
 public:
  void open(Arrival arrival, std::shared_ptr<ShimLine> line) override {
    arrivals.push_back(std::move(arrival));
    lines.push_back(std::move(line));
  }
  void answer(Question question, Answer answer) override {
    questions.push_back(std::move(question));
    answers.push_back(std::move(answer));
  }

  std::vector<Arrival> arrivals;
  std::vector<std::shared_ptr<ShimLine>> lines;
  std::vector<Question> questions;
  std::vector<Answer> answers;
};

class ControlLine : public testing::Test {
 protected:
  static constexpr pid_t kShim = 4711;

  void SetUp() override {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    shim_ = UniqueFd(ends[1]);
    copy_ = UniqueFd(dup(ends[0]));
    context_ =
        std::make_shared<ListenerContext>(ListenerContext{loop_, opener_, control::surroundings_of(0), {}});
    connection_ =
        std::make_shared<ControlConnection>(context_, UniqueFd(ends[0]), kShim, [this](const auto& which) {
          EXPECT_EQ(which, connection_);
          ++finished_;
        });
    connection_->start();
  }

  void turn() { loop_.run_due(); }
  void pass(Clock::duration time) {
    clock_.pass(time);
    turn();
  }

  /// Everything is taken, or nobody is there.
  void send(std::string_view bytes, std::span<const int> descriptors = {}) {
    while (!bytes.empty()) {
      const ssize_t sent = descriptors.empty() ? ::send(shim_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL)
                                               : send_beside(bytes, descriptors);
      descriptors = {};
      turn();
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN) return;
    }
  }

  /// What the daemon has said since the last time.
  std::string heard() {
    std::string text;
    std::array<char, 65536> bytes;
    for (;;) {
      turn();
      const ssize_t got = recv(shim_.get(), bytes.data(), bytes.size(), 0);
      if (got == 0) over_ = true;
      if (got <= 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }

  /// The kernel takes nothing more of what is said; returns how much the shim has to read first.
  std::size_t fill_socket() {
    const std::string junk(4096, 'j');
    std::size_t size = 0;
    for (std::size_t piece = junk.size(); piece > 0; piece /= 2) {
      ssize_t sent = 0;
      while ((sent = ::send(copy_.get(), junk.data(), piece, MSG_NOSIGNAL)) > 0) {
        size += static_cast<std::size_t>(sent);
      }
    }
    return size;
  }
  /// Nothing but the connection itself keeps it open.
  void let_go() { copy_.reset(); }

  static control::Hello hello_for(control::Verb verb) {
    control::Hello hello;
    hello.verb = verb;
    hello.cwd = "/";
    return hello;
  }

  /// A shim that has been let in, with two pipes that nobody uses.
  ShimLine& let_in() {
    let_go();
    control::Hello hello = hello_for(control::Verb::Connect);
    hello.server = "files";
    hello.descriptors = {"input", "output"};
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    send(control::encode(hello), ends);
    for (const int end : ends) close(end);
    EXPECT_EQ(opener_.lines.size(), 1U);
    return *connection_;
  }

  tests::HeldClock clock_;
  Loop loop_;
  KeepingOpener opener_;
  std::shared_ptr<ListenerContext> context_;
  UniqueFd shim_;
  UniqueFd copy_;  // of the connection's end
  int finished_ = 0;
  bool over_ = false;  // the daemon hung up
  std::shared_ptr<ControlConnection> connection_;

 private:
  ssize_t send_beside(std::string_view bytes, std::span<const int> descriptors) {
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    return sendmsg(shim_.get(), &message, MSG_NOSIGNAL);
  }
};

}  // namespace corral::transport
