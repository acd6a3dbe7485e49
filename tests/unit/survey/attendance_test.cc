// Whether anybody is connected to a client's background process, from what the kernel says about sockets.
#include "survey/attendance.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "survey/survey.h"

namespace corral::survey {
namespace {

constexpr pid_t kDaemon = 100;
constexpr std::uint64_t kDoor = 1000;     // its listening socket
constexpr std::uint64_t kVisitor = 1001;  // one that it accepted

class AttendanceOf : public testing::Test {
 protected:
  AttendanceOf() {
    process.pid = kDaemon;
    for (Stream& stream : process.streams) stream.kind = Stream::Kind::Null;
    holdings.push_back({kDoor, kDaemon, 7, true, true, true});
    sockets[kDoor].listens = true;
    sockets[kDoor].name = "/run/codex.sock";
  }
  void visit(std::uint64_t peer = 5000) {
    sockets[kVisitor].name = "/run/codex.sock";
    sockets[kVisitor].peer = peer;
    holdings.push_back({kVisitor, kDaemon, 8, true, true, true});
  }
  Attendance judged() const {
    const ProcessTable table({process}, holdings, 0, 100);
    return attendance(table, *table.find(kDaemon), tcp, listed ? &sockets : nullptr);
  }

  Process process;
  std::vector<Holding> holdings;
  UnixSockets sockets;
  TcpSockets tcp;
  bool listed = true;
};

TEST_F(AttendanceOf, WithoutAPeerNobodyIsAttached) { EXPECT_EQ(judged(), Attendance::Unattended); }

TEST_F(AttendanceOf, APeerIsSomebody) {
  visit();
  EXPECT_EQ(judged(), Attendance::Attended);
}

TEST_F(AttendanceOf, APeerThatHasGoneIsNobody) {
  visit(0);
  EXPECT_EQ(judged(), Attendance::Unattended);
}

TEST_F(AttendanceOf, APeerCountsWhicheverProcessHoldsTheOtherEnd) {
  visit();
  holdings.pop_back();  // a child of it has the connection now
  EXPECT_EQ(judged(), Attendance::Attended);
}

TEST_F(AttendanceOf, AConnectionThatWaitsIsSomebody) {
  sockets[kDoor].waiting = 1;
  EXPECT_EQ(judged(), Attendance::Attended);
}

TEST_F(AttendanceOf, SocketsOfOthersDoNotCount) {
  sockets[2000].listens = true;
  sockets[2000].name = "/run/other.sock";
  sockets[2001].name = "/run/other.sock";
  sockets[2001].peer = 2002;
  EXPECT_EQ(judged(), Attendance::Unattended);
}

TEST_F(AttendanceOf, AProcessWithoutADoorIsNotKnown) {
  holdings.clear();
  EXPECT_EQ(judged(), Attendance::Unknown);
}

TEST_F(AttendanceOf, ADoorWithoutANameIsInDoubt) {
  sockets[kDoor].name.clear();
  EXPECT_EQ(judged(), Attendance::Unknown);
}

TEST_F(AttendanceOf, WithoutTheListOfTheKernelNothingIsKnown) {
  listed = false;
  EXPECT_EQ(judged(), Attendance::Unknown);
}

TEST_F(AttendanceOf, WithoutAllTcpSocketsNothingIsKnown) {
  tcp.complete = false;
  EXPECT_EQ(judged(), Attendance::Unknown);
}

TEST_F(AttendanceOf, AProcessThatTalksToItByItsPipesIsSomebody) {
  for (const Stream::Kind kind :
       {Stream::Kind::Pipe, Stream::Kind::Socket, Stream::Kind::Terminal, Stream::Kind::Unknown}) {
    process.streams[0].kind = kind;
    EXPECT_EQ(judged(), Attendance::Attended);
  }
}

TEST_F(AttendanceOf, ATcpDoorCountsAsWell) {
  holdings = {{3000, kDaemon, 7, true, true, true}};
  tcp.listening.push_back({3000, 4500, 0});
  EXPECT_EQ(judged(), Attendance::Unattended);
  tcp.connections.push_back({"a", "b", 4500, 3001});
  EXPECT_EQ(judged(), Attendance::Attended);
}

TEST(IsBackground, ADaemonIsToldFromAnInterfaceByItsWords) {
  const known::KnownClient& codex = *known::find_client("codex");
  Process process;
  process.argv = {"/x/codex", "app-server", "--listen", "unix://"};
  EXPECT_TRUE(is_background(codex, process));
  process.argv = {"/x/codex", "exec", "hello"};
  EXPECT_FALSE(is_background(codex, process));
  process.argv = {"app-server"};
  EXPECT_FALSE(is_background(codex, process)) << "its own name is not an argument";
  EXPECT_FALSE(is_background(*known::find_client("zed"), process));
}

TEST(ReadBackgrounds, ThisProcessIsNone) {
  const std::vector<Background> found = read_backgrounds({getpid(), 0, -1, 1 << 30});
  ASSERT_EQ(found.size(), 4U);
  for (const Background& one : found) EXPECT_TRUE(one.client.empty());
}

/// The kernel counts a connection that is not accepted yet.
TEST(UnixSocketsOfTheKernel, ShowAConnectionThatWaits) {
  const int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = std::string(1, '\0') + "corral-attendance-" + std::to_string(getpid());
  name.copy(address.sun_path, sizeof address.sun_path);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  ASSERT_EQ(bind(door, reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(listen(door, 4), 0);
  const int caller = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&address), length), 0);

  const std::optional<UnixSockets> sockets = read_unix_sockets();

  ASSERT_TRUE(sockets.has_value());
  std::uint32_t waiting = 0;
  for (const auto& [inode, end] : *sockets) {
    if (end.listens && end.name == "@" + name.substr(1)) waiting = end.waiting;
  }
  EXPECT_EQ(waiting, 1U);
  close(caller);
  close(door);
}

}  // namespace
}  // namespace corral::survey
