#include "proc/own_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace corral::proc
