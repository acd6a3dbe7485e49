// No more processes can be made, or one of them cannot be ended. Never a hang, never
// something left in silence.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class ForkRefused : public OsTest {
 protected:
  // Starts with room for so many processes. True if the server came up and ended well; otherwise corral must
  // have said what it lacks.
  bool works(Launch launch) const {
    launch.env.push_back("ASAN_OPTIONS=detect_leaks=0");  // the leak checker wants a process of its own
    for (const char* const name : {"stderr", "report.json"})
      std::filesystem::remove(path(name));  // of another user
    Session session(launch);
    session.close_stdin();
    const auto code = session.wait();
    EXPECT_TRUE(code == 0 || code == 125) << testing::PrintToString(code) << errors();
    EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
    if (code == 0) return true;
    EXPECT_TRUE(errors().starts_with("corral run: ")) << errors();
    EXPECT_NE(errors().find("process"), std::string::npos) << errors();
    EXPECT_NE(errors().find("limit"), std::string::npos) << errors();
    return false;
  }
};

TEST_F(ForkRefused, ToTheUserIsAMessageAtEveryStep) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to become a user without other processes";
  for (const Level level : {Level::Basic, Level::Strict}) {
    if (const auto reason = why_not_here({level, User::Ordinary})) {
      std::cout << name(level) << " is left out: " << *reason << "\n";
      continue;
    }
    std::vector<bool> outcome;
    for (rlim_t room = 1; room <= 8; ++room) {
      Launch launch = corral({.level = level});
      launch.uid = fresh_uid();
      launch.before_exec = [room] {
        const rlimit limit{room, room};
        setrlimit(RLIMIT_NPROC, &limit);
      };
      SCOPED_TRACE(std::string(name(level)) + " with room for " + std::to_string(room));
      outcome.push_back(works(launch));
    }
    EXPECT_FALSE(outcome.front()) << "one process cannot be three";
    EXPECT_TRUE(outcome.back()) << name(level) << errors();
    EXPECT_TRUE(std::is_sorted(outcome.begin(), outcome.end())) << testing::PrintToString(outcome);
  }
}

// A cgroup of its own stands for the whole machine: fork fails in it as in a full process table.
class FullProcessTable : public ForkRefused {
 protected:
  void SetUp() override {
    if (!running_as_root() || mkdir(group_.c_str(), 0755) != 0) {
      GTEST_SKIP() << "needs a writable pids controller at /sys/fs/cgroup/pids";
    }
  }

  void TearDown() override {
    if (running_as_root()) eventually([this] { return rmdir(group_.c_str()) == 0 || errno == ENOENT; });
  }

  void make_room(int processes) const { std::ofstream(group_ + "/pids.max") << processes; }

  std::function<void()> inside() const {
    return [this] {
      const int fd = open((group_ + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0 || write(fd, "0", 1) != 1) _exit(97);
    };
  }

 private:
  const std::string group_ = "/sys/fs/cgroup/pids/" + new_tag();
};

TEST_F(FullProcessTable, AtTheStartIsAMessageAtEveryStep) {
  for (const User user : {User::Root, User::Ordinary}) {
    std::vector<bool> outcome;
    for (int room = 1; room <= 6; ++room) {
      make_room(room);
      Launch launch = corral({.level = Level::Basic, .user = user});
      launch.before_exec = inside();
      SCOPED_TRACE(std::string(name(user)) + " with room for " + std::to_string(room));
      outcome.push_back(works(launch));
    }
    EXPECT_FALSE(outcome.front()) << "one process cannot be three";
    EXPECT_TRUE(outcome.back());
    EXPECT_TRUE(std::is_sorted(outcome.begin(), outcome.end())) << testing::PrintToString(outcome);
  }
}

TEST_F(FullProcessTable, DuringTheSessionDoesNotHinderItsEnd) {
  make_room(16);
  Launch launch = corral({.options = {"--on-stop", "echo gone > " + path("noted")}});
  launch.before_exec = inside();
  Session session(launch);
  ASSERT_EQ(session.ask("grow", "daemons:60"), "failed") << errors();
  ASSERT_GE(processes().size(), 14U);

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  EXPECT_EQ(file("noted"), "gone\n");
  expect_clean(report());
}

// A descendant that really becomes root cannot be signalled by an ordinary user.
class SetUidDescendant : public OsTest {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root to make a set-uid program";
    std::filesystem::copy_file(programs().adversary, path("setuid-program"));
    ASSERT_EQ(chmod(path("setuid-program").c_str(), 04755), 0);
  }

  std::vector<std::string> server() const { return {"--setuid-program=" + path("setuid-program")}; }
};

TEST_F(SetUidDescendant, IsReportedAndNotWaitedForWithoutEnd) {
  Session session(corral({.options = {"--kill-grace", "500ms"}, .server = server()}));
  ASSERT_EQ(session.ask("grow", "setuid:1"), "grown") << errors();
  const auto all = processes();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const Process& one) { return one.comm == "adv-helper"; });
  ASSERT_NE(found, all.end());

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  const Report result = report();
  EXPECT_TRUE(result.leaked);
  EXPECT_EQ(result.proof, "none");
  ASSERT_EQ(result.survivors.size(), 1U);
  EXPECT_EQ(result.survivors[0].pid, found->pid);
  EXPECT_EQ(result.survivors[0].uid, 0);
  EXPECT_EQ(result.survivors[0].cause, "permission");
  EXPECT_NE(errors().find(std::to_string(found->pid)), std::string::npos) << errors();
  EXPECT_NE(errors().find("kill"), std::string::npos) << errors();

  ASSERT_TRUE(kill_now(found->pid));  // root may do it; the keeper that stayed for it goes too
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

TEST_F(SetUidDescendant, DoesNotBecomeRootUnderStrict) {
  if (const auto reason = why_not_here({Level::Strict, User::Ordinary})) GTEST_SKIP() << *reason;
  Session session(corral({.level = Level::Strict, .server = server()}));
  EXPECT_EQ(session.ask("grow", "setuid:1"), "failed") << errors();

  session.close_stdin();

  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
  expect_clean(report());
}

}  // namespace
}  // namespace corral::os_tests
