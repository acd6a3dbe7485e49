// What is still called when a loop is stopped.
#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "base/loop.h"
#include "base/test_pipe.h"

namespace corral {
namespace {

TEST(StoppedLoop, CallsNothingElseThatIsDue) {
  const tests::HeldClock clock;
  Loop loop;
  int called = 0;
  const auto stop = [&] {
    ++called;
    loop.stop();
  };
  const tests::Pipe one = tests::make_pipe();
  const tests::Pipe two = tests::make_pipe();
  Watch first(loop, one.read.get());
  Watch second(loop, two.read.get());
  Timer timer(loop);
  for (const tests::Pipe* pipe : {&one, &two}) ASSERT_EQ(write(pipe->write.get(), "x", 1), 1);
  first.when_readable(stop);
  second.when_readable(stop);
  timer.start({}, stop);
  loop.post(stop);
  loop.run_due();

  EXPECT_EQ(called, 1);
  loop.run();
  EXPECT_EQ(called, 1) << "and it stays so";
}

TEST(StoppedLoop, CallsNoLaterTimerOrTask) {
  const tests::HeldClock clock;
  for (const bool tasks : {false, true}) {
    Loop loop;
    int called = 0;
    const auto stop = [&] {
      ++called;
      loop.stop();
    };
    Timer one(loop);
    Timer two(loop);
    if (tasks) {
      loop.post(stop);
      loop.post(stop);
    } else {
      one.start({}, stop);
      two.start({}, stop);
    }
    loop.run_due();
    EXPECT_EQ(called, 1) << tasks;
  }
}

TEST(LoopTimers, SayWhenTheNextIsDue) {
  tests::HeldClock clock;
  Loop loop;
  EXPECT_EQ(loop.next_timer(), std::nullopt);
  Timer late(loop);
  Timer soon(loop);
  int called = 0;
  late.start(std::chrono::seconds(5), [&] { ++called; });
  soon.start(std::chrono::seconds(2), [&] { ++called; });
  EXPECT_EQ(loop.next_timer(), Clock::now() + std::chrono::seconds(2));
  EXPECT_TRUE(soon.running());
  soon.cancel();
  EXPECT_FALSE(soon.running());
  EXPECT_EQ(loop.next_timer(), Clock::now() + std::chrono::seconds(5));
  clock.pass(std::chrono::seconds(5));
  loop.run_due();
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(late.running());
  EXPECT_EQ(loop.next_timer(), std::nullopt);
}

}  // namespace
}  // namespace corral
