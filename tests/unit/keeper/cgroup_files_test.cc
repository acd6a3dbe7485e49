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

}  // namespace
}  // namespace corral::keeper
