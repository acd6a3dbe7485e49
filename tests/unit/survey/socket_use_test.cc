#include "survey/socket_use.h"

#include <gtest/gtest.h>

namespace corral::survey {
namespace {

constexpr pid_t kServer = 50;
constexpr pid_t kOther = 40;

Process process(pid_t pid) {
  Process fresh;
  fresh.pid = pid;
  fresh.state = 'S';
  return fresh;
}

/// A socket as descriptor `fd` of a process.
Holding socket_of(pid_t pid, std::uint64_t inode, int fd = 20) { return {inode, pid, fd, true, true, true}; }

ProcessTable table(std::vector<Holding> holdings,
                   std::vector<Process> processes = {process(kServer), process(kOther)}) {
  return ProcessTable(std::move(processes), std::move(holdings), 0, 100);
}

UnixSockets pair(std::uint64_t one, std::uint64_t other, const std::string& name_of_other = "") {
  UnixSockets sockets;
  sockets[one].peer = other;
  sockets[other].peer = one;
  sockets[other].name = name_of_other;
  return sockets;
}

TEST(SocketUse, ATcpPortIsNamed) {
  const UnixSockets none;
  SocketUses uses = socket_uses(table({socket_of(kServer, 7)}), {{{7, 8080, 0}}, {}, {7}}, &none);

  EXPECT_EQ(uses[kServer].listens, "TCP port 8080");
  EXPECT_TRUE(uses[kServer].calls.empty());
}

TEST(SocketUse, AConnectionToThePortIsSeenAndAnotherPortsIsNot) {
  const UnixSockets none;
  const ProcessTable processes = table({socket_of(kServer, 7)});

  const SocketUses called = socket_uses(processes, {{{7, 8080, 0}}, {{"a", "b", 8080, 0}}, {7}}, &none);
  ASSERT_EQ(called.at(kServer).calls.size(), 1U);
  EXPECT_EQ(called.at(kServer).calls[0].port, 8080);
  EXPECT_TRUE(called.at(kServer).calls[0].callers.empty()) << "from another machine";
  EXPECT_TRUE(
      socket_uses(processes, {{{7, 8080, 0}}, {{"a", "b", 8081, 0}}, {7}}, &none)[kServer].calls.empty());
}

TEST(SocketUse, AConnectionToThePortNamesWhoHasTheOtherEnd) {
  const UnixSockets none;
  const ProcessTable processes = table({socket_of(kServer, 7), socket_of(kOther, 9)});
  const auto callers = [&](const std::vector<TcpConnection>& connections) {
    return socket_uses(processes, {{{7, 8080, 0}}, connections, {}}, &none).at(kServer).calls.at(0).callers;
  };

  EXPECT_EQ(callers({{"a", "b", 8080, 8}, {"b", "a", 50000, 9}}), std::vector<pid_t>{kOther});
  EXPECT_TRUE(callers({{"a", "b", 8080, 8}, {"b", "a", 50000, 10}}).empty()) << "we cannot see who has it";
  EXPECT_TRUE(callers({{"a", "c", 8080, 8}, {"b", "a", 50000, 9}}).empty()) << "another connection";
}

TEST(SocketUse, AnOutboundTcpConnectionIsNothing) {
  const UnixSockets none;
  EXPECT_TRUE(socket_uses(table({socket_of(kServer, 9)}), {{}, {{"a", "b", 53012, 9}}, {9}}, &none).empty());
}

TEST(SocketUse, AListeningUnixSocketIsNamed) {
  UnixSockets sockets;
  sockets[7].listens = true;
  sockets[7].name = "/tmp/hub";

  EXPECT_EQ(socket_uses(table({socket_of(kServer, 7)}), {}, &sockets)[kServer].listens,
            "the Unix socket /tmp/hub");
}

TEST(SocketUse, AListeningUnixSocketThatAProgramHasForItselfIsNothing) {
  for (const char* name :
       {"/tmp/tsx-1000/4711.pipe", "/tmp/.org.chromium.Chromium.aB3/x",
        "/home/me/.config/profile/SingletonSocket", "/tmp/.com.google.Chrome.x/SingletonSocket"}) {
    UnixSockets sockets;
    sockets[7].listens = true;
    sockets[7].name = name;
    EXPECT_TRUE(socket_uses(table({socket_of(kServer, 7)}), {}, &sockets).empty()) << name;
  }
  for (const char* name : {"", "/tmp/hub", "/tmp/hub.pipe", "x.pipe", "/tmp/tsx-1000/hub", "@SingletonSocket",
                           "/tmp/tsx-1000/sub/hub.pipe"}) {
    EXPECT_FALSE(is_for_itself(name)) << name;
  }
}

TEST(SocketUse, AConnectedUnixSocketNamesWhoHasTheOtherEnd) {
  const UnixSockets sockets = pair(7, 8);
  const SocketUses uses = socket_uses(table({socket_of(kServer, 7), socket_of(kOther, 8)}), {}, &sockets);

  ASSERT_EQ(uses.at(kServer).links.size(), 1U);
  EXPECT_EQ(uses.at(kServer).links[0].peers, std::vector<pid_t>{kOther});
}

TEST(SocketUse, APeerThatWeCannotSeeIsAPeer) {
  const UnixSockets sockets = pair(7, 8);
  const SocketUses uses = socket_uses(table({socket_of(kServer, 7)}), {}, &sockets);

  ASSERT_EQ(uses.at(kServer).links.size(), 1U);
  EXPECT_TRUE(uses.at(kServer).links[0].peers.empty());
}

TEST(SocketUse, AConnectionThatNobodyHasAnyMoreIsNothing) {
  UnixSockets sockets;
  sockets[7].peer = 0;

  EXPECT_TRUE(socket_uses(table({socket_of(kServer, 7)}), {}, &sockets).empty());
}

TEST(SocketUse, StandardStreamsAreNotLinks) {
  Process child = process(kServer);
  child.streams[1] = {Stream::Kind::Socket, 7};
  const UnixSockets sockets = pair(7, 8);
  const ProcessTable processes = table(
      {socket_of(kServer, 7, 1), socket_of(kServer, 7, 5), socket_of(kOther, 8)}, {child, process(kOther)});

  EXPECT_TRUE(socket_uses(processes, {}, &sockets).empty()) << "neither at the child nor at its client";
}

TEST(SocketUse, CommonServicesAreNotPeers) {
  for (const char* name : {"/run/dbus/system_bus_socket",
                           "/run/user/1000/bus",
                           "@/tmp/dbus-x1",
                           "/run/systemd/journal/stdout",
                           "/run/systemd/journal/dev-log",
                           "/dev/log",
                           "/var/lib/sss/pipes/nss",
                           "/run/nscd/socket",
                           "/var/run/docker.sock",
                           "/run/user/1000/podman/podman.sock",
                           "/var/run/postgresql/.s.PGSQL.5432",
                           "/tmp/.s.PGSQL.5433",
                           "/run/mysqld/mysqld.sock",
                           "/tmp/mysql.sock",
                           "/run/redis/redis-server.sock",
                           "/tmp/redis.sock",
                           "/run/user/1000/keyring/control",
                           "/home/me/.cache/keyring-a1/control",
                           "/run/user/1000/gnupg/S.gpg-agent",
                           "/home/me/.gnupg/S.gpg-agent",
                           "/tmp/ssh-XXab12/agent.77",
                           "/run/user/1000/openssh_agent",
                           "/home/me/.ssh/agent/s.1",
                           "/run/user/1000/gcr/ssh",
                           "/run/user/1000/pulse/native",
                           "/run/user/1000/pipewire-0"}) {
    const UnixSockets sockets = pair(7, 8, name);
    EXPECT_TRUE(socket_uses(table({socket_of(kServer, 7)}), {}, &sockets).empty()) << name;
  }
  for (const char* name :
       {"/tmp/hub", "@hub", "/run/user/1000/hub", "/run/user/1000", "", "/tmp/.X11-unix/X0", "/tmp/keyring/x",
        "/tmp/ssh-hub", "/run/user/1000/bus-of-mine", "/home/me/pulse/native"}) {
    EXPECT_FALSE(is_common_service(name)) << name;
  }
}

TEST(SocketUse, AScreenIsMarked) {
  for (const char* name :
       {"/tmp/.X11-unix/X0", "@/tmp/.X11-unix/X0", "/run/user/1000/wayland-0", "/tmp/hub", "@hub"}) {
    const UnixSockets sockets = pair(7, 8, name);
    const SocketUses uses = socket_uses(table({socket_of(kServer, 7)}), {}, &sockets);
    ASSERT_EQ(uses.at(kServer).links.size(), 1U) << name;
    EXPECT_EQ(uses.at(kServer).links[0].display, std::string_view(name).find("hub") == std::string_view::npos)
        << name;
  }
}

TEST(SocketUse, WhereTheKernelDoesNotTellEverySocketThatIsNotTcpCounts) {
  const ProcessTable processes = table({socket_of(kServer, 7), socket_of(kServer, 9), socket_of(kOther, 9)});
  const SocketUses uses = socket_uses(processes, {{}, {}, {9}}, nullptr);

  ASSERT_EQ(uses.size(), 1U);
  ASSERT_EQ(uses.at(kServer).links.size(), 1U);
  EXPECT_EQ(uses.at(kServer).links[0].inode, 7U);
}

TEST(SocketUse, WithoutTheListsOfTcpEverySocketThatIsInNoListCounts) {
  UnixSockets known;
  known[8].listens = true;
  known[8].name = "/tmp/tsx-1000/50.pipe";
  const ProcessTable processes = table({socket_of(kServer, 7), socket_of(kServer, 8), socket_of(kServer, 9)});
  TcpSockets tcp;
  tcp.inodes = {9};

  EXPECT_TRUE(socket_uses(processes, tcp, &known)[kServer].links.empty());
  tcp.complete = false;
  const SocketUses uses = socket_uses(processes, tcp, &known);
  ASSERT_EQ(uses.at(kServer).links.size(), 1U);
  EXPECT_EQ(uses.at(kServer).links[0].inode, 7U);
  EXPECT_TRUE(uses.at(kServer).links[0].peers.empty()) << "somebody we cannot see";
}

// What listens in another network namespace is in no list, however complete that is.
TEST(SocketUse, EverySocketOfAProcessElsewhereMayBeAWayToSpeakToIt) {
  const UnixSockets none;
  const ProcessTable processes = table({socket_of(kServer, 7), socket_of(kOther, 8)});
  TcpSockets tcp;
  tcp.complete = true;

  const SocketUses uses = socket_uses(processes, tcp, &none, [](pid_t pid) { return pid == kServer; });

  ASSERT_EQ(uses.at(kServer).links.size(), 1U);
  EXPECT_TRUE(uses.at(kServer).links[0].peers.empty());
  EXPECT_FALSE(uses.contains(kOther));
}

TEST(SocketUse, EachLinkIsNamedOnceHoweverManyDescriptorsThereAre) {
  const UnixSockets sockets = pair(7, 8);
  const SocketUses uses =
      socket_uses(table({socket_of(kServer, 7, 20), socket_of(kServer, 7, 21), socket_of(kOther, 8, 20),
                         socket_of(kOther, 8, 21), socket_of(60, 8, 20)}),
                  {}, &sockets);

  ASSERT_EQ(uses.at(kServer).links.size(), 1U);
  EXPECT_EQ(uses.at(kServer).links[0].peers, (std::vector<pid_t>{kOther, 60}));
}

TEST(SocketUse, TwoLinksOfOneProcessAreTwo) {
  UnixSockets sockets = pair(7, 8);
  sockets.merge(pair(9, 10));
  const SocketUses uses =
      socket_uses(table({socket_of(kServer, 7), socket_of(kServer, 9, 21)}), {}, &sockets);

  EXPECT_EQ(uses.at(kServer).links.size(), 2U);
}

TEST(SocketUse, OnlyASocketIsAStandardStreamOfThatNumber) {
  Process server = process(kServer);
  server.streams[0] = {Stream::Kind::Pipe, 7};
  server.streams[1] = {Stream::Kind::Socket, 9};
  const UnixSockets sockets = pair(7, 8);

  const SocketUses uses = socket_uses(table({socket_of(kServer, 7)}, {server}), {}, &sockets);

  EXPECT_EQ(uses.at(kServer).links.size(), 1U);
}

TEST(SocketUse, AProcessThatIsNoLongerListedHasNoStandardStreams) {
  const UnixSockets sockets = pair(7, 8);
  const SocketUses uses = socket_uses(table({socket_of(77, 7)}), {}, &sockets);

  EXPECT_EQ(uses.at(77).links.size(), 1U);
}

TEST(SocketUse, WhetherAProcessIsElsewhereIsAskedOnce) {
  const UnixSockets none;
  TcpSockets tcp;
  tcp.complete = true;
  int asked = 0;
  const SocketUses uses =
      socket_uses(table({socket_of(kServer, 7, 20), socket_of(kServer, 7, 21), socket_of(kServer, 9, 22)}),
                  tcp, &none, [&](pid_t) { return ++asked > 0; });

  EXPECT_EQ(asked, 1);
  EXPECT_EQ(uses.at(kServer).links.size(), 2U);
  for (const UnixLink& link : uses.at(kServer).links) EXPECT_FALSE(link.display);
}

TEST(SocketUse, EveryListenerOfAPortIsCalled) {
  const UnixSockets none;
  const SocketUses uses = socket_uses(table({socket_of(kServer, 7), socket_of(kOther, 8), socket_of(60, 1)}),
                                      {{{7, 8080, 0}, {8, 8080, 0}}, {{"a", "b", 8080, 5}}, {}}, &none);

  ASSERT_EQ(uses.at(kServer).calls.size(), 1U);
  ASSERT_EQ(uses.at(kOther).calls.size(), 1U);
  EXPECT_TRUE(uses.at(kServer).calls[0].callers.empty())
      << "nobody has the other end; socket 1 does not count";
}

TEST(SocketUse, AUserNamedInAPathElsewhereMakesNoService) {
  for (const char* name : {"/srv/1000/bus", "/srv/users/bus", "/bus", "/run/user/1000/bus2", "/run/user/1000",
                           "/tmp/ssh-x/socket", "/home/me/agent.1", "/tmp/a.pipe"}) {
    EXPECT_FALSE(is_common_service(name)) << name;
  }
  for (const char* name : {"/run/user/1000/bus", "/tmp/ssh-x/agent.1", "/home/me/.ssh/agent/x"}) {
    EXPECT_TRUE(is_common_service(name)) << name;
  }
  for (const char* name :
       {"tsx-1.pipe", "/tmp/xtsx-1/a.pipe", "/tmp/tsx-1/a.sock", "/tsx-1.pipe", "x.pipe"}) {
    EXPECT_FALSE(is_for_itself(name)) << name;
  }
  EXPECT_TRUE(is_for_itself("/tmp/tsx-1/a.pipe"));
  EXPECT_TRUE(is_for_itself("tsx-1/a.pipe"));
}

}  // namespace
}  // namespace corral::survey
