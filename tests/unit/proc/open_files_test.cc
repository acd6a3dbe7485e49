#include "proc/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace corral::proc {
namespace {

/// Room between the two limits, and the old ones again at the end.
class OpenFiles : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit limit{before_.rlim_max / 2, before_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    usual_ = soft_open_files();
  }
  void TearDown() override { setrlimit(RLIMIT_NOFILE, &before_); }

  rlimit before_{};
  std::uint64_t usual_ = 0;
};

TEST_F(OpenFiles, AreRaisedUntilTheLastIsGone) {
  {
    const MoreOpenFiles one;
    {
      const MoreOpenFiles two;
      EXPECT_EQ(soft_open_files(), one.most());
    }
    EXPECT_EQ(soft_open_files(), one.most());
  }
  EXPECT_EQ(soft_open_files(), usual_);
}

}  // namespace
}  // namespace corral::proc
