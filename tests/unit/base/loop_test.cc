#include "base/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/burn.h"
#include "base/test_pipe.h"
#include "base/unique_fd.h"

namespace corral {
namespace {

using tests::make_pipe;
using tests::Pipe;

/// Two pipes break in one turn. The callback for the first lets go of the second and watches a third one,
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

TEST_F(NewsOfAnother, AreNotToldToTheWatchThatReplacedIt) {
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

// ---- one watch

class LoopTest : public testing::Test {
 protected:
  /// Says `word` in the order of things.
  Task says(const std::string& word) {
    return [this, word] { said_ += said_.empty() ? word : " " + word; };
  }
  /// What was said since the last time.
  std::string due() {
    loop_.run_due();
    return std::exchange(said_, {});
  }
  static void put(const Pipe& pipe) { ASSERT_EQ(write(pipe.write.get(), "x", 1), 1); }
  static void take(const Pipe& pipe) {
    char one = 0;
    ASSERT_EQ(read(pipe.read.get(), &one, 1), 1);
  }

  Loop loop_;
  std::string said_;
};

TEST_F(LoopTest, AReaderIsCalledOnceForEachWait) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  watch.when_readable(says("one"));
  EXPECT_EQ(due(), "");
  put(pipe);
  EXPECT_EQ(due(), "one");
  EXPECT_EQ(due(), "") << "nobody waits";
  watch.when_readable(says("two"));
  EXPECT_EQ(due(), "two") << "it is still there to be read";
  take(pipe);
  watch.when_readable(says("three"));
  EXPECT_EQ(due(), "");
  put(pipe);
  EXPECT_EQ(due(), "three");
}

TEST_F(LoopTest, TheLastWaitOfAKindCounts) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  watch.when_readable(says("first"));
  watch.when_readable(says("second"));
  put(pipe);
  EXPECT_EQ(due(), "second");
}

TEST_F(LoopTest, AWaitThatWasCancelledIsOver) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  watch.when_readable(says("read"));
  watch.when_broken(says("broken"));
  watch.cancel();
  put(pipe);
  EXPECT_EQ(due(), "");
  watch.when_readable(says("again"));
  EXPECT_EQ(due(), "again");
}

TEST_F(LoopTest, AWriterIsCalledWhenThereIsRoom) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.write.get());
  watch.when_writable(says("room"));
  EXPECT_EQ(due(), "room");
  const std::string full(std::size_t{1} << 20, 'x');
  while (write(pipe.write.get(), full.data(), full.size()) > 0) continue;
  watch.when_writable(says("more room"));
  EXPECT_EQ(due(), "");
  std::string sink(std::size_t{1} << 20, 0);
  ASSERT_GT(read(pipe.read.get(), sink.data(), sink.size()), 0);
  EXPECT_EQ(due(), "more room");
  EXPECT_EQ(due(), "");
}

TEST_F(LoopTest, TheEndOfAStreamIsToldToAllWhoWait) {
  Pipe pipe = make_pipe();
  Watch reader(loop_, pipe.read.get());
  reader.when_readable(says("end"));
  reader.when_broken(says("broken"));
  pipe.write.reset();
  EXPECT_EQ(due(), "broken end");
  EXPECT_EQ(due(), "") << "told once, although it stays true";
  reader.when_readable(says("still the end"));
  EXPECT_EQ(due(), "still the end");
}

TEST_F(LoopTest, AWatchForTheEndAloneIsNotToldOfBytes) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd mine(ends[0]);
  UniqueFd other(ends[1]);
  Watch watch(loop_, mine.get());
  watch.when_broken(says("broken"));
  ASSERT_EQ(write(other.get(), "x", 1), 1);
  EXPECT_EQ(due(), "");
  other.reset();
  EXPECT_EQ(due(), "broken");
}

