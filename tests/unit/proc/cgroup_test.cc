#include "proc/cgroup.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace corral::proc {
namespace {

namespace fs = std::filesystem;
using keeper::Enforcer;

TEST(OwnCgroup, IsFoundInAUnifiedHierarchy) {
  EXPECT_EQ(own_cgroup("25 1 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
                       "0::/user.slice/user-1000.slice/session-2.scope\n"),
            "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope");
}

TEST(OwnCgroup, IsFoundInAHybridOne) {
  EXPECT_EQ(own_cgroup("30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                       "31 1 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                       "8:pids:/\n0::/\n"),
            "/sys/fs/cgroup/unified");
}

TEST(OwnCgroup, IsNotGuessed) {
  const char* mount = "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(own_cgroup("30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw\n", "0::/\n"), std::nullopt);
  EXPECT_EQ(own_cgroup("25 1 0:22 /sub /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n"), std::nullopt);
  EXPECT_EQ(own_cgroup(mount, "0::/../../outside\n"), std::nullopt);
  EXPECT_EQ(own_cgroup(mount, "8:pids:/\n"), std::nullopt);
  EXPECT_EQ(own_cgroup("", ""), std::nullopt);
}

/// A directory with the files that a kernel with these controllers would show.
class CgroupLimits : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "corral-cgroup-XXXXXX").string();
    parent_ = mkdtemp(pattern.data());
    directory_ = parent_ / "corral-test";
    fs::create_directory(directory_);
    touch(parent_ / "cgroup.subtree_control");
  }
  void TearDown() override { fs::remove_all(parent_); }

  static void touch(const fs::path& path) { std::ofstream file(path); }
  static std::string text(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path parent_;
  fs::path directory_;
};

TEST_F(CgroupLimits, AreWrittenWhereTheControllersAre) {
  for (const char* name : {"memory.max", "memory.oom.group", "pids.max", "cpu.max"}) touch(directory_ / name);

  const Enforcement held = apply_limits(directory_.string(), {512U << 20, 64, 1500});

  EXPECT_EQ(held.memory, Enforcer::Cgroup);
  EXPECT_EQ(held.processes, Enforcer::Cgroup);
  EXPECT_EQ(held.cpu, Enforcer::Cgroup);
  EXPECT_EQ(text(directory_ / "memory.max"), "536870912");
  EXPECT_EQ(text(directory_ / "memory.oom.group"), "1");
  EXPECT_EQ(text(directory_ / "pids.max"), "64");
  EXPECT_EQ(text(directory_ / "cpu.max"), "150000 100000");
}

TEST_F(CgroupLimits, AreAskedForFromTheParentAndMissedWhereItRefuses) {
  touch(directory_ / "pids.max");

  const Enforcement held = apply_limits(directory_.string(), {1U << 20, 8, std::nullopt});

  EXPECT_EQ(held.memory, Enforcer::None);
  EXPECT_EQ(held.processes, Enforcer::Cgroup);
  EXPECT_EQ(text(parent_ / "cgroup.subtree_control"), "+memory");
  EXPECT_FALSE(fs::exists(directory_ / "memory.max"));
}

// With Delegate= or without: such a parent has processes, us among them, and the kernel refuses.
TEST_F(CgroupLimits, AreNotAskedForFromAParentThatIsNotTheRoot) {
  touch(parent_ / "cgroup.type");

  const Enforcement held = apply_limits(directory_.string(), {1U << 20, 8, 500});

  EXPECT_EQ(held.memory, Enforcer::None);
  EXPECT_EQ(held.cpu, Enforcer::None);
  EXPECT_EQ(text(parent_ / "cgroup.subtree_control"), "");
}

TEST_F(CgroupLimits, ThatNobodySetAreNotTouched) {
  touch(directory_ / "memory.max");

  const Enforcement held = apply_limits(directory_.string(), {});

  EXPECT_EQ(held.memory, Enforcer::None);
  EXPECT_EQ(text(directory_ / "memory.max"), "");
}

}  // namespace
}  // namespace corral::proc
