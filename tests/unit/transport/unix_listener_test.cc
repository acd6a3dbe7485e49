#include "transport/unix_listener.h"

#include <gtest/gtest.h>
#include <sys/un.h>

#include <cstring>
#include <optional>

#include "survey/temp_files.h"
#include "transport/control_line.h"

namespace corral::transport {
namespace {

class UnixListenerTest : public survey::TempFiles {
 protected:
  void SetUp() override {
    address_.sun_family = AF_UNIX;
    strncpy(address_.sun_path, (root() + "/s").c_str(), sizeof address_.sun_path - 1);
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    ASSERT_EQ(listen(socket.get(), 256), 0);
    listener_.emplace(loop_, std::move(socket), opener_);
  }

  UniqueFd connect_client() const {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0) return {};
    return socket;
  }
  void ask(const UniqueFd& socket) {
    const std::string line = "{\"protocol\":3,\"verb\":\"status\"}\n";
    ASSERT_EQ(send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL), static_cast<ssize_t>(line.size()));
    loop_.run_due();
  }
  /// Whether the daemon hung up on it.
  static bool is_over(const UniqueFd& socket) {
    char byte = 0;
    return recv(socket.get(), &byte, 1, 0) == 0;
  }

  Loop loop_;
  KeepingOpener opener_;
  sockaddr_un address_{};
  std::optional<UnixListener> listener_;
};

TEST_F(UnixListenerTest, CountsNothingBeforeTheFirstConnection) {
  const ListenerCounters& counters = listener_->counters();
  EXPECT_EQ(counters.accepted, 0U);
  EXPECT_EQ(counters.strangers, 0U);
  EXPECT_EQ(counters.too_many, 0U);
  EXPECT_EQ(counters.bad_hellos, 0U);
  EXPECT_EQ(counters.dropped_stderr, 0U);
  EXPECT_EQ(counters.out_of_resources, 0U);
}

TEST_F(UnixListenerTest, AcceptsConnectionsAndNamesTheirProcess) {
  const UniqueFd one = connect_client();
  const UniqueFd two = connect_client();
  ask(two);
  ask(one);

  EXPECT_EQ(listener_->counters().accepted, 2U);
  EXPECT_EQ(listener_->counters().strangers, 0U);
  ASSERT_EQ(opener_.questions.size(), 2U);
  EXPECT_EQ(opener_.questions[0].peer, getpid());
}

TEST_F(UnixListenerTest, AcceptsAFewInEachTurnOfTheLoop) {
  std::vector<UniqueFd> sockets;
  for (int i = 0; i < 130; ++i) sockets.push_back(connect_client());
  std::vector<std::uint64_t> seen;
  const std::function<void()> look = [&] {
    seen.push_back(listener_->counters().accepted);
    if (seen.size() < 3) loop_.post(look);
  };
  loop_.post(look);
  loop_.run_due();

  EXPECT_EQ(seen, (std::vector<std::uint64_t>{64, 128, 130}));
}

TEST_F(UnixListenerTest, ClosingItKeepsTheConnectionsThatItHas) {
  const UniqueFd socket = connect_client();
  ask(socket);
  listener_->close();
  EXPECT_FALSE(connect_client().valid());
  ASSERT_EQ(opener_.answers.size(), 1U);
  opener_.answers[0](control::Reply{control::Reply::Kind::Status, "{}", 0, 0, 0, ""});
  loop_.run_due();

  char bytes[64];
  EXPECT_GT(recv(socket.get(), bytes, sizeof bytes, 0), 0);
  EXPECT_TRUE(is_over(socket));
}

TEST_F(UnixListenerTest, EndsItsConnectionsWithItself) {
  const UniqueFd socket = connect_client();
  ask(socket);
  EXPECT_FALSE(is_over(socket));
  listener_.reset();
  EXPECT_TRUE(is_over(socket));
  ASSERT_EQ(opener_.answers.size(), 1U);
  opener_.answers[0](control::Reply{control::Reply::Kind::Status, "{}", 0, 0, 0, ""});  // nobody is there
  loop_.run_due();
}

}  // namespace
}  // namespace corral::transport