TEST_F(LoopTest, BytesThatNobodyWantsDoNotKeepTheLoopBusy) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  watch.when_readable(says("read"));
  put(pipe);
  EXPECT_EQ(due(), "read");
  Timer timer(loop_);
  timer.start(std::chrono::milliseconds(200), [this] { loop_.stop(); });
  const std::clock_t before = std::clock();
  loop_.run();
  // A loop that is woken by what nobody wants spends all of this time.
  EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 10);
}

TEST_F(LoopTest, AFileIsAlwaysReady) {
  const UniqueFd file(memfd_create("file", MFD_CLOEXEC));
  Watch watch(loop_, file.get());
  watch.when_readable(says("read"));
  watch.when_writable(says("write"));
  watch.when_broken(says("broken"));
  const std::string said = due();
  EXPECT_TRUE(said == "write read" || said == "read write") << said;
  watch.when_readable(says("again"));
  EXPECT_EQ(due(), "again");
}

TEST_F(LoopTest, AWatchMayBeDestroyedByWhoItCalls) {
  Pipe pipe = make_pipe();
  auto watch = std::make_unique<Watch>(loop_, pipe.read.get());
  watch->when_broken([&] {
    said_ = "gone";
    watch.reset();
  });
  watch->when_readable(says("never"));
  pipe.write.reset();
  EXPECT_EQ(due(), "gone");
}

TEST_F(LoopTest, ANewWatchOfTheSameDescriptorHearsItsOwn) {
  const Pipe pipe = make_pipe();
  auto watch = std::make_unique<Watch>(loop_, pipe.read.get());
  watch->when_readable(says("old"));
  watch = std::make_unique<Watch>(loop_, pipe.read.get());
  put(pipe);
  EXPECT_EQ(due(), "");
  watch->when_readable(says("new"));
  EXPECT_EQ(due(), "new");
}

TEST_F(LoopTest, AWatchMayBeReplacedByWhoItCalls) {
  Pipe pipe = make_pipe();
  std::optional<Watch> old(std::in_place, loop_, pipe.read.get());
  std::optional<Watch> next;
  old->when_broken([&] {
    old.reset();
    next.emplace(loop_, pipe.read.get());
    next->when_readable(says("next"));
  });
  old->when_readable(says("old"));
  pipe.write.reset();
  EXPECT_EQ(due(), "next");
}

/// What a turn found may be dealt with before everybody has been told: who begins to wait in between waits
/// for what is true then.
TEST_F(LoopTest, AWatchThatBeginsInATurnIsNotToldWhatThatTurnFoundBefore) {
  const Pipe pipes[2] = {make_pipe(), make_pipe()};
  Watch first(loop_, pipes[0].read.get());
  Watch second(loop_, pipes[1].read.get());
  const auto deal_with_both = [&] {
    for (const Pipe& pipe : pipes) take(pipe);
    for (Watch* watch : {&first, &second}) {
      watch->cancel();
      watch->when_readable(says("early"));
    }
  };
  first.when_readable(deal_with_both);
  second.when_readable(deal_with_both);
  for (const Pipe& pipe : pipes) put(pipe);
  EXPECT_EQ(due(), "");
  put(pipes[0]);
  EXPECT_EQ(due(), "early");
}

// ---- tasks and timers

TEST_F(LoopTest, TasksRunInTheirOrderAndAfterWhatIsDue) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  watch.when_readable(says("read"));
  put(pipe);
  loop_.post([this] {
    says("one")();
    loop_.post(says("three"));
  });
  loop_.post(says("two"));
  EXPECT_EQ(due(), "read one two three");
}

TEST_F(LoopTest, AnotherThreadMayPostAndWakesTheLoop) {
  Timer limit(loop_);
  limit.start(std::chrono::seconds(30), [this] {
    says("late")();
    loop_.stop();
  });
  std::thread other([this] {
    for (int i = 0; i < 1000; ++i) loop_.post(says("a"));
    loop_.post([this] { loop_.stop(); });
  });
  loop_.run();
  other.join();
  EXPECT_EQ(std::count(said_.begin(), said_.end(), 'a'), 1000);
  EXPECT_EQ(said_.find("late"), std::string::npos);
}

