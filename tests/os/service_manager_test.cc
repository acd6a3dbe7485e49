// What a service manager and the daemon tell each other: sockets that are passed, readiness, the watchdog.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "support/daemon_test.h"
#include "support/eventually.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

/// Where a service manager hears from us. A name with @ is an abstract one.
class Ear {
 public:
  explicit Ear(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, name.data(), name.size());
    const bool abstract = name.starts_with('@');
    if (abstract) address.sun_path[0] = '\0';
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (abstract ? 0 : 1));
    bound_ = bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0;
    if (!abstract) chmod(name.c_str(), 0777);
  }
  ~Ear() { close(fd_); }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

  bool bound() const { return bound_; }
  const std::string& heard() {
    char bytes[4096];
    for (ssize_t got = 0; (got = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0;) {
      heard_.append(bytes, static_cast<std::size_t>(got));
      heard_ += '\n';
    }
    return heard_;
  }
  bool hears(const std::string& word) {
    return eventually([&] { return heard().find(word) != std::string::npos; });
  }

 private:
  int fd_;
  bool bound_ = false;
  std::string heard_;
};

/// In the child: a variable that names the process itself.
void set_to_own_pid(const char* variable) { setenv(variable, std::to_string(getpid()).c_str(), 1); }

/// In the child: a listening TCP socket as descriptor 4, beside the one that was passed.
void pass_tcp_socket(int socket) {
  if (socket != 4) dup2(socket, 4);
  fcntl(4, F_SETFD, 0);
  setenv("LISTEN_FDS", "2", 1);
}

/// In the child: a listening socket as descriptor 3.
void pass_listening_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 16) != 0) {
    _exit(97);
  }
  if (fd != 3) dup2(fd, 3);
  setenv("LISTEN_FDS", "1", 1);
  set_to_own_pid("LISTEN_PID");
}

class ServiceManager : public DaemonTest {};

TEST_F(ServiceManager, HearsWhenTheDaemonIsReadyAndWhenItStops) {
  Ear ear(path("notify"));
  ASSERT_TRUE(ear.bound());
  Launch launch = serve();
  launch.env.push_back("NOTIFY_SOCKET=" + path("notify"));
  Serving serving(launch);

  EXPECT_TRUE(ear.hears("READY=1\n")) << errors();
  EXPECT_TRUE(answers()) << "ready means that it can be reached";
  EXPECT_THAT(ear.heard(), HasSubstr("STATUS="));
  EXPECT_EQ(ear.heard().find("STOPPING=1"), std::string::npos);

  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
  EXPECT_TRUE(ear.hears("STOPPING=1\n"));
}

TEST_F(ServiceManager, IsFoundAtAnAbstractSocket) {
  Ear ear("@" + tag());
  ASSERT_TRUE(ear.bound());
  Launch launch = serve();
  launch.env.push_back("NOTIFY_SOCKET=@" + tag());
  Serving serving(launch);

  EXPECT_TRUE(ear.hears("READY=1\n")) << errors();
}

TEST_F(ServiceManager, IsToldAgainAndAgainThatTheDaemonLives) {
  Ear ear(path("notify"));
  Launch launch = serve();
  launch.env.push_back("NOTIFY_SOCKET=" + path("notify"));
  launch.env.emplace_back("WATCHDOG_USEC=100000");
  launch.before_exec = [] { set_to_own_pid("WATCHDOG_PID"); };  // of the janitor, who passes it on
  Serving serving(launch);

  const auto times = [&] {
    std::size_t count = 0;
    const std::string& heard = ear.heard();
    for (std::size_t at = 0; (at = heard.find("WATCHDOG=1", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_TRUE(eventually([&] { return times() >= 3; })) << ear.heard();
}

TEST_F(ServiceManager, PassesASocketThatTheDaemonServesAndLeavesInPlace) {
  ASSERT_EQ(mkdir(runtime_dir().c_str(), 0700), 0);
  const std::string socket_path = in_runtime_dir("corral.sock");
  Launch launch = serve();
  launch.uid.reset();  // the socket belongs to who made it
  launch.before_exec = [&socket_path] { pass_listening_socket(socket_path); };
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();

  Launch asking = command("status");
  asking.uid.reset();
  Session status(asking);
  const std::string said = status.output_to_end();
  EXPECT_EQ(status.wait(), 0);
  EXPECT_THAT(said, HasSubstr("pid " + std::to_string(daemon())));

  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0) << errors();
  EXPECT_EQ(access(socket_path.c_str(), F_OK), 0) << "the manager's socket is not ours to remove";
  EXPECT_FALSE(listens(socket_path)) << "and no process of corral holds it any more";
}

TEST_F(ServiceManager, MayPassATcpSocketBesideTheLocalOne) {
  ASSERT_EQ(mkdir(runtime_dir().c_str(), 0700), 0);
  const std::string socket_path = in_runtime_dir("corral.sock");
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(tcp, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(tcp, 8), 0);
  ASSERT_EQ(getsockname(tcp, reinterpret_cast<sockaddr*>(&address), &size), 0);
  Launch launch = serve();
  launch.uid.reset();
  launch.before_exec = [&] {
    const int kept = fcntl(tcp, F_DUPFD, 10);
    pass_listening_socket(socket_path);
    pass_tcp_socket(kept);
  };
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();
  close(tcp);

  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), size), 0) << "the daemon has it";
  close(client);
  EXPECT_EQ(errors().find("no use for"), std::string::npos) << errors();
}

TEST_F(ServiceManager, MayKillTheDaemonAndNobodyHoldsItsSocket) {
  ASSERT_EQ(mkdir(runtime_dir().c_str(), 0700), 0);
  const std::string socket_path = in_runtime_dir("corral.sock");
  Launch launch = serve();
  launch.uid.reset();
  launch.before_exec = [&socket_path] { pass_listening_socket(socket_path); };
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();

  ASSERT_TRUE(kill_now(daemon()));

  EXPECT_EQ(serving.wait(), 128 + SIGKILL);
  EXPECT_FALSE(listens(socket_path));
}

TEST_F(ServiceManager, ThatPassesSomethingElseIsToldSo) {
  Launch launch = serve();
  launch.before_exec = [] {
    int ends[2];
    if (pipe(ends) != 0) _exit(97);
    dup2(ends[0], 3);
    setenv("LISTEN_FDS", "1", 1);
    set_to_own_pid("LISTEN_PID");
  };
  Serving serving(launch);

  EXPECT_EQ(serving.wait(), 1);
  EXPECT_THAT(errors(), HasSubstr("ListenStream="));
}

}  // namespace
}  // namespace corral::os_tests
