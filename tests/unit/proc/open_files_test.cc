#include "proc/open_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <future>
#include <thread>

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

TEST_F(OpenFiles, AreLoweredWhileTheyAreRaised) {
  const MoreOpenFiles more;
  {
    const LowerOpenFiles lower(32);
    EXPECT_EQ(soft_open_files(), 32U);
  }
  EXPECT_EQ(soft_open_files(), more.most());
}

// The order that once left the limit lowered for good: lower, raise, put back, put back.
TEST_F(OpenFiles, AreAsBeforeWhoeverComesInBetween) {
  std::promise<void> raised;
  std::promise<void> lowered_is_over;
  std::thread other;
  {
    const LowerOpenFiles lower(32);
    other = std::thread([&] {
      const MoreOpenFiles more;
      raised.set_value();
      lowered_is_over.get_future().wait();
    });
    // Without the lock it comes in now; with it, it has to wait for us.
    raised.get_future().wait_for(std::chrono::milliseconds(100));
  }
  lowered_is_over.set_value();
  other.join();

  EXPECT_EQ(soft_open_files(), usual_);
}

}  // namespace
}  // namespace corral::proc
