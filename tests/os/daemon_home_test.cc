// The daemon of an auto-start is nobody's child: it has neither the cgroup nor the limits of the client that
// happened to start it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void write_to(const std::string& file, const std::string& text) {
  const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0 || write(fd, text.data(), text.size()) < 0)
    dprintf(2, "test: %s: %s\n", file.c_str(), strerror(errno));
  close(fd);
}

/// A cgroup of version 2, gone with everything in it at the end.
class Group {
 public:
  explicit Group(const std::string& name)
      : path_(mount() + "/" + name), made_(mkdir(path_.c_str(), 0755) == 0) {}
  ~Group() {
    if (!made_) return;
    end();
    eventually([this] { return rmdir(path_.c_str()) == 0; });
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Where the hierarchy is that we may use; empty = nowhere.
  static std::string mount() {
    for (const char* const place : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      if (access((std::string(place) + "/cgroup.procs").c_str(), W_OK) == 0 &&
          access((std::string(place) + "/cgroup.controllers").c_str(), F_OK) == 0) {
        return place;
      }
    }
    return "";
  }
  bool made() const { return made_; }
  bool can_be_ended() const { return access((path_ + "/cgroup.kill").c_str(), W_OK) == 0; }
  const std::string& path() const { return path_; }
  void enter() const { write_to(path_ + "/cgroup.procs", "0"); }
  void end() const { write_to(path_ + "/cgroup.kill", "1"); }
  bool holds(pid_t pid) const {
    return text_of("/proc/" + std::to_string(pid) + "/cgroup")
               .find("0::" + path_.substr(mount().size()) + "\n") != std::string::npos;
  }

 private:
  std::string path_;
  bool made_ = false;
};

class DaemonHome : public HubTest {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root, who may make cgroups";
    if (Group::mount().empty()) GTEST_SKIP() << "needs a writable hierarchy of cgroup v2";
    HubTest::SetUp();
    std::ofstream(path("config.json")) << "{\"mcpServers\":{}}\n";
  }
  void TearDown() override {
    if (IsSkipped()) return;
    Launch launch = command("shutdown");
    launch.uid.reset();
    launch.out = Stdio::Null;
    Session(launch).wait();
  }

  /// A client of root's, which may start the daemon.
  Launch client(const Group* group = nullptr) const {
    Launch launch = connect_command();
    launch.uid.reset();
    if (group != nullptr) launch.before_exec = [group] { group->enter(); };
    return launch;
  }
  pid_t janitor() const {
    const std::optional<Process> found = process_by_pid(daemon());
    return found ? found->parent : 0;
  }

