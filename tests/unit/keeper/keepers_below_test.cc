#include "keeper/keepers_below.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace corral::keeper {
namespace {

/// The test program itself is looked at, under names that it gives to itself.
class KeepersBelow : public testing::Test {
 protected:
  KeepersBelow() { prctl(PR_GET_NAME, before_); }
  ~KeepersBelow() override { prctl(PR_SET_NAME, before_); }

  const FileId own_file_ = file_id("/proc/self/exe");

 private:
  char before_[16] = "";
};

TEST_F(KeepersBelow, AFileIsTheSameUnderEveryPath) {
  ASSERT_NE(own_file_.inode, 0U);
  EXPECT_EQ(file_id(("/proc/" + std::to_string(getpid()) + "/exe").c_str()), own_file_);
  EXPECT_NE(file_id("/"), own_file_);
  EXPECT_EQ(file_id("/nothing/is/here"), FileId{});
}

// Its file may be on a file system that does not answer, so the names alone must tell.
TEST_F(KeepersBelow, TheFileOfAnOrdinaryProcessIsNotLookedAt) {
  EXPECT_FALSE(is_keeper(getpid(), own_file_));
}

TEST_F(KeepersBelow, ANameAloneIsNotEnough) {
  prctl(PR_SET_NAME, "corral-keeper");

  EXPECT_FALSE(is_keeper(getpid(), {}));
  EXPECT_FALSE(is_keeper(getpid(), file_id("/")));
}

TEST_F(KeepersBelow, ARenamedFileIsStillTheHelper) {
  for (const char* name : {"corral-keeper", "corral-janitor"}) {
    prctl(PR_SET_NAME, name);
    EXPECT_TRUE(is_keeper(getpid(), own_file_)) << name;
  }
}

}  // namespace
}  // namespace corral::keeper
