#include "proc/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "survey/temp_files.h"

namespace corral::proc {
namespace {

using ::testing::HasSubstr;

class OwnProgramPath : public survey::TempFiles {};

TEST_F(OwnProgramPath, IsTheOneInPathIfThatIsThisProgram) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  link("bin/corral", self);
  write("other/corral", "");
  std::filesystem::permissions(root() + "/other/corral", std::filesystem::perms::owner_all);

  EXPECT_EQ(own_program({"PATH=" + root() + "/bin"})->path, root() + "/bin/corral");
  EXPECT_EQ(own_program({"PATH=" + root() + "/other"})->path, self) << "another program of that name";
  EXPECT_EQ(own_program({"PATH=" + root() + "/none"})->path, self);
}

TEST_F(OwnProgramPath, IsDoubtedWhereItMayNotStay) {
  write("build/CMakeCache.txt", "");
  EXPECT_THAT(doubt_about_path("/home/me/.npm/_npx/0123/bin/corral"), HasSubstr("cache of npx"));
  EXPECT_THAT(doubt_about_path("/tmp/corral"), HasSubstr("temporary files"));
  EXPECT_EQ(doubt_about_path("/usr/bin/corral"), "");
  EXPECT_THAT(doubt_about_path(root() + "/build/bin/corral"), HasSubstr("build tree"));
}

/// What `exe` of a process leads to, in a directory that looks like that process.
class RunningProgramFile : public survey::TempFiles {
 protected:
  RunningProgram::File file() const { return running_program(root() + "/1").file; }
};

TEST_F(RunningProgramFile, IsTheSameAsLongAsNobodyReplacesIt) {
  write("bin/corral", "one");
  link("1/exe", root() + "/bin/corral");
  EXPECT_EQ(file(), RunningProgram::File::Same);
  EXPECT_EQ(running_program(root() + "/1").path, root() + "/bin/corral");
}

TEST_F(RunningProgramFile, OfThisProcessIsTheSame) {
  const RunningProgram own = running_program();
  EXPECT_EQ(own.file, RunningProgram::File::Same);
  EXPECT_EQ(own.path, std::filesystem::read_symlink("/proc/self/exe").string());
}

/// A copy of `sleep` that runs while its file is replaced and removed; it ends with the test.
TEST_F(RunningProgramFile, IsAnotherOneAfterAnUpgradeAndGoneAfterARemoval) {
  const std::string program = root() + "/sleep";
  std::filesystem::copy_file("/bin/sleep", program);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(program.c_str(), "sleep", "60", nullptr);
    _exit(127);
  }
  ASSERT_GT(child, 0);
  const std::string process = "/proc/" + std::to_string(child);
  for (int turn = 0; turn < 10'000'000 && running_program(process).path != program; ++turn) sched_yield();
  EXPECT_EQ(running_program(process).file, RunningProgram::File::Same);

  std::filesystem::copy_file("/bin/sleep", program + ".new");
  std::filesystem::rename(program + ".new", program);
  EXPECT_EQ(running_program(process).file, RunningProgram::File::Other);
  EXPECT_EQ(running_program(process).path, program);

  std::filesystem::remove(program);
  EXPECT_EQ(running_program(process).file, RunningProgram::File::Gone);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace corral::proc