  /// A program of that name which does this, and the socket by which it would find its manager.
  void make_manager(const std::string& script, Launch& launch) {
    mkdir(path("bin").c_str(), 0755);
    std::ofstream(path("bin/systemd-run")) << "#!/bin/sh\n" << script;
    chmod(path("bin/systemd-run").c_str(), 0755);
    mkdir(path("x").c_str(), 0700);
    mkdir(path("x/systemd").c_str(), 0700);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strncpy(address.sun_path, path("x/systemd/private").c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    close(socket);  // its file stays
    launch.env.push_back("PATH=" + path("bin") + ":" + getenv("PATH"));
    launch.env.push_back("XDG_RUNTIME_DIR=" + path("x"));
  }
};

TEST_F(DaemonHome, ADaemonOutlivesTheCgroupOfTheClientThatStartedIt) {
  const Group group(tag() + "-a");
  ASSERT_TRUE(group.made());
  if (!group.can_be_ended()) GTEST_SKIP() << "needs cgroup.kill, Linux 5.14";
  McpClient first(client(&group));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_TRUE(group.holds(first.session().pid()));
  McpClient second(client());
  ASSERT_TRUE(second.initialize()) << errors_of_shim();
  const std::string server = second.call("pid");
  const pid_t before = daemon();
  EXPECT_FALSE(group.holds(before));
  EXPECT_FALSE(group.holds(janitor()));

  group.end();

  EXPECT_EQ(first.wait(), 128 + SIGKILL);
  EXPECT_EQ(second.call("pid"), server);
  EXPECT_EQ(daemon(), before);
}

TEST_F(DaemonHome, ADaemonLivesWhereTheServiceManagerPutsIt) {
  const Group group(tag() + "-a");
  const Group managed(tag() + "-m");
  Launch launch = client(&group);
  make_manager("echo \"$@\" > " + path("asked") + "\necho $$ > " + managed.path() +
                   "/cgroup.procs\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
               launch);

  McpClient first(launch);
  ASSERT_TRUE(first.initialize()) << errors_of_shim() << file(tag() + "/daemon.log");

  EXPECT_THAT(file("asked"), HasSubstr("--user --scope"));
  EXPECT_THAT(file("asked"), HasSubstr("Delegate=yes"));
  EXPECT_TRUE(managed.holds(daemon())) << text_of("/proc/" + std::to_string(daemon()) + "/cgroup");
}

TEST_F(DaemonHome, TheDaemonStartsEvenIfTheServiceManagerFails) {
  const Group group(tag() + "-a");
  Launch launch = client(&group);
  make_manager("echo the manager is not well >&2\nexit 1\n", launch);

  McpClient first(launch);
  ASSERT_TRUE(first.initialize()) << errors_of_shim();

  EXPECT_GT(daemon(), 0) << errors_of_shim();
  EXPECT_FALSE(group.holds(daemon()));
  EXPECT_THAT(file(tag() + "/daemon.log"), HasSubstr("the manager is not well"));
}

TEST_F(DaemonHome, TheDaemonStartsEvenIfTheServiceManagerDoesNotAnswer) {
  const Group group(tag() + "-a");
  Launch launch = client(&group);
  ASSERT_EQ(mkfifo(path("never").c_str(), 0600), 0);
  make_manager("echo $$ > " + path("asking") + "\nread answer < " + path("never") + "\n", launch);

  McpClient first(launch);
  ASSERT_TRUE(first.initialize()) << errors_of_shim();

  EXPECT_GT(daemon(), 0) << errors_of_shim();
  EXPECT_FALSE(group.holds(daemon()));
  ASSERT_FALSE(file("asking").empty());
  const std::optional<Process> asking = process_by_pid(std::stoi(file("asking")));
  EXPECT_TRUE(!asking || asking->state == 'Z') << "the process that asked is left behind";
}

TEST_F(DaemonHome, WhyTheWayByTheServiceManagerFailedIsSaidIfTheOtherFailsToo) {
  const Group group(tag() + "-a");
  std::ofstream(path("config.json")) << "{\"mcpServers\": 7}\n";
  Launch launch = client(&group);
  make_manager("echo the manager is not well >&2\nexit 1\n", launch);

  McpClient first(launch);
  first.initialize();

  EXPECT_THAT(errors_of_shim(), HasSubstr("the manager is not well"));
  EXPECT_EQ(daemon(), 0);
}

TEST_F(DaemonHome, ADaemonHasNoneOfTheLimitsOfTheClientThatStartedIt) {
  Launch launch = client();
  launch.before_exec = [] {
    // Soft ones: to lift a hard one takes a privilege that root has not got everywhere.
    const rlimit much{rlim_t{1} << 40, RLIM_INFINITY};
    if (!kSanitized) setrlimit(RLIMIT_AS, &much);  // a sanitizer's shadow needs more
    setrlimit(RLIMIT_FSIZE, &much);
    const rlimit time{500, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &time);
    const rlimit few{200, 4096};
    setrlimit(RLIMIT_NOFILE, &few);
    setpriority(PRIO_PROCESS, 0, 7);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    write_to("/proc/self/oom_score_adj", "300");
  };

  McpClient first(launch);
  ASSERT_TRUE(first.initialize()) << errors_of_shim();

  ASSERT_GT(daemon(), 0) << errors_of_shim();
  for (const __rlimit_resource resource : {RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_CPU}) {
    rlimit own{};
    rlimit adopters{};
    ASSERT_EQ(prlimit(daemon(), resource, nullptr, &own), 0);
    ASSERT_EQ(prlimit(1, resource, nullptr, &adopters), 0);
    EXPECT_EQ(own.rlim_cur, adopters.rlim_cur) << resource;
    EXPECT_EQ(own.rlim_max, adopters.rlim_max) << resource;
  }
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(daemon())), getpriority(PRIO_PROCESS, 1));
  EXPECT_EQ(text_of("/proc/" + std::to_string(daemon()) + "/oom_score_adj"),
            text_of("/proc/1/oom_score_adj"));
  cpu_set_t own;
  cpu_set_t adopters;
  ASSERT_EQ(sched_getaffinity(daemon(), sizeof own, &own), 0);
  ASSERT_EQ(sched_getaffinity(1, sizeof adopters, &adopters), 0);
  EXPECT_TRUE(CPU_EQUAL(&own, &adopters));
}

TEST_F(DaemonHome, ALimitThatNobodyMayLiftStartsNoDaemon) {
  rlimit adopters{};
  ASSERT_EQ(prlimit(1, RLIMIT_CPU, nullptr, &adopters), 0);
  if (adopters.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "here everybody is limited";
  Launch launch = connect_command();
  launch.before_exec = [] {
    const rlimit time{500, 600};
    setrlimit(RLIMIT_CPU, &time);
  };

  McpClient first(launch);
  ASSERT_TRUE(first.initialize()) << errors_of_shim();

  EXPECT_THAT(errors_of_shim(), HasSubstr("a CPU time limit"));
  EXPECT_EQ(daemon(), 0);
}

TEST_F(DaemonHome, TheLogOfADaemonHasABoundWhileItRuns) {
  Launch launch = command("serve", {"--background"});
  launch.uid.reset();
  launch.out = Stdio::Null;
  ASSERT_EQ(Session(launch).wait(), 0) << file("stderr-serve");
  const std::string log = in_runtime_dir("daemon.log");
  {
    std::ofstream more(log, std::ios::app);
    for (int i = 0; i < 30'000; ++i) more << "an old line " << i << " " << std::string(60, '.') << "\n";
  }
  struct stat status {};
  ASSERT_EQ(stat(log.c_str(), &status), 0);
  ASSERT_GT(status.st_size, 2 << 20);

  kill(daemon(), SIGUSR1);

  std::string text;
  const auto cut = [&] {  // and the newest half written again; not while we read
    text = text_of(log);
    return text.size() <= 1 << 20 && text.find("SIGUSR1") != text.npos && text == text_of(log);
  };
  ASSERT_TRUE(eventually(cut)) << text.size();
  EXPECT_THAT(text, Not(HasSubstr("an old line 1 ")));
  EXPECT_THAT(text, HasSubstr("an old line 29999 "));
  EXPECT_THAT(text.substr(text.rfind("an old line")), HasSubstr("SIGUSR1"));
}

}  // namespace
}  // namespace corral::os_tests
