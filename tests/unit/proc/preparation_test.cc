// What a plan says before there is a process. Without a cgroup, which would be a real one.
#include "proc/preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace corral::proc {
namespace {

namespace fs = std::filesystem;
using keeper::Enforcer;
using keeper::TerminatorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kInstance = "0123456789abcdef0123456789abcdef";

class Preparing : public testing::Test {
 protected:
  Preparing() {
    std::string pattern = (fs::temp_directory_path() / "corral-prepare-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    program("server");
    program("docker");
    spec_.argv = {"server", "--all"};
    spec_.environment = {"PATH=" + folder_.string()};
    spec_.containment = Containment::Basic;
  }
  ~Preparing() override { fs::remove_all(folder_); }

  void program(const std::string& name) const {
    std::ofstream(folder_ / name) << "#!/bin/sh\n";
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }

  std::string refusal() const {
    const Result<Preparation> plan = prepare(spec_, kInstance);
    return plan ? "" : plan.error().message;
  }

  fs::path folder_;
  LaunchSpec spec_;
};

TEST_F(Preparing, SettlesWhatIsAskedFor) {
  spec_.directory = folder_.string();
  spec_.stdin_grace = std::chrono::milliseconds(11);
  spec_.term_grace = std::chrono::milliseconds(12);
  spec_.kill_grace = std::chrono::milliseconds(13);

  const Result<Preparation> plan = prepare(spec_, kInstance);

  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->strings.executable, (folder_ / "server").string());
  EXPECT_EQ(plan->strings.directory, folder_.string());
  EXPECT_EQ(plan->strings.cgroup, "");
  EXPECT_THAT(plan->strings.argv, ElementsAre("server", "--all"));
  EXPECT_THAT(plan->strings.terminators, IsEmpty());
  EXPECT_THAT(plan->warnings, IsEmpty());
  EXPECT_THAT(plan->container, IsEmpty());
  EXPECT_EQ(plan->scratch, "");
  EXPECT_EQ(plan->header.instance, kInstance);
  EXPECT_EQ(plan->header.owner, getpid());
  EXPECT_EQ(plan->header.pid_namespace, 0);
  EXPECT_EQ(plan->header.watch_stdin, 1);
  EXPECT_EQ(plan->header.watch_stdout, 1);
  EXPECT_EQ(plan->header.report, 0);
  EXPECT_EQ(plan->header.graces.stdin_closed, keeper::Micros(11'000));
  EXPECT_EQ(plan->header.graces.term, keeper::Micros(12'000));
  EXPECT_EQ(plan->header.graces.kill, keeper::Micros(13'000));
}

TEST_F(Preparing, PassesOnWhoReadsTheOutputAndTheReport) {
  spec_.watch_output = false;
  spec_.report = 0;

  const Result<Preparation> plan = prepare(spec_, kInstance);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->header.watch_stdout, 0);
  EXPECT_EQ(plan->header.report, 1);
}

TEST_F(Preparing, WithoutACgroupTheWatchdogHoldsTheLimits) {
  spec_.limits = {1U << 20, 8000, 500};

  const Result<Preparation> plan = prepare(spec_, kInstance);

  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->header.memory.value, 1U << 20);
  EXPECT_EQ(plan->header.memory.by, Enforcer::Watchdog);
  EXPECT_EQ(plan->header.pids.value, 8000U);
  EXPECT_EQ(plan->header.pids.by, Enforcer::Watchdog);
  EXPECT_EQ(plan->header.cpu.value, 500U);
  EXPECT_EQ(plan->header.cpu.by, Enforcer::None);
  EXPECT_THAT(plan->warnings,
              ElementsAre("the cpu limit cannot be enforced here: the cgroup of this process "
                          "has no cpu controller for its children; the server runs without it"));
}

TEST_F(Preparing, LimitsThatNobodySetAreHeldByNobody) {
  const Result<Preparation> plan = prepare(spec_, kInstance);

  ASSERT_TRUE(plan);
  for (const keeper::PlanLimit& limit : {plan->header.memory, plan->header.pids, plan->header.cpu}) {
    EXPECT_EQ(limit.value, 0U);
    EXPECT_EQ(limit.by, Enforcer::None);
  }
}

TEST_F(Preparing, WarnsOfMoreProcessesThanTheWatchdogCounts) {
  spec_.limits.processes = 8001;

  const Result<Preparation> plan = prepare(spec_, kInstance);

  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("more than 8000 processes needs a cgroup")));
}

TEST_F(Preparing, TheCommandForTheEndComesAfterTheRemovalOfTheContainer) {
  spec_.argv = {"docker", "run", "image"};
  spec_.on_stop = "rm -f lock";

  const Result<Preparation> plan = prepare(spec_, kInstance);

  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->strings.terminators.size(), 2U);
  EXPECT_EQ(plan->strings.terminators[0].kind, TerminatorKind::Container);
  EXPECT_EQ(plan->strings.terminators[1].kind, TerminatorKind::OnStop);
  EXPECT_THAT(plan->strings.terminators[1].argv, ElementsAre("/bin/sh", "-c", "rm -f lock"));
  EXPECT_THAT(plan->strings.argv, ElementsAre("docker", "run", "--label", "corral.instance=" + kInstance,
                                              "--cidfile", plan->scratch + "/cid", "image"));
  EXPECT_THAT(plan->container, ElementsAre(plan->scratch, (folder_ / "docker").string()));
  EXPECT_TRUE(fs::is_directory(plan->scratch));

  abandon(*plan);
  EXPECT_FALSE(fs::exists(plan->scratch));
}

TEST_F(Preparing, RefusesWhatCannotStart) {
  LaunchSpec whole = spec_;
  spec_.argv.clear();
  EXPECT_THAT(refusal(), HasSubstr("the command is empty"));

  spec_ = whole;
  spec_.argv = {"nobody"};
  EXPECT_THAT(refusal(), HasSubstr("command 'nobody' was not found in PATH"));

  spec_ = whole;
  spec_.directory = (folder_ / "missing").string();
  EXPECT_THAT(refusal(), HasSubstr("missing' does not exist: create it, or name another one"));

  spec_.directory = (folder_ / "server").string();
  EXPECT_THAT(refusal(), HasSubstr("server' is not a directory"));

  // A real error, and not that it does not exist: here a path that no file system can have.
  spec_.directory = (folder_ / std::string(300, 'n')).string();
  EXPECT_THAT(refusal(), HasSubstr("' cannot be looked at: File name too long"));
}

// Root may enter every directory.
TEST_F(Preparing, SaysWhyADirectoryCannotBeEntered) {
  const bool was_root = getuid() == 0;
  EXPECT_TRUE(!was_root || setresuid(65534, 65534, 0) == 0);
  const fs::path closed = fs::path("/tmp") / ("corral-closed-" + std::to_string(getpid()));
  fs::create_directories(closed / "inner");
  fs::permissions(closed / "inner", fs::perms::none);
  spec_.directory = (closed / "inner").string();
  const std::string not_entered = refusal();
  fs::permissions(closed, fs::perms::none);
  const std::string not_seen = refusal();
  fs::permissions(closed, fs::perms::owner_all);
  fs::permissions(closed / "inner", fs::perms::owner_all);
  fs::remove_all(closed);
  EXPECT_TRUE(!was_root || setresuid(0, 0, 0) == 0);

  EXPECT_THAT(not_entered, HasSubstr("inner' cannot be entered: Permission denied"));
  EXPECT_THAT(not_seen, HasSubstr("inner' cannot be looked at: Permission denied"));
}

}  // namespace
}  // namespace corral::proc
