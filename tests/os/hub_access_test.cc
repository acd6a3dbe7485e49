// Which clients may come in, from where, and which keys are not meant for us: other users, sandboxes and
// terminals against the real daemon.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "base/unique_fd.h"
#include "support/eventually.h"
#include "support/hub_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class HubAccess : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    add_server("named", {}, R"("share":"session")");
    start_daemon();
  }
};

// ---- other users

enum class DaemonAnswer { Nothing = 10, Bytes, NotReached, NoEnd };

/// A connection to this socket; -1 if there is none.
int reach(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? fd : -1;
}

/// In a child: asks for the status at the daemon's socket, as anybody might.
DaemonAnswer ask_for_status(const std::string& path) {
  const int fd = reach(path);
  if (fd < 0) return DaemonAnswer::NotReached;
  const std::string hello = "{\"protocol\":3,\"verb\":\"status\"}\n";
  send(fd, hello.data(), hello.size(), MSG_NOSIGNAL);  // who is turned away may not get this far
  pollfd ready{fd, POLLIN, 0};
  if (poll(&ready, 1, 15'000) != 1) return DaemonAnswer::NoEnd;
  char byte = 0;
  return read(fd, &byte, 1) > 0 ? DaemonAnswer::Bytes : DaemonAnswer::Nothing;
}

DaemonAnswer answer_for(uid_t uid, const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    if (uid != 0) become(uid);
    _exit(static_cast<int>(ask_for_status(path)));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return static_cast<DaemonAnswer>(WEXITSTATUS(status));
}

TEST_F(HubAccess, AnotherUserGetsNoByteEvenIfEverybodyMayConnect) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to be somebody else";
  const uid_t owner = *uid_of(User::Ordinary);
  const std::string socket = in_runtime_dir("corral.sock");
  ASSERT_EQ(answer_for(owner + 1, socket), DaemonAnswer::NotReached) << "the directory is open";
  ASSERT_EQ(chmod(runtime_dir().c_str(), 0755), 0);
  ASSERT_EQ(chmod(socket.c_str(), 0777), 0);

  EXPECT_EQ(answer_for(owner + 1, socket), DaemonAnswer::Nothing);
  EXPECT_EQ(answer_for(0, socket), DaemonAnswer::Nothing);
  EXPECT_EQ(answer_for(owner, socket), DaemonAnswer::Bytes) << "nobody is let in, so this proves nothing";
}

TEST_F(HubAccess, TheShimOfAnotherUserHasNoDaemon) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to be somebody else";
  ASSERT_EQ(chmod(runtime_dir().c_str(), 0755), 0);
  ASSERT_EQ(chmod(in_runtime_dir("corral.sock").c_str(), 0777), 0);
  Launch launch = connect({"--require-daemon", "named"});
  launch.uid = *uid_of(User::Ordinary) + 1;

  EXPECT_EQ(Session(launch).wait(), 69);

  EXPECT_THAT(errors_of_shim(), HasSubstr("--require-daemon"));
  ASSERT_EQ(chmod(runtime_dir().c_str(), 0700), 0);
  EXPECT_THAT(status(), HasSubstr(R"("instances_started":0)"));
}

// ---- programs of another version

