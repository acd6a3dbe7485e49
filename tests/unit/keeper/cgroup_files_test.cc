#include "keeper/cgroup_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace corral::keeper {
namespace {

namespace fs = std::filesystem;

/// A directory with the files that the kernel shows in a cgroup.
class CgroupFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "corral-cgroup-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const char* name, const char* text) const { std::ofstream(directory_ / name) << text; }
  bool hit(LimitName name) const { return cgroup_limit_hit(directory_.c_str(), name); }

  fs::path directory_;
};

TEST_F(CgroupFiles, TellWhichLimitTheKernelHadToEnforce) {
  write("memory.events", "low 0\nhigh 3\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n");
  write("pids.events", "max 7\n");
  write("cpu.stat", "usage_usec 812\nnr_periods 20\nnr_throttled 4\nthrottled_usec 99\n");

  EXPECT_TRUE(hit(LimitName::Memory));
  EXPECT_TRUE(hit(LimitName::Pids));
  EXPECT_TRUE(hit(LimitName::Cpu));
}

TEST_F(CgroupFiles, TellWhenALimitWasNeverReached) {
  write("memory.events", "low 9\nhigh 9\nmax 9\noom 9\noom_kill 0\n");
  write("pids.events", "max 0\n");
  write("cpu.stat", "nr_throttled 0\nnr_throttled_more 5\n");

  EXPECT_FALSE(hit(LimitName::Memory));
  EXPECT_FALSE(hit(LimitName::Pids));
  EXPECT_FALSE(hit(LimitName::Cpu));
}

TEST_F(CgroupFiles, ThatAreMissingMeanNoLimit) {
  EXPECT_FALSE(hit(LimitName::Memory));
  EXPECT_FALSE(cgroup_limit_hit("", LimitName::Memory));
}

TEST_F(CgroupFiles, AreWrittenToKillTheWholeGroup) {
  write("cgroup.kill", "");

  kill_cgroup(directory_.c_str());

  std::ifstream file(directory_ / "cgroup.kill");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "1");
}

TEST_F(CgroupFiles, AreReadToTheirLastLine) {
  write("pids.events", "other 1\nmax 1");
  EXPECT_TRUE(hit(LimitName::Pids));

  write("pids.events", "\n\nmax 1\n");
  EXPECT_TRUE(hit(LimitName::Pids));

  write("pids.events", "");
  EXPECT_FALSE(hit(LimitName::Pids));

  write("pids.events", "max1\nxmax 1\nmax\n");
  EXPECT_FALSE(hit(LimitName::Pids));
}

TEST_F(CgroupFiles, LongerThanTheyEverAreAreReadAsFarAsTheyFit) {
  write("memory.events", (std::string(1011, 'x') + "\noom_kill 12").c_str());
  EXPECT_TRUE(hit(LimitName::Memory)) << "the 1,023rd letter is still read";

  write("memory.events", (std::string(1012, 'x') + "\noom_kill 012").c_str());
  EXPECT_FALSE(hit(LimitName::Memory));
}

TEST_F(CgroupFiles, AreNotMadeWhereThereAreNone) {
  kill_cgroup(directory_.c_str());
  kill_cgroup("");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(CgroupFiles, GoWithAllGroupsBelowThem) {
  const fs::path group = directory_ / "corral-0123";
  fs::create_directories(group / "a" / "b" / "c");
  fs::create_directories(group / "d");
  for (int i = 0; i < 40; ++i)
    fs::create_directory(group / ("more-than-one-read-of-a-folder-" + std::to_string(i)));

  remove_cgroup(group.c_str());

  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(CgroupFiles, ThatAreInUseStay) {
  fs::create_directories(directory_ / "group" / "used");
  fs::create_directories(directory_ / "group" / "free");
  write("group/used/a-file", "");

  remove_cgroup((directory_ / "group").c_str());

  EXPECT_TRUE(fs::exists(directory_ / "group" / "used" / "a-file"));
  EXPECT_FALSE(fs::exists(directory_ / "group" / "free"));
}

TEST_F(CgroupFiles, AreLookedForSixteenLevelsDeep) {
  fs::path deep = directory_ / "top";
  for (int i = 1; i <= 16; ++i) deep /= "x";
  fs::create_directories(deep / "too-deep");
  const std::string top = (directory_ / "top").string();

  remove_cgroup(top.c_str());
  EXPECT_TRUE(fs::exists(deep / "too-deep")) << "what is not looked at is not removed";

  fs::remove(deep / "too-deep");
  remove_cgroup(top.c_str());
  EXPECT_FALSE(fs::exists(top));
}

TEST(NoCgroup, IsNeverRemoved) {
  const fs::path before = fs::current_path();
  remove_cgroup("");
  EXPECT_TRUE(fs::exists(before));
}

}  // namespace
}  // namespace corral::keeper