TEST_F(LoopTest, WhatAForgottenTaskHoldsMaySayGoodbye) {
  const Pipe pipe = make_pipe();
  auto loop = std::make_unique<Loop>();
  auto watch = std::make_shared<Watch>(*loop, pipe.read.get());
  auto timer = std::make_shared<Timer>(*loop);
  watch->when_readable([] {});
  timer->start(std::chrono::hours(1), [] {});
  loop->post([watch, timer] {});
  watch.reset();
  timer.reset();
  loop.reset();  // under the sanitizer this is the test
}

TEST_F(LoopTest, TimersGoOffInTheOrderOfTheirTimes) {
  Timer timers[3] = {Timer(loop_), Timer(loop_), Timer(loop_)};
  timers[0].start(std::chrono::milliseconds(3), says("late"));
  timers[1].start(std::chrono::milliseconds(1), says("early"));
  timers[2].start(std::chrono::milliseconds(2), says("never"));
  timers[2].cancel();
  Timer last(loop_);
  last.start(std::chrono::milliseconds(5), [this] { loop_.stop(); });
  EXPECT_TRUE(timers[0].running());
  loop_.run();
  EXPECT_EQ(said_, "early late");
  EXPECT_FALSE(timers[0].running());
}

TEST_F(LoopTest, ATimerThatIsStartedAgainForgetsItsFirstStart) {
  Timer timer(loop_);
  timer.start(Clock::duration::zero(), says("first"));
  timer.start(Clock::duration::zero(), says("second"));
  EXPECT_EQ(due(), "second");
  timer.start(Clock::duration::max(), says("never"));  // no overflow into the past
  EXPECT_EQ(due(), "");
  EXPECT_TRUE(timer.running());
}

TEST_F(LoopTest, ATimerMayBeDestroyedOrStartedByWhoItCalls) {
  auto timer = std::make_unique<Timer>(loop_);
  Timer again(loop_);
  int left = 3;
  const std::function<void()> count = [&] {
    if (--left > 0) again.start(Clock::duration::zero(), count);
  };
  again.start(Clock::duration::zero(), count);
  timer->start(Clock::duration::zero(), [&] {
    said_ = "gone";
    timer.reset();
  });
  EXPECT_EQ(due(), "gone");
  EXPECT_EQ(left, 0);
}

TEST_F(LoopTest, AfterAStopNothingIsCalledAnyMore) {
  loop_.post([this] { loop_.stop(); });
  loop_.post(says("never"));
  loop_.run();
  EXPECT_EQ(said_, "");
}

// ---- how long a turn takes

class SlowTurns : public LoopTest {
 protected:
  SlowTurns() {
    loop_.when_slow([this](const SlowTurn& turn) { told_.push_back(turn); });
  }

  std::vector<SlowTurn> told_;
};

TEST_F(SlowTurns, AreToldWithWhatTookLongest) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  watch.when_readable([this] {
    loop_.doing({"client-messages", 3, 70});
    tests::burn(2 * Loop::kSlowTurn);
  });
  put(pipe);
  loop_.post([this] { loop_.doing({"other", 1, 1}); });
  loop_.run_due();

  ASSERT_EQ(told_.size(), 1U);
  EXPECT_STREQ(told_[0].longest.what, "client-messages");
  EXPECT_EQ(told_[0].longest.count, 3U);
  EXPECT_EQ(told_[0].longest.bytes, 70U);
  EXPECT_GT(told_[0].cpu, Loop::kSlowTurn);
  EXPECT_GE(told_[0].wall, told_[0].cpu);
}

TEST_F(SlowTurns, WithoutAWordAreToldByWhoWasCalled) {
  loop_.post([] { tests::burn(2 * Loop::kSlowTurn); });
  loop_.run_due();
  Timer timer(loop_);
  timer.start(Clock::duration::zero(), [] { tests::burn(2 * Loop::kSlowTurn); });
  loop_.run_due();

  ASSERT_EQ(told_.size(), 2U);
  EXPECT_STREQ(told_[0].longest.what, "task");
  EXPECT_STREQ(told_[1].longest.what, "timer");
}

