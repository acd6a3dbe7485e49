// What a server finds when it starts: its own session, clean signals, the client's own pipes, and nothing of
// corral but the marks by which we would find it again.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class ServerView : public OsTest, public testing::WithParamInterface<Setting> {
 protected:
  RunLine line(std::vector<std::string> options = {}, std::vector<std::string> server = {}) const {
    return {.level = GetParam().level,
            .user = GetParam().user,
            .options = std::move(options),
            .server = std::move(server)};
  }

  void SetUp() override {
    if (const auto reason = why_not_here(GetParam())) GTEST_SKIP() << *reason;
  }
};

INSTANTIATE_TEST_SUITE_P(Every, ServerView, testing::ValuesIn(every_setting()),
                         [](const auto& test) { return name(test.param); });

TEST_P(ServerView, HasNoDescriptorBesidesTheThree) {
  Session session(corral(line()));

  EXPECT_EQ(session.ask("fds"), "0 1 2") << errors();
}

TEST_P(ServerView, HasNoneThatTheClientLeakedIntoCorral) {
  Launch launch = corral(line());
  launch.before_exec = [] {
    for (const int fd : {3, 4, 5, 17, 200}) dup2(0, fd);
  };
  Session session(launch);

  EXPECT_EQ(session.ask("fds"), "0 1 2") << errors();
}

