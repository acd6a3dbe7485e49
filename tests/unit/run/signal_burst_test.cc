#include "run/signal_burst.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/unique_fd.h"

namespace corral::run {
namespace {

/// What a signalfd says, from a pipe.
class SignalBurst : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    signals_ = UniqueFd(ends[0]);
    sender_ = UniqueFd(ends[1]);
  }
  void send(int count) {
    const signalfd_siginfo info{};
    for (int i = 0; i < count; ++i) ASSERT_EQ(write(sender_.get(), &info, sizeof info), sizeof info);
  }
  int taken(int wanted = 1000) {
    int count = 0;
    take_signals(signals_.get(), [&](const signalfd_siginfo&) { return ++count < wanted; });
    return count;
  }

  UniqueFd signals_;
  UniqueFd sender_;
};

TEST_F(SignalBurst, IsReadToItsEnd) {
  send(3);
  EXPECT_EQ(taken(), 3);
  EXPECT_EQ(taken(), 0);
}

TEST_F(SignalBurst, ThatHasNoEndIsLeftForTheNextTurn) {
  send(kMostSignals + 5);
  EXPECT_EQ(taken(), kMostSignals);
  EXPECT_EQ(taken(), 5);
}

// As when the keeper was found dead: the rest of its tree dies, too, and is for the sweep.
TEST_F(SignalBurst, EndsWhenTheReceiverHasHeardEnough) {
  send(10);
  EXPECT_EQ(taken(4), 4);
}

}  // namespace
}  // namespace corral::run
