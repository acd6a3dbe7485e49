// Whose connection it is, asked of the kernel about real sockets of real users.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "base/unique_fd.h"
#include "http/peer.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using http::Peer;
using http::peer_of_tcp;
using http::peer_of_unix;

sockaddr_in6 address_of(int socket) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return address;
}

in_port_t port_of(int socket) { return address_of(socket).sin6_port; }  // where IPv4 has it, too

enum class Kind { V4, V6, Mapped };

/// Loopback, in one of three ways to write it.
UniqueFd bound(Kind kind, in_port_t port) {
  UniqueFd socket(::socket(kind == Kind::V4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in plain{};
  plain.sin_family = AF_INET;
  plain.sin_port = port;
  plain.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 wide{};
  wide.sin6_family = AF_INET6;
  wide.sin6_port = port;
  if (kind == Kind::V6) wide.sin6_addr = in6addr_loopback;
  if (kind == Kind::Mapped) {
    wide.sin6_addr.s6_addr[10] = wide.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&wide.sin6_addr.s6_addr[12], &plain.sin_addr, 4);
  }
  const auto* address =
      kind == Kind::V4 ? reinterpret_cast<const sockaddr*>(&plain) : reinterpret_cast<const sockaddr*>(&wide);
  EXPECT_EQ(bind(socket.get(), address, kind == Kind::V4 ? sizeof plain : sizeof wide), 0) << strerror(errno);
  return socket;
}

UniqueFd listening(Kind kind = Kind::V4) {
  UniqueFd socket = bound(kind, 0);
  EXPECT_EQ(listen(socket.get(), 8), 0) << strerror(errno);
  return socket;
}

/// Connected to a port of loopback.
UniqueFd visitor(Kind kind, in_port_t port) {
  UniqueFd socket = bound(kind, 0);
  sockaddr_in6 address = address_of(socket.get());
  address.sin6_port = port;
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                    kind == Kind::V4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)),
            0)
      << strerror(errno);
  return socket;
}

UniqueFd accepted(const UniqueFd& listener) {
  return UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

/// Runs a step as another user, in a child that lives until `then` has returned.
void as_another_user(const std::function<void()>& step, const std::function<void()>& then) {
  int done[2];
  int leave[2];
  ASSERT_EQ(pipe(done), 0);
  ASSERT_EQ(pipe(leave), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(leave[1]);
    become(*uid_of(User::Ordinary));
    step();
    char word = testing::Test::HasFailure() ? 'n' : 'y';
    if (write(done[1], &word, 1) != 1) _exit(1);
    _exit(read(leave[0], &word, 1) == 0 ? 0 : 1);  // the parent has closed its end, or is gone
  }
  close(leave[0]);
  char word = 0;
  EXPECT_EQ(read(done[0], &word, 1), 1);
  EXPECT_EQ(word, 'y') << "a claim was wrong in the child";
  then();
  close(leave[1]);
  close(done[0]);
  close(done[1]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

class PeerTest : public OsTest {};

TEST_F(PeerTest, ALivingSocketOfOurOwnUserIsOursHoweverItsAddressIsWritten) {
  const std::pair<Kind, Kind> pairs[] = {{Kind::V4, Kind::V4},
                                         {Kind::V6, Kind::V6},
                                         {Kind::Mapped, Kind::V4},
                                         {Kind::V4, Kind::Mapped},
                                         {Kind::Mapped, Kind::Mapped}};
  for (const auto& [own, kind] : pairs) {
    const UniqueFd listener = listening(own);
    const UniqueFd client = visitor(kind, port_of(listener.get()));

    const Peer peer = peer_of_tcp(accepted(listener).get());

    struct stat status {};
    ASSERT_EQ(fstat(client.get(), &status), 0);
    EXPECT_TRUE(peer.ours) << static_cast<int>(own) << static_cast<int>(kind);
    EXPECT_EQ(peer.inode, status.st_ino);
    EXPECT_EQ(peer.address, kind == Kind::V6 ? "::1" : "127.0.0.1");
  }
}

TEST_F(PeerTest, ASocketThatWasClosedIsNobodys) {
  for (const bool reset : {false, true}) {
    const UniqueFd listener = listening();
    UniqueFd client = visitor(Kind::V4, port_of(listener.get()));
    const linger at_once{1, 0};
    if (reset) setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ASSERT_EQ(send(client.get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    client.reset();

    const Peer peer = peer_of_tcp(accepted(listener).get());

    EXPECT_FALSE(peer.ours) << reset;
    EXPECT_EQ(peer.inode, 0u) << reset;
  }
}

TEST_F(PeerTest, AProcessThatListensAtItsOldPortIsNotTheClient) {
  const UniqueFd listener = listening();
  UniqueFd client = visitor(Kind::V4, port_of(listener.get()));
  const in_port_t port = port_of(client.get());
  const int silently = 1;
  if (setsockopt(client.get(), IPPROTO_TCP, TCP_REPAIR, &silently, sizeof silently) != 0) {
    GTEST_SKIP() << "only who may administer the network can leave without a word: " << strerror(errno);
  }
  const UniqueFd stranger = bound(Kind::V4, port);  // before it is free for anybody
  client.reset();
  ASSERT_EQ(listen(stranger.get(), 8), 0) << strerror(errno);

  const Peer peer = peer_of_tcp(accepted(listener).get());

  EXPECT_FALSE(peer.ours);
  EXPECT_EQ(peer.address, "127.0.0.1");
}

TEST_F(PeerTest, AnotherUsersSocketIsNotOurs) {
  if (!running_as_root()) GTEST_SKIP() << "only root can be two users";
  const UniqueFd listener = listening();
  const in_port_t port = port_of(listener.get());

  static UniqueFd client;
  as_another_user([port] { client = visitor(Kind::V4, port); },
                  [&listener] { EXPECT_FALSE(peer_of_tcp(accepted(listener).get()).ours); });
}

TEST_F(PeerTest, RootIsNotOurUserUnlessWeAreRoot) {
  if (!running_as_root()) GTEST_SKIP() << "only root can be two users";
  const UniqueFd listener = listening();
  const UniqueFd client = visitor(Kind::V4, port_of(listener.get()));

  as_another_user([&listener] { EXPECT_FALSE(peer_of_tcp(accepted(listener).get()).ours); }, [] {});
}

TEST_F(PeerTest, AUnixPeerIsWhoConnected) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd other(ends[1]);

  const Peer peer = peer_of_unix(one.get());

  EXPECT_TRUE(peer.ours);
  EXPECT_EQ(peer.pid, getpid());
  if (!running_as_root()) return;
  as_another_user([&one] { EXPECT_FALSE(peer_of_unix(one.get()).ours); }, [] {});
}

}  // namespace
}  // namespace corral::os_tests