TEST_P(ServerView, HasDefaultSignalsWhateverTheParentIgnoredOrBlocked) {
  Launch launch = corral(line());
  launch.before_exec = [] {
    for (const int number : {SIGCHLD, SIGPIPE, SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGUSR1})
      signal(number, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
  };
  Session session(launch);

  EXPECT_EQ(session.ask("sigstate"),
            "SigPnd: 0000000000000000;ShdPnd: 0000000000000000;SigBlk: 0000000000000000;"
            "SigIgn: 0000000000000000;SigCgt: 0000000000000000;")
      << errors();
  session.send("exit", "9");
  EXPECT_EQ(session.wait(), 9);  // a parent that ignores SIGCHLD must not cost us the exit code
}

TEST_P(ServerView, LeadsASessionAndAGroupOfItsOwn) {
  Session session(corral(line()));

  std::istringstream ids(session.ask("pid").value_or(""));
  pid_t pid = 0, own_session = 0, group = 0;
  ids >> pid >> own_session >> group;
  EXPECT_GT(pid, 0) << errors();
  EXPECT_EQ(own_session, pid);
  EXPECT_EQ(group, pid);
  EXPECT_EQ(session.ask("tty"), strerror(ENXIO));
}

TEST_P(ServerView, CarriesTheInstanceAndATagThatNoExecRemoves) {
  Session session(corral(line()));
  const auto instance = session.ask("env", "CORRAL_INSTANCE");
  const auto tag_limit = session.ask("rttime");
  ASSERT_TRUE(instance && tag_limit) << errors();

  session.close_stdin();
  ASSERT_EQ(session.wait(), 0);

  EXPECT_EQ(instance->size(), 32U);
  EXPECT_EQ(instance->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(report().instance, *instance);
  ASSERT_NE(*tag_limit, "infinity");
  EXPECT_GE(std::stoull(*tag_limit), std::uint64_t{1} << 61);
}

TEST_P(ServerView, StartsWhereTheClientIsOrWhereItIsTold) {
  Launch launch = corral(line());
  launch.before_exec = [] {
    if (chdir("/usr") != 0) _exit(97);
  };
  Session plain(launch);
  EXPECT_EQ(plain.ask("cwd"), "/usr") << errors();

  Session told(corral(line({"--cwd", "/usr/bin"})));
  EXPECT_EQ(told.ask("cwd"), "/usr/bin") << errors();
}

TEST_P(ServerView, HasTheEnvironmentOfTheClientAndWhatItIsGiven) {
  Launch launch = corral(line({"--env", "GIVEN=by option", "--env", "BOTH=option", "--env", "EMPTY="}));
  launch.env.insert(launch.env.end(), {"BOTH=client", "PLAIN=client"});
  Session session(launch);

  EXPECT_EQ(session.ask("env", "GIVEN"), "by option") << errors();
  EXPECT_EQ(session.ask("env", "BOTH"), "option");
  EXPECT_EQ(session.ask("env", "PLAIN"), "client");
  EXPECT_EQ(session.ask("env", "EMPTY"), "");
  EXPECT_EQ(session.ask("env", "NEVER_SET"), "(unset)");
}

TEST_P(ServerView, StdoutHoldsNothingButTheBytesOfTheServer) {
  Session session(corral(line({"-v"}, {"--grow=daemons:3"})));
  session.send("echo", "only this");
  session.close_stdin();

  EXPECT_EQ(session.output_to_end(), "{\"id\":1,\"result\":\"only this\"}\n");
  EXPECT_NE(errors(), "");  // -v talks, but on stderr
}

TEST_P(ServerView, UsesTheClientsOwnPipe) {
  Session session(corral(line()));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const pid_t server = find_server(tag()).value().pid;

  EXPECT_EQ(link_of(server, 0), link_of(getpid(), session.stdin_fd()));
  EXPECT_EQ(link_of(server, 1), link_of(getpid(), session.stdout_fd()));
}

TEST_P(ServerView, OrphansAreReapedWhileItRuns) {
  Session session(corral(line({}, {"--grow=daemons:20"})));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  std::vector<pid_t> daemons;
  for (const Process& process : processes()) {
    if (process.comm == "adv-helper") daemons.push_back(process.pid);
  }
  ASSERT_EQ(daemons.size(), 20U);

  for (const pid_t pid : daemons) ASSERT_TRUE(kill_now(pid));

  for (const pid_t pid : daemons) EXPECT_TRUE(eventually([&] { return is_gone(pid); })) << "zombie " << pid;
  EXPECT_EQ(session.ask("echo", "still here"), "still here");
}

TEST_P(ServerView, NoZombieIsLeftAtTheEnd) {
  Session session(corral(line({}, {"--grow=mixed:18"})));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  std::vector<pid_t> seen;
  for (const Process& process : processes()) seen.push_back(process.pid);
  ASSERT_GE(seen.size(), 18U);

  session.close_stdin();
  ASSERT_EQ(session.wait(), 0);

  for (const pid_t pid : seen) EXPECT_TRUE(eventually([&] { return is_gone(pid); })) << "zombie " << pid;
}

TEST_P(ServerView, RunsAtTheLevelThatTheReportNamesAndItsCgroupGoesWithIt) {
  Session session(corral(line({}, {"--grow=daemons:3"})));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();
  ASSERT_EQ(session.wait(), 0);

  const Report result = report();
  if (GetParam().level == Level::Strict) {
    EXPECT_TRUE(result.level.starts_with("pidns")) << result.level;
  } else {
    EXPECT_TRUE(result.level.starts_with("keeper")) << result.level;
  }
  if (GetParam().level == Level::Basic) {
    EXPECT_EQ(result.level, "keeper");
  }
  for (const char* const mount : {"/sys/fs/cgroup/", "/sys/fs/cgroup/unified/"}) {
    EXPECT_NE(access((mount + ("corral-" + result.instance)).c_str(), F_OK), 0);
  }
}

// In a container the first process is often one that never reaps. So whatever we start, we reap
// ourselves: nothing is handed over. The test makes itself the next subreaper above corral to see what
// would arrive at pid 1.
TEST_P(ServerView, NothingIsLeftForInitToReap) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Session session(corral(line({}, {"--grow=mixed:18"})));
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  session.close_stdin();
  ASSERT_EQ(session.wait(), 0);

  siginfo_t handed_over{};
  EXPECT_EQ(waitid(P_ALL, 0, &handed_over, WEXITED | WNOHANG | WNOWAIT), -1)
      << testing::PrintToString(process_by_pid(handed_over.si_pid).value_or(Process{}));
  while (waitpid(-1, nullptr, 0) > 0) {
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// Keepers are found by instance in `ps`, and not by anything of the server's command line: a kill by name
// that is meant for the server must miss the process that cleans up after it.
TEST_P(ServerView, IsKeptByAProcessThatShowsOnlyTheInstance) {
  Session session(corral(line()));
  const auto instance = session.ask("env", "CORRAL_INSTANCE");
  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(instance && keeper) << errors();

  std::ifstream stream("/proc/" + std::to_string(keeper->pid) + "/cmdline", std::ios::binary);
  std::string cmdline(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(cmdline, std::string("corral-keeper") + '\0' + *instance + '\0');
  EXPECT_EQ(keeper->session, keeper->pid);
  EXPECT_EQ(process_by_pid(session.pid()).value().group, getpgrp());
}

}  // namespace
}  // namespace corral::os_tests