TEST_F(SlowTurns, AreNotThoseInWhichTheThreadOnlyWaits) {
  loop_.post([] { std::this_thread::sleep_for(3 * Loop::kSlowTurn); });
  loop_.run_due();

  EXPECT_TRUE(told_.empty());
}

TEST_F(SlowTurns, DoNotCountWhatManyShortOnesUsed) {
  int left = 40;
  std::function<void()> step = [&] {
    tests::burn(Loop::kSlowTurn / 20);
    if (--left > 0) loop_.post(step);
  };
  loop_.post(step);
  loop_.run_due();

  EXPECT_EQ(left, 0);
  EXPECT_TRUE(told_.empty());
}

TEST_F(SlowTurns, DoNotComeOfManyTasksAtOnce) {
  int done = 0;
  for (int i = 0; i < 40; ++i) {
    loop_.post([&done, i] {
      EXPECT_EQ(done, i) << "in order";
      ++done;
      tests::burn(std::chrono::milliseconds(10));
    });
  }
  loop_.run_due();

  EXPECT_EQ(done, 40);
  EXPECT_TRUE(told_.empty()) << told_[0].cpu.count() << " ms";
}

TEST_F(SlowTurns, DoNotComeOfManyTimersOrDescriptorsAtOnce) {
  int done = 0;
  const Task work = [&done] {
    ++done;
    tests::burn(std::chrono::milliseconds(10));
  };
  std::vector<std::unique_ptr<Timer>> timers;
  std::vector<Pipe> pipes;
  std::vector<std::unique_ptr<Watch>> watches;
  for (int i = 0; i < 40; ++i) {
    timers.push_back(std::make_unique<Timer>(loop_));
    timers.back()->start(Clock::duration::zero(), work);
    pipes.push_back(make_pipe());
    put(pipes.back());
    watches.push_back(std::make_unique<Watch>(loop_, pipes.back().read.get()));
    watches.back()->when_readable(work);
  }
  loop_.run_due();

  EXPECT_EQ(done, 80) << "what was left out of a turn is not lost";
  EXPECT_TRUE(told_.empty()) << told_[0].cpu.count() << " ms";
}

TEST_F(LoopTest, EveryDescriptorGetsItsTurnWhileAllAlwaysHaveLongWork) {
  constexpr std::size_t kDescriptors = 140;  // more than the kernel reports at once
  std::vector<Pipe> pipes;
  std::vector<std::unique_ptr<Watch>> watches;
  std::vector<int> calls(kDescriptors);
  std::size_t all = 0;
  std::function<void(std::size_t)> work = [&](std::size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(7));
    ++calls[i];
    if (++all < 2 * kDescriptors) watches[i]->when_readable([&work, i] { work(i); });
  };
  for (std::size_t i = 0; i < kDescriptors; ++i) {
    pipes.push_back(make_pipe());
    put(pipes.back());
    watches.push_back(std::make_unique<Watch>(loop_, pipes.back().read.get()));
    watches.back()->when_readable([&work, i] { work(i); });
  }
  while (all < 2 * kDescriptors) loop_.run_due();

  for (std::size_t i = 0; i < kDescriptors; ++i) EXPECT_GE(calls[i], 1) << i;
}

TEST_F(LoopTest, ATaskGetsItsTurnWhileADescriptorAlwaysHasWork) {
  const Pipe pipe = make_pipe();
  Watch watch(loop_, pipe.read.get());
  bool heard = false;
  int calls = 0;
  std::function<void()> work = [&] {
    tests::burn(std::chrono::milliseconds(25));
    if (++calls < 20 && !heard) watch.when_readable(work);
  };
  put(pipe);
  watch.when_readable(work);
  loop_.post([&heard] { heard = true; });
  loop_.run_due();

  EXPECT_TRUE(heard);
  EXPECT_LE(calls, 2);
}

}  // namespace
}  // namespace corral
