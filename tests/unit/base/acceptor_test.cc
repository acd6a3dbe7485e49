#include "base/acceptor.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/held_clock.h"

namespace corral {
namespace {

/// An address in no file system: Linux gives the socket a name of its own, which nothing else has.
sockaddr_un name_of(int socket) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address;
}

UniqueFd new_socket() { return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

UniqueFd listening_socket() {
  UniqueFd socket = new_socket();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
  EXPECT_EQ(listen(socket.get(), 128), 0);
  return socket;
}

class AcceptorTest : public testing::Test {
 protected:
  void listen_with(Acceptor::Accepted accepted) {
    UniqueFd socket = listening_socket();
    address_ = name_of(socket.get());
    acceptor_.emplace(loop_, std::move(socket), std::move(accepted), [this] { ++pauses_; });
  }
  void connect_one() {
    UniqueFd& client = clients_.emplace_back(new_socket());
    constexpr socklen_t kAutobound = sizeof(sa_family_t) + 6;  // a NUL and five digits, unix(7)
    ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address_), kAutobound), 0)
        << strerror(errno);
  }

  tests::HeldClock clock_;
  Loop loop_;
  sockaddr_un address_{};
  std::vector<UniqueFd> clients_;
  std::vector<UniqueFd> accepted_;
  int pauses_ = 0;
  std::optional<Acceptor> acceptor_;
};

TEST_F(AcceptorTest, HandsOverEachConnectionOnce) {
  listen_with([this](UniqueFd one) { accepted_.push_back(std::move(one)); });
  connect_one();
  connect_one();
  EXPECT_TRUE(accepted_.empty());

  loop_.run_due();
  connect_one();
  loop_.run_due();

  EXPECT_EQ(accepted_.size(), 3U);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(AcceptorTest, LetsOthersHaveATurnAfterManyConnections) {
  std::size_t at_their_turn = 0;
  listen_with([&](UniqueFd one) {
    accepted_.push_back(std::move(one));
    if (accepted_.size() == 1) loop_.post([&] { at_their_turn = accepted_.size(); });
  });
  for (int i = 0; i < 70; ++i) connect_one();

  loop_.run_due();

  EXPECT_EQ(at_their_turn, 64U);
  EXPECT_EQ(accepted_.size(), 70U);
}

TEST_F(AcceptorTest, MayBeClosedByTheOneThatGetsAConnection) {
  listen_with([this](UniqueFd one) {
    accepted_.push_back(std::move(one));
    acceptor_->close();
  });
  connect_one();
  connect_one();

  loop_.run_due();
  loop_.run_due();

  EXPECT_EQ(accepted_.size(), 1U);
  EXPECT_EQ(acceptor_->socket(), -1);
}

TEST_F(AcceptorTest, MayBeDestroyedByTheOneThatGetsAConnection) {
  listen_with([this](UniqueFd one) {
    accepted_.push_back(std::move(one));
    acceptor_.reset();
  });
  connect_one();
  connect_one();

  loop_.run_due();
  loop_.run_due();

  EXPECT_EQ(accepted_.size(), 1U);
}

// A socket that does not listen: the kernel reports it as ready, and accepting fails each time.
TEST_F(AcceptorTest, BacksOffWhileAcceptingFails) {
  acceptor_.emplace(
      loop_, new_socket(), [](UniqueFd) { FAIL(); }, [this] { ++pauses_; });

  for (int i = 0; i < 5; ++i) loop_.run_due();
  EXPECT_EQ(pauses_, 1);

  clock_.pass(std::chrono::milliseconds(99));
  loop_.run_due();
  EXPECT_EQ(pauses_, 1);
  clock_.pass(std::chrono::milliseconds(1));
  loop_.run_due();
  EXPECT_EQ(pauses_, 2);
}

TEST_F(AcceptorTest, DoesNotTryAgainAfterItWasClosed) {
  acceptor_.emplace(
      loop_, new_socket(), [](UniqueFd) { FAIL(); }, [this] { ++pauses_; });
  loop_.run_due();

  acceptor_->close();
  clock_.pass(std::chrono::seconds(1));
  loop_.run_due();

  EXPECT_EQ(pauses_, 1);
}

}  // namespace
}  // namespace corral