/// In a child: says this hello as the user of the daemon, and writes the replies to `out` until it hangs up.
void say_hello(const std::string& path, const std::string& hello, int out) {
  const int fd = reach(path);
  if (send(fd, hello.data(), hello.size(), MSG_NOSIGNAL) < 0) return;
  char bytes[4096];
  for (pollfd ready{fd, POLLIN, 0}; poll(&ready, 1, 15'000) == 1;) {
    const ssize_t size = read(fd, bytes, sizeof bytes);
    if (size <= 0 || write(out, bytes, static_cast<std::size_t>(size)) != size) return;
  }
}

std::string replies_to(const std::string& hello, const std::string& path) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
  const UniqueFd out(ends[0]);
  const pid_t child = fork();
  if (child == 0) {
    if (running_as_root()) become(*uid_of(User::Ordinary));
    say_hello(path, hello, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  waitpid(child, nullptr, 0);  // it ends by itself, and a reply fits into the pipe
  char bytes[4096];
  const ssize_t size = read(out.get(), bytes, sizeof bytes);
  return {bytes, size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// The members of an older hello may mean something else, so none of them is read.
TEST_F(HubAccess, AnOlderProgramIsRefusedWithCode76AndToldToBeNewer) {
  const std::string reply =
      replies_to(R"({"protocol":1,"verb":"run","server":"named","cwd":7,"descriptors":"both"})"
                 "\n",
                 in_runtime_dir("corral.sock"));

  EXPECT_THAT(reply, AllOf(HasSubstr(R"("reply":"refused")"), HasSubstr(R"("code":76)"),
                           HasSubstr("speaks protocol 3, not 1: use a newer corral on this side")));
  EXPECT_THAT(status(), HasSubstr(R"("instances_started":0)"));
  McpClient client(connect({"named"}));
  EXPECT_TRUE(client.initialize()) << errors_of_shim();
}

// ---- sandboxes

struct Sandbox {
  const char* name;
  void (*enter)();
  bool needs_root;
};

void PrintTo(const Sandbox& sandbox, std::ostream* out) { *out << sandbox.name; }

const Sandbox kSandboxes[] = {
    {"NoNewPrivs", [] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }, false},
    {"MountNamespace",
     [] {
       if (unshare(CLONE_NEWNS) != 0) _exit(95);
     },
     true},
};

class HubSandbox : public HubAccess, public testing::WithParamInterface<Sandbox> {
 protected:
  /// What the kernel says about the sandboxes that these tests use.
  static std::string surroundings_of(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::ifstream stream(folder + "/status");
    std::string text;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("NoNewPrivs:")) text = line;
    }
    char link[64] = {};
    if (readlink((folder + "/ns/mnt").c_str(), link, sizeof link - 1) > 0) text += link;
    return text;
  }
};

TEST_P(HubSandbox, KeepsTheCommandOfItsClientInside) {
  if (GetParam().needs_root && !running_as_root()) GTEST_SKIP() << "needs root for a namespace";
  Launch launch = connect_command({"--grow=daemons:3"});
  launch.before_exec = GetParam().enter;
  McpClient client(launch);

  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const pid_t server = std::stoi(client.call("pid"));

  EXPECT_EQ(surroundings_of(server), surroundings_of(client.session().pid()));
  EXPECT_NE(surroundings_of(server), surroundings_of(daemon()));
  EXPECT_THAT(errors_of_shim(), HasSubstr("more confined than the daemon"));
  EXPECT_THAT(status(), HasSubstr(R"("instances":[],"sessions":[])"));
  client.session().close_stdin();
  EXPECT_EQ(client.wait(), 0) << errors_of_shim();
  EXPECT_TRUE(eventually([&] { return is_gone(server); }));
}

TEST_P(HubSandbox, MayUseWhatIsConfiguredOutside) {
  if (GetParam().needs_root && !running_as_root()) GTEST_SKIP() << "needs root for a namespace";
  Launch launch = connect({"named"});
  launch.before_exec = GetParam().enter;
  McpClient client(launch);

  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const pid_t server = std::stoi(client.call("pid"));

  EXPECT_EQ(surroundings_of(server), surroundings_of(daemon()));
  EXPECT_THAT(status(), HasSubstr("\"pid\":" + std::to_string(server) + ","));
}

INSTANTIATE_TEST_SUITE_P(Kinds, HubSandbox, testing::ValuesIn(kSandboxes),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(HubAccess, WithoutASandboxTheDaemonRunsACommandToo) {
  McpClient client(connect_command());

  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_THAT(status(), HasSubstr("\"pid\":" + client.call("pid") + ","));
  EXPECT_THAT(errors_of_shim(), Not(HasSubstr("running the server here")));
}

// ---- terminals

/// The soft open-file limit, as the kernel shows it; empty if there is no such process.
std::string open_files_of(pid_t pid) {
  std::ifstream limits("/proc/" + std::to_string(pid) + "/limits");
  for (std::string line; std::getline(limits, line);) {
    if (!line.starts_with("Max open files")) continue;
    std::istringstream words(line.substr(std::string("Max open files").size()));
    std::string soft;
    words >> soft;
    return soft;
  }
  return "";
}

/// A daemon that was started with few open files and may have more.
class HubOfFewFiles : public HubAccess {
 protected:
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few{256, before_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    HubAccess::SetUp();
  }
  void TearDown() override {
    HubAccess::TearDown();
    setrlimit(RLIMIT_NOFILE, &before_);
  }

  rlimit before_{};
};

// The daemon raises its own, and some programs walk through all the numbers.
TEST_F(HubOfFewFiles, AServerMayOpenAsManyAsTheDaemonMightAtItsStart) {
  McpClient client(connect({"named"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_EQ(open_files_of(keeper()), "256");
  EXPECT_EQ(open_files_of(static_cast<pid_t>(std::stol(client.call("pid")))), "256");
  EXPECT_NE(open_files_of(daemon()), "256");
}

// Without the keeper nobody would clean up after it.
TEST_F(HubAccess, AServerGoesBeforeItsKeeperWhenMemoryRunsOut) {
  McpClient client(connect({"named"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const auto adjustment_of = [](const std::string& pid) {
    int adjustment = -1;
    std::ifstream("/proc/" + pid + "/oom_score_adj") >> adjustment;
    return adjustment;
  };

  EXPECT_EQ(adjustment_of(client.call("pid")), adjustment_of(std::to_string(keeper())) + 300);
}

TEST_F(HubAccess, CtrlCIsForTheClientAndNotForItsSession) {
  Terminal terminal;
  Launch launch = connect({"named"});
  launch.argv.insert(launch.argv.begin(), {programs().relay_client, "--handle-signals"});
  launch.terminal = &terminal;
  McpClient client(launch);
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  const std::string server = client.call("pid");
  ASSERT_EQ(process_by_pid(shim())->group, terminal.foreground_group()) << "the keys would miss it anyway";
  const int running = client.begin("block", "300");

  terminal.type(Terminal::kCtrlC);

  EXPECT_THAT(client.answer_to(running), HasSubstr("unblocked"));
  EXPECT_TRUE(eventually([&] {
    client.call("echo");
    return testing::Value(client.others(), Contains("!signal 02"));
  })) << "the client has not got it either";
  EXPECT_EQ(client.call("pid"), server);
  client.session().close_stdin();
  EXPECT_TRUE(client.reads_to_end());
  EXPECT_THAT(client.others(), Contains("!exit 0"));
}

}  // namespace
}  // namespace corral::os_tests
