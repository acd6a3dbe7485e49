// Which process is behind a connection, and what its death means: real processes with real sockets.
#include "transport/process_lease.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <list>

#include "http/peer.h"
#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

using http::Peer;
using transport::Owner;
using transport::OwnerFinder;
using transport::ProcessLease;

/// A process with one connection. Ends when this does, or we do.
class Visitor {
 public:
  /// With a child, that has the connection too.
  enum class Manner { Alone, Forked };

  Visitor(const sockaddr_in& address, Manner manner) {
    int word[2];
    if (pipe(word) != 0) std::abort();
    pid_ = fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) visit(address, manner, word[1]);
    char ready = 0;
    EXPECT_EQ(read(word[0], &ready, 1), 1);
    close(word[0]);
    close(word[1]);
  }
  ~Visitor() { kill(); }
  Visitor(const Visitor&) = delete;

  pid_t pid() const { return pid_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  [[noreturn]] static void visit(const sockaddr_in& address, Manner manner, int word) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) _exit(1);
    const bool speaks = manner == Manner::Alone || fork() == 0;  // the child, once it is sure to end with us
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (speaks && write(word, "r", 1) != 1) _exit(1);
    for (;;) pause();
  }

  pid_t pid_ = 0;
};

class ProcessLeaseTest : public OsTest {
 protected:
  using Manner = Visitor::Manner;

  ProcessLeaseTest() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address_), size), 0);
    EXPECT_EQ(listen(listener_.get(), 8), 0);
    EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }

  struct Connected {
    std::unique_ptr<Visitor> process;
    UniqueFd connection;
    Peer peer;
  };
  Connected connect(Manner manner = Manner::Alone) const {
    Connected client;
    client.process = std::make_unique<Visitor>(address_, manner);
    client.connection = UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    client.peer = http::peer_of_tcp(client.connection.get());
    EXPECT_TRUE(client.peer.ours);
    return client;
  }

  std::optional<Owner> owner_of(const Peer& peer) {
    bool told = false;
    std::optional<Owner> owner;
    finder.find(peer, [&](std::optional<Owner> found) {
      owner = std::move(found);
      told = true;
    });
    EXPECT_TRUE(soon([&told] { return told; }));
    return owner;
  }

  template <class Claim>
  bool soon(Claim claim) {
    return eventually([&] {
      loop.run_due();
      return claim();
    });
  }

  std::unique_ptr<ProcessLease> lease(bool& over) {
    return std::make_unique<ProcessLease>(
        loop, finder, [&over] { over = true; }, Clock::duration::zero());
  }

  Loop loop;
  OwnerFinder finder{loop};

 private:
  UniqueFd listener_;
  sockaddr_in address_{};
};

TEST_F(ProcessLeaseTest, BindsAtTheSecondMessageAndIsOverWithTheProcess) {
  bool over = false;
  const std::unique_ptr<ProcessLease> held = lease(over);
  const Connected client = connect();

  held->message_from(client.peer);
  ASSERT_TRUE(owner_of(client.peer));  // asked after it, so the first message has been looked up as well
  EXPECT_EQ(held->bound_to(), 0);
  held->message_from(client.peer);
  EXPECT_TRUE(soon([&] { return held->bound_to() == client.process->pid(); }));
  EXPECT_FALSE(over);
  client.process->kill();

  EXPECT_TRUE(soon([&over] { return over; }));
}

TEST_F(ProcessLeaseTest, AMessageOfASecondProcessUnbindsItAndNoDeathEndsIt) {
  bool over = false;
  bool other_over = false;
  const std::unique_ptr<ProcessLease> held = lease(over);
  const std::unique_ptr<ProcessLease> other = lease(other_over);
  const Connected first = connect();
  const Connected second = connect();
  for (ProcessLease* both : {held.get(), other.get()}) {
    both->message_from(first.peer);
    both->message_from(first.peer);
    ASSERT_TRUE(soon([&] { return both->bound_to() == first.process->pid(); }));
  }

  held->message_from(second.peer);
  EXPECT_TRUE(soon([&] { return held->bound_to() == 0; }));
  first.process->kill();

  EXPECT_TRUE(soon([&other_over] { return other_over; }));
  loop.run_due();
  EXPECT_FALSE(over);
}

TEST_F(ProcessLeaseTest, ASocketThatTwoProcessesHoldHasNoOwner) {
  const Connected client = connect(Manner::Forked);

  EXPECT_FALSE(owner_of(client.peer));
}

TEST_F(ProcessLeaseTest, ARememberedSocketIsForgottenWithItsProcess) {
  const Connected client = connect();
  const std::optional<Owner> owner = owner_of(client.peer);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, client.process->pid());
  EXPECT_EQ(owner_of(client.peer)->life, owner->life);

  client.process->kill();

  EXPECT_FALSE(owner_of(client.peer));
  EXPECT_EQ(owner->life.use_count(), 1) << "the finder holds on to a process that is gone";
}

TEST_F(ProcessLeaseTest, ManyAskAtOnceAndEachIsToldItsOwn) {
  std::list<Connected> clients;
  std::list<std::pair<pid_t, pid_t>> owners;  // who it is, who was found
  for (int i = 0; i < 8; ++i) {
    clients.push_back(connect());
    std::pair<pid_t, pid_t>& owner = owners.emplace_back(clients.back().process->pid(), 0);
    finder.find(clients.back().peer,
                [&owner](const std::optional<Owner>& found) { owner.second = found ? found->pid : -1; });
  }

  EXPECT_TRUE(soon([&owners] {
    return std::all_of(owners.begin(), owners.end(), [](const auto& owner) { return owner.second != 0; });
  }));
  for (const auto& [is, found] : owners) EXPECT_EQ(found, is);
}

TEST_F(ProcessLeaseTest, AUnixPeerIsTheProcessThatConnected) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd other(ends[1]);
  Peer peer = http::peer_of_unix(one.get());

  const std::optional<Owner> owner = owner_of(peer);

  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, getpid());
  if (peer.inode == 0) return;
  peer.inode += 1;  // somebody else had the number when it connected
  EXPECT_FALSE(owner_of(peer));
}

TEST_F(ProcessLeaseTest, NobodyIsToldAnythingAfterTheFinderIsGone) {
  bool told = false;
  const Connected client = connect();
  {
    OwnerFinder short_lived(loop);
    short_lived.find(client.peer, [&told](const std::optional<Owner>&) { told = true; });
  }

  ASSERT_TRUE(owner_of(client.peer));  // a walk takes as long for the one as for the other
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace corral::os_tests
