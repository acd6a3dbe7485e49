#include "http/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "survey/temp_files.h"

namespace corral::http {
namespace {

class ListenerTest : public survey::TempFiles {
 protected:
  void open(const Limits& limits = {}) {
    address_.sun_family = AF_UNIX;
    strncpy(address_.sun_path, (root() + "/s").c_str(), sizeof address_.sun_path - 1);
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_), 0);
    ASSERT_EQ(listen(socket.get(), 256), 0);
    listener_.emplace(loop_, std::move(socket), limits,
                      [this](const Request& request, std::shared_ptr<Exchange> exchange) {
                        peers_.push_back(*request.peer);
                        held_.push_back(std::move(exchange));
                      });
  }
  UniqueFd connect_client(std::string_view text = "") {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0) return {};
    if (!text.empty()) {
      EXPECT_GT(send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), 0);
    }
    return socket;
  }
  /// All that has come, and "(end)" if the listener hung up.
  std::string heard(const UniqueFd& socket) {
    loop_.run_due();
    std::array<char, 4096> bytes;
    const ssize_t got = recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got < 0) return "";
    if (got == 0) return "(end)";
    return std::string(bytes.data(), static_cast<std::size_t>(got)) + heard(socket);
  }

  const std::string get_ = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  Loop loop_;
  sockaddr_un address_{};
  std::vector<Peer> peers_;
  std::vector<std::shared_ptr<Exchange>> held_;
  std::optional<Listener> listener_;
};

TEST_F(ListenerTest, CountsNothingBeforeAnybodyComes) {
  open();
  EXPECT_EQ(listener_->connections(), 0U);
  const ListenerCounters& counters = listener_->counters();
  EXPECT_EQ(counters.accepted + counters.refused + counters.requests + counters.malformed + counters.too_slow,
            0U);
}

TEST_F(ListenerTest, TurnsAwayWhoIsTooMuchWithAWord) {
  Limits limits;
  limits.connections = 2;
  open(limits);
  UniqueFd one = connect_client();
  const UniqueFd two = connect_client();
  const UniqueFd three = connect_client(get_);
  const std::string body =
      "{\"error\":\"there are too many connections: close some that are not needed, or try again later\"}\n";
  EXPECT_EQ(heard(three),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\n"
            "Content-Length: " +
                std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body + "(end)");
  EXPECT_EQ(listener_->counters().accepted, 2U);
  EXPECT_EQ(listener_->counters().refused, 1U);
  EXPECT_EQ(listener_->connections(), 2U);

  one.reset();
  loop_.run_due();
  EXPECT_EQ(listener_->connections(), 1U);
  const UniqueFd four = connect_client(get_);
  loop_.run_due();
  EXPECT_EQ(held_.size(), 1U) << "there is room again";
}

TEST_F(ListenerTest, TurnsAwayWhoHasTooManyOfItsOwn) {
  Limits limits;
  limits.connections_per_peer = 1;
  open(limits);
  const UniqueFd one = connect_client();
  const UniqueFd two = connect_client();
  EXPECT_TRUE(heard(two).starts_with("HTTP/1.1 503 ")) << "all of this are one user's";
  EXPECT_EQ(listener_->counters().refused, 1U);
  EXPECT_EQ(heard(one), "");
}

TEST_F(ListenerTest, KnowsWhoIsAtALocalSocket) {
  open();
  const UniqueFd client = connect_client(get_);
  loop_.run_due();
  ASSERT_EQ(peers_.size(), 1U);
  EXPECT_EQ(peers_[0].socket, Peer::Socket::Unix);
  EXPECT_TRUE(peers_[0].ours);
  EXPECT_EQ(peers_[0].pid, getpid());
}

TEST_F(ListenerTest, LetsSoManyInAtOnceAndThenOthersHaveTheirTurn) {
  open();
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 130; ++i) clients.push_back(connect_client());
  std::vector<std::size_t> seen;
  const std::function<void()> look = [&] {
    seen.push_back(listener_->connections());
    if (seen.size() < 3) loop_.post(look);
  };
  loop_.post(look);
  loop_.run_due();
  EXPECT_EQ(seen, (std::vector<std::size_t>{64, 128, 130}));
}

TEST_F(ListenerTest, GivesTheLastAnswersWhenItIsClosed) {
  open();
  const UniqueFd idle = connect_client();
  const UniqueFd busy = connect_client(get_);
  loop_.run_due();
  ASSERT_EQ(held_.size(), 1U);
  listener_->close();
  EXPECT_FALSE(connect_client().valid());
  EXPECT_EQ(heard(idle), "(end)");
  EXPECT_EQ(listener_->connections(), 1U);
  held_[0]->reply({200, {}, "last", nullptr});
  EXPECT_EQ(heard(busy), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlast(end)");
}

TEST_F(ListenerTest, TakesItsConnectionsWithIt) {
  open();
  const UniqueFd client = connect_client(get_);
  loop_.run_due();
  int gone = 0;
  held_.at(0)->when_gone([&] { ++gone; });
  listener_.reset();
  EXPECT_EQ(heard(client), "(end)");
  EXPECT_EQ(gone, 0) << "nobody is called any more";
  held_[0]->reply({200, {}, "nobody hears it", nullptr});
}

}  // namespace
}  // namespace corral::http
