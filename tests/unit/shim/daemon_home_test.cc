#include "shim/daemon_home.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "shim/client_limits.h"

namespace corral::shim {
namespace {

constexpr uid_t kUser = 1000;
const std::string kMount = "25 1 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
const std::string kApp = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-editor-12.scope";

struct Machine {
  std::string own;
  std::string parent = "/init.scope";
  bool manager = false;
  std::set<std::string> writable{};
  std::string mounts = kMount;
};

Home home_on(const Machine& machine) {
  const CgroupFacts facts{machine.mounts, "0::" + machine.own + "\n", "0::" + machine.parent + "\n",
                          machine.manager};
  return choose_home(
      facts,
      [&](const std::string& directory) {
        return machine.writable.count(directory.substr(std::string("/sys/fs/cgroup").size())) > 0;
      },
      kUser);
}

TEST(DaemonHome, IsWhereItIsIfThatIsNobodys) {
  EXPECT_EQ(home_on({.own = "/"}).action, Home::Action::Stay);
  EXPECT_EQ(home_on({.own = "/docker/abc", .parent = "/docker/abc"}).action, Home::Action::Stay)
      << "a container ends as a whole";
  EXPECT_EQ(home_on({.own = "/user.slice/user-1000.slice/session-2.scope"}).action, Home::Action::Stay)
      << "the user's login";
  EXPECT_EQ(home_on({.own = "/2"}).action, Home::Action::Stay) << "elogind";
  EXPECT_EQ(choose_home(
                {"", "", "", false}, [](const std::string&) { return true; }, kUser)
                .action,
            Home::Action::Stay);
}

// Without pam_systemd a login has no scope of its own.
TEST(DaemonHome, IsWhereItIsInTheUnitThatLetTheUserIn) {
  for (const char* unit :
       {"ssh.service", "sshd.service", "system-sshd.slice/sshd@3-10.0.0.1:22.service",
        "system-ssh.slice/ssh@1.service", "system-getty.slice/getty@tty1.service",
        "system-serial\\x2dgetty.slice/serial-getty@ttyS0.service", "console-getty.service",
        "system-container\\x2dgetty.slice/container-getty@1.service"}) {
    EXPECT_EQ(home_on({.own = std::string("/system.slice/") + unit}).action, Home::Action::Stay) << unit;
  }
  for (const char* unit : {"sshd-keygen.service", "my-getty.service", "ssh-session.scope", "ssh@x.scope"}) {
    EXPECT_EQ(home_on({.own = std::string("/system.slice/") + unit}).action, Home::Action::Nowhere) << unit;
  }
}

TEST(DaemonHome, IsMadeByTheServiceManagerWhereOneRuns) {
  EXPECT_EQ(home_on({.own = kApp, .manager = true}).action, Home::Action::Ask);
  EXPECT_EQ(home_on({.own = "/system.slice/agent.service", .manager = true}).action, Home::Action::Ask);
  EXPECT_EQ(home_on({.own = "/", .manager = true}).action, Home::Action::Stay);
  const CgroupFacts old{"", "3:cpu:/\n1:name=systemd:/system.slice/agent.service\n", "1:name=systemd:/\n",
                        true};
  EXPECT_EQ(choose_home(
                old, [](const std::string&) { return false; }, kUser)
                .action,
            Home::Action::Ask);
}

// A hybrid system has both hierarchies, and puts everything at the root of the unified one.
TEST(DaemonHome, IsJudgedByTheHierarchyOfSystemdWhereTheUnifiedOneIsEmpty) {
  const auto action = [](const std::string& own, const std::string& parent) {
    return choose_home(
               {"", own, parent, false}, [](const std::string&) { return false; }, kUser)
        .action;
  };
  const std::string service = "/system.slice/agent.service";
  for (const std::string& own :
       {"1:name=systemd:" + service + "\n0::/\n", "0::/\n1:name=systemd:" + service + "\n"}) {
    EXPECT_EQ(action(own, "1:name=systemd:/init.scope\n0::/\n"), Home::Action::Nowhere) << own;
    EXPECT_EQ(action(own, own), Home::Action::Stay) << own;
  }
  EXPECT_EQ(action("1:name=systemd:/\n0::/\n", "0::/init.scope\n"), Home::Action::Stay);
  EXPECT_EQ(action("1:name=systemd:/\n0::" + service + "\n", "0::/init.scope\n"), Home::Action::Nowhere)
      << "the unified one says something";
}

// A scope that is not delegated stops as a whole when one process in it is killed for want of memory.
TEST(ServiceManager, IsAskedForAScopeThatOutlivesItsMembers) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(scope_words("/bin/systemd-run", Manager::OfTheUser),
            (Words{"/bin/systemd-run", "--user", "--scope", "--quiet", "--description=corral daemon",
                   "--property=Delegate=yes", "--"}));
  const Words systems = scope_words("/bin/systemd-run", Manager::OfTheSystem);
  EXPECT_EQ(std::count(systems.begin(), systems.end(), "--property=Delegate=yes"), 1);
  EXPECT_EQ(std::count(systems.begin(), systems.end(), "--user"), 0);
}

TEST(DaemonHome, IsTheHighestGroupThatWeMayUse) {
  const Home own = home_on({.own = kApp,
                            .writable = {"/user.slice/user-1000.slice/user@1000.service",
                                         "/user.slice/user-1000.slice/user@1000.service/app.slice"}});
  EXPECT_EQ(own.action, Home::Action::Move);
  EXPECT_EQ(own.directory, "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/corral-daemon-1000");

  const Home root = home_on({.own = "/a/b", .writable = {"", "/a", "/a/b"}});
  EXPECT_EQ(root.action, Home::Action::Move);
  EXPECT_EQ(root.directory, "/sys/fs/cgroup");
}

TEST(DaemonHome, IsNotTheClientsOwnGroupThoughThatIsWritable) {
  const Home home =
      home_on({.own = "/system.slice/agent.service", .writable = {"/system.slice/agent.service"}});
  EXPECT_EQ(home.action, Home::Action::Nowhere);
  EXPECT_EQ(home.directory, "/system.slice/agent.service");
  EXPECT_EQ(home_on({.own = "/system.slice/agent.service/jobs/7"}).action, Home::Action::Nowhere);
  EXPECT_EQ(home_on({.own = kApp}).action, Home::Action::Nowhere);
}

// Delegate=yes with User= gives the service's user all groups below the service's own.
TEST(DaemonHome, IsNotAGroupThatEndsWithTheClientsService) {
  const Home home =
      home_on({.own = "/system.slice/agent.service/jobs/7",
               .writable = {"/system.slice/agent.service", "/system.slice/agent.service/jobs"}});
  EXPECT_EQ(home.action, Home::Action::Nowhere);
  EXPECT_EQ(home.directory, "/system.slice/agent.service/jobs/7");
  EXPECT_EQ(home_on({.own = kApp + "/inner", .writable = {kApp}}).action, Home::Action::Nowhere);
}

TEST(ServiceManager, IsTheUsersOwnAlsoAfterSu) {
  const auto pointed = [](std::vector<std::string> environment, const std::set<std::string>& ours) {
    const bool found = point_to_manager(environment, "/run/user/1000",
                                        [&](const std::string& path) { return ours.count(path) > 0; });
    environment.push_back(found ? "found" : "none");
    return environment;
  };
  using Words = std::vector<std::string>;
  const std::string usual = "/run/user/1000/systemd/private";

  EXPECT_EQ(pointed({"A=1"}, {usual}), (Words{"A=1", "XDG_RUNTIME_DIR=/run/user/1000", "found"}));
  EXPECT_EQ(pointed({"XDG_RUNTIME_DIR=/my"}, {usual, "/my/systemd/private"}),
            (Words{"XDG_RUNTIME_DIR=/my", "found"}));
  EXPECT_EQ(pointed({"XDG_RUNTIME_DIR=/run/user/0", "A=1"}, {usual}),
            (Words{"A=1", "XDG_RUNTIME_DIR=/run/user/1000", "found"}))
      << "somebody else's";
  EXPECT_EQ(pointed({"XDG_RUNTIME_DIR=/run/user/0"}, {}), (Words{"XDG_RUNTIME_DIR=/run/user/0", "none"}));
}

TEST(LimitIn, ReadsARowOfTheKernelsTable) {
  const std::string table =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max cpu time              unlimited            unlimited            seconds   \n"
      "Max file size             1024                 unlimited            bytes     \n"
      "Max nonsense              x                    7                    bytes     \n";

  EXPECT_EQ(limit_in(table, "Max cpu time")->rlim_cur, RLIM_INFINITY);
  EXPECT_EQ(limit_in(table, "Max file size")->rlim_cur, 1024U);
  EXPECT_EQ(limit_in(table, "Max file size")->rlim_max, RLIM_INFINITY);
  EXPECT_FALSE(limit_in(table, "Max nonsense"));
  EXPECT_FALSE(limit_in(table, "Max address space"));
}

}  // namespace
}  // namespace corral::shim
