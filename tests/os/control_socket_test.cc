// The daemon's socket against those who are not a shim: strangers, garbage, and descriptors that nobody asked
// for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"
#include "control/control_socket.h"
#include "control/runtime_dir.h"
#include "support/empty_daemon.h"
#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class ControlSocket : public OsTest {
 protected:
  /// As the user that this test runs as: it speaks to the daemon itself.
  void SetUp() override { daemon_.emplace(runtime_dir(), std::nullopt); }

  std::string runtime_dir() const { return path("run"); }
  EmptyDaemon& daemon() { return *daemon_; }

  UniqueFd connect_client() const {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, control::socket_path(runtime_dir()).c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }

  /// What the daemon answers to these bytes, until it hangs up.
  std::string answer_to(const std::string& bytes) const {
    const UniqueFd socket = connect_client();
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t size = send(socket.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) break;
      sent += static_cast<std::size_t>(size);
    }
    return rest_of(socket.get());
  }

  /// A hello that names two descriptors, and as many copies of `fd` beside it as are asked for.
  static void ask_with_descriptors(int socket, std::size_t count, int fd) {
    const std::vector<int> many(count, fd);
    std::string line =
        "{\"protocol\":3,\"verb\":\"connect\",\"server\":\"echo\",\"cwd\":\"/\",\"descriptors\":"
        "[\"input\",\"output\"]}\n";
    iovec bytes{line.data(), line.size()};
    std::vector<char> control(CMSG_SPACE(many.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
    memcpy(CMSG_DATA(header), many.data(), many.size() * sizeof(int));
    ASSERT_GT(sendmsg(socket, &message, MSG_NOSIGNAL), 0);
  }

  static std::string rest_of(int socket) {
    std::string text;
    char bytes[4096];
    pollfd ready{socket, POLLIN, 0};
    while (poll(&ready, 1, 15'000) == 1) {
      const ssize_t size = read(socket, bytes, sizeof bytes);
      if (size <= 0) return text;
      text.append(bytes, static_cast<std::size_t>(size));
    }
    return text + "(no end)";
  }

 private:
  std::optional<EmptyDaemon> daemon_;
};

TEST_F(ControlSocket, AnswersAScriptThatAsksForTheStatus) {
  EXPECT_EQ(answer_to("{\"protocol\":3,\"verb\":\"status\"}\n"),
            "{\"reply\":\"status\",\"status\":{\"daemon\":\"empty\"}}\n");
}

TEST_F(ControlSocket, EndsTheDaemonWhenAsked) {
  const std::string answer = answer_to("{\"protocol\":3,\"verb\":\"shutdown\"}\n");

  EXPECT_NE(answer.find("\"reply\":\"exit\""), std::string::npos) << answer;
  EXPECT_NE(answer.find("nothing to end"), std::string::npos) << answer;
}

TEST_F(ControlSocket, RefusesGarbageWithAReason) {
  for (const std::string& line : {std::string("GET / HTTP/1.1\r\n"), std::string("\n"), std::string("{}\n"),
                                  std::string("{\"protocol\":3,\"verb\":\"connect\"}\n")}) {
    const std::string answer = answer_to(line);

    EXPECT_NE(answer.find("\"reply\":\"refused\""), std::string::npos) << line << answer;
    EXPECT_NE(answer.find("not valid"), std::string::npos) << line << answer;
  }
}

TEST_F(ControlSocket, RefusesALineWithoutEnd) {
  const std::string answer = answer_to(std::string(control::kLongestHello + 70'000, 'x'));

  EXPECT_NE(answer.find("longer than"), std::string::npos) << answer;
}

TEST_F(ControlSocket, NamesTheProtocolsThatItSpeaks) {
  const std::string answer = answer_to("{\"protocol\":999,\"verb\":\"dance\"}\n");

  EXPECT_NE(answer.find("\"reply\":\"refused\""), std::string::npos) << answer;
  EXPECT_NE(answer.find("speaks protocol " + std::to_string(control::kProtocol) + ", not 999"),
            std::string::npos)
      << answer;
  EXPECT_NE(answer.find("serve --replace"), std::string::npos) << answer;
}

class Descriptors : public ControlSocket, public testing::WithParamInterface<std::size_t> {};

TEST_P(Descriptors, ThatNobodyAskedForAreClosed) {
  const std::size_t before = daemon().open_descriptors();
  const UniqueFd socket = connect_client();
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));

  ask_with_descriptors(socket.get(), GetParam(), null.get());

  EXPECT_NE(rest_of(socket.get()).find("\"reply\":\"refused\""), std::string::npos);
  EXPECT_TRUE(eventually([&] { return daemon().open_descriptors() == before; }))
      << daemon().open_descriptors() << " instead of " << before;
}

// Too few, as many as are named but no pipes, one too many, far too many.
INSTANTIATE_TEST_SUITE_P(Counts, Descriptors, testing::Values(1, 2, 3, 4, 200));

TEST_F(ControlSocket, WithoutRoomForDescriptorsTellsTheShimToRunTheServer) {
  const std::size_t before = daemon().open_descriptors();
  const UniqueFd socket = connect_client();
  ASSERT_TRUE(eventually([&] { return daemon().open_descriptors() > before; }));
  rlimit limit{};
  ASSERT_EQ(prlimit(daemon().pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  limit.rlim_cur = 3;  // which it has
  ASSERT_EQ(prlimit(daemon().pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);

  ask_with_descriptors(socket.get(), 2, read_end.get());

  const std::string answer = rest_of(socket.get());
  EXPECT_NE(answer.find("\"reply\":\"run-it\""), std::string::npos) << answer;
  EXPECT_NE(answer.find("no descriptors left"), std::string::npos) << answer;
}

TEST_F(ControlSocket, AClientThatHangsUpEarlyLeavesNoDescriptor) {
  const std::size_t before = daemon().open_descriptors();

  for (int i = 0; i < 100; ++i) {
    const UniqueFd socket = connect_client();
    ASSERT_GT(send(socket.get(), "{\"prot", 6, MSG_NOSIGNAL), 0);
  }

  EXPECT_TRUE(eventually([&] { return daemon().open_descriptors() == before; }));
}

TEST_F(ControlSocket, SendsNothingToAnotherUser) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to be another user";
  chmod(runtime_dir().c_str(), 0777);
  chmod(control::socket_path(runtime_dir()).c_str(), 0777);
  const pid_t child = fork();
  if (child == 0) {
    become(fresh_uid());
    _exit(answer_to("{\"protocol\":3,\"verb\":\"status\"}\n").empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);

  EXPECT_EQ(status, 0);
}

TEST_F(ControlSocket, SendsNothingToRootIfTheDaemonHasAnotherUser) {
  if (!running_as_root()) GTEST_SKIP() << "needs root";
  const EmptyDaemon others(path("theirs"), uid_of(User::Ordinary));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, control::socket_path(path("theirs")).c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);

  send(socket.get(), "{\"protocol\":3,\"verb\":\"status\"}\n", 32, MSG_NOSIGNAL);

  EXPECT_EQ(rest_of(socket.get()), "");
}

}  // namespace
}  // namespace corral::os_tests
