#include "base/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "base/test_pipe.h"
#include "base/unique_fd.h"

namespace corral {
namespace {

using tests::make_pipe;
using tests::Pipe;

/// Two pipes break in one turn. Whoever hears of the first lets go of the second and watches a third one,
/// which gets the place that the second had in the reactor, where news of the second wait to be told.
class NewsOfAnother : public testing::Test {
 protected:
  NewsOfAnother() {
    for (std::size_t i = 0; i < 2; ++i) {
      watches_[i] = std::make_unique<Watch>(loop_, pipes_[i].read.get());
      watches_[i]->when_readable([this, i] { replace(1 - i); });
      pipes_[i].write.reset();
    }
    loop_.run_due();
  }

  void replace(std::size_t other) {
    if (third_watch_) return;
    watches_[other].reset();
    third_watch_ = std::make_unique<Watch>(loop_, third_.read.get());
    third_watch_->when_readable([this] { readable_ = true; });
    third_watch_->when_broken([this] { broken_ = true; });
  }

  Loop loop_;
  Pipe pipes_[2] = {make_pipe(), make_pipe()};
  std::unique_ptr<Watch> watches_[2];
  Pipe third_ = make_pipe();
  std::unique_ptr<Watch> third_watch_;
  bool readable_ = false;
  bool broken_ = false;
};

TEST_F(NewsOfAnother, AreNotToldToWhoeverHasItsPlaceNow) {
  ASSERT_TRUE(third_watch_);
  EXPECT_FALSE(readable_);
  EXPECT_FALSE(broken_);
}

TEST_F(NewsOfAnother, DoNotKeepItFromHearingItsOwn) {
  ASSERT_EQ(write(third_.write.get(), "x", 1), 1);
  loop_.run_due();
  EXPECT_TRUE(readable_);
  EXPECT_FALSE(broken_);
  third_.write.reset();
  loop_.run_due();
  EXPECT_TRUE(broken_);
}

}  // namespace
}  // namespace corral
