#include "wire/line_pipe.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/burn.h"
#include "base/test_pipe.h"

namespace corral::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::make_pipe;
using tests::Pipe;

class LinePipeTest : public testing::Test, protected LinePipe::Handler {
 protected:
  LinePipeTest() { open(std::size_t{1} << 20); }

  void open(std::size_t line_cap) {
    Pipe in = make_pipe();
    Pipe out = make_pipe();
    writer_ = std::move(in.write);
    reader_ = std::move(out.read);
    LinePipe::Handler& handler = *this;
    pipe_ = std::make_unique<LinePipe>(loop_, std::move(in.read), std::move(out.write), line_cap, handler);
  }

  void on_message(const Message& message) override {
    lines_.emplace_back(message.text());
    if (when_line_) when_line_();
  }
  void on_oversized(const Oversized& oversized) override { oversized_.push_back(oversized); }
  void on_input_end() override { ++ends_; }
  void on_output_lost() override { ++lost_; }
  void on_output_drained() override { ++drained_; }
  void on_output_closed() override { ++closed_; }

  void write_in(const std::string& bytes) {
    ASSERT_EQ(write(writer_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// A pipe takes 64 KiB at a time unless it is asked to hold more.
  void make_room(int bytes) { ASSERT_GE(fcntl(writer_.get(), F_SETPIPE_SZ, bytes), bytes); }
  std::string read_out() {
    std::string text(std::size_t{1} << 17, '\0');
    const ssize_t got = read(reader_.get(), text.data(), text.size());
    return text.substr(0, got > 0 ? static_cast<std::size_t>(got) : 0);
  }

  Loop loop_;
  UniqueFd writer_;  // what we read from
  UniqueFd reader_;  // what we write to
  std::unique_ptr<LinePipe> pipe_;
  std::function<void()> when_line_;
  std::vector<std::string> lines_;
  std::vector<Oversized> oversized_;
  int ends_ = 0;
  int done_ = 0;
  int lost_ = 0;
  int drained_ = 0;
  int closed_ = 0;
};

// ---- in

TEST_F(LinePipeTest, ReadsNothingBeforeItIsAskedTo) {
  write_in("one\n");
  loop_.run_due();
  EXPECT_THAT(lines_, IsEmpty());

  pipe_->resume();
  loop_.run_due();
  EXPECT_THAT(lines_, ElementsAre("one"));
}

TEST_F(LinePipeTest, HandsOverALastLineWithoutItsEndAndThenTheEnd) {
  pipe_->resume();
  write_in("one\ntwo");
  writer_.reset();
  loop_.run_due();

  EXPECT_THAT(lines_, ElementsAre("one", "two"));
  EXPECT_EQ(ends_, 1);
}

TEST_F(LinePipeTest, HandsOverTheRestWithALastLineWithoutItsEnd) {
  write_in("one\ntwo");

  pipe_->read_rest([this] { ++done_; });

  EXPECT_THAT(lines_, ElementsAre("one", "two"));
  EXPECT_EQ(ends_, 0) << "its owner knows already";
  EXPECT_EQ(done_, 1) << "at once, if there is no more than fits in a turn";
}

TEST_F(LinePipeTest, HandsOverTheRestAlsoIfTheWriterClosed) {
  write_in("{\"id\":1}");
  writer_.reset();

  pipe_->read_rest([this] { ++done_; });

  EXPECT_THAT(lines_, ElementsAre("{\"id\":1}"));
}

TEST_F(LinePipeTest, StopsAtOnceWhenItIsPausedAndGoesOnWhereItWas) {
  when_line_ = [this] { pipe_->pause(); };
  pipe_->resume();
  write_in("one\ntwo\nthree\n");
  loop_.run_due();
  EXPECT_THAT(lines_, ElementsAre("one")) << "a reader that pauses has no room for more";

  pipe_->resume();
  loop_.run_due();
  EXPECT_THAT(lines_, ElementsAre("one", "two"));
  when_line_ = nullptr;
  pipe_->resume();
  loop_.run_due();
  write_in("four\n");
  loop_.run_due();
  EXPECT_THAT(lines_, ElementsAre("one", "two", "three", "four"));
}

TEST_F(LinePipeTest, HandsOverWhatAPauseHeldBackWhenTheWriterIsGone) {
  when_line_ = [this] { pipe_->pause(); };
  pipe_->resume();
  write_in("one\ntwo\nthr");
  loop_.run_due();
  ASSERT_THAT(lines_, ElementsAre("one"));

  pipe_->read_rest([this] { ++done_; });

  EXPECT_THAT(lines_, ElementsAre("one", "two", "thr"));
}

TEST_F(LinePipeTest, HandsOverWhatItHoldsBackWithoutReadingMore) {
  when_line_ = [this] { pipe_->pause(); };
  pipe_->resume();
  write_in("one\ntwo\n");
  loop_.run_due();
  write_in("three\n");

  pipe_->hand_over_held([this] { ++done_; });

  EXPECT_THAT(lines_, ElementsAre("one", "two"));
}

TEST_F(LinePipeTest, HandsTheRestOverTurnByTurn) {
  constexpr std::size_t kMany = 3 * LinePipe::kLinesPerTurn + 7;
  std::string text;
  for (std::size_t i = 0; i < kMany; ++i) text += std::to_string(i) + "\n";
  write_in(text + "last");
  std::size_t told_after = 0;

  pipe_->read_rest([&] { told_after = lines_.size(); });

  ASSERT_EQ(told_after, 0U);
  for (std::size_t turns = 1; told_after == 0; ++turns) {
    ASSERT_LE(lines_.size(), turns * LinePipe::kLinesPerTurn + 1) << "the last one has no end of its own";
    pipe_->resume();  // which must not change the order
    pipe_->pause();
    loop_.run_due();
    ASSERT_LT(turns, 10U);
  }
  EXPECT_EQ(told_after, kMany + 1);
  EXPECT_EQ(lines_.front(), "0");
  EXPECT_EQ(lines_[kMany - 1], std::to_string(kMany - 1));
  EXPECT_EQ(lines_.back(), "last");
  EXPECT_EQ(ends_, 0);
}

TEST_F(LinePipeTest, HandsWhatItHoldsBackOverTurnByTurn) {
  constexpr std::size_t kMany = 2 * LinePipe::kLinesPerTurn;
  std::string text;
  for (std::size_t i = 0; i < kMany; ++i) text += "x\n";
  write_in(text);
  when_line_ = [this] { pipe_->pause(); };
  pipe_->resume();
  loop_.run_due();
  ASSERT_THAT(lines_, SizeIs(1));
  when_line_ = nullptr;

  pipe_->hand_over_held([this] { ++done_; });

  EXPECT_THAT(lines_, SizeIs(1 + LinePipe::kLinesPerTurn));
  EXPECT_EQ(done_, 0);
  for (int turn = 0; turn < 4; ++turn) loop_.run_due();
  EXPECT_THAT(lines_, SizeIs(kMany));
  EXPECT_EQ(done_, 1);
}

TEST_F(LinePipeTest, SaysNothingMoreOfTheRestIfItIsClosedOrDestroyedMeanwhile) {
  for (const bool destroyed : {false, true}) {
    open(std::size_t{1} << 20);
    lines_.clear();
    std::string text;
    for (std::size_t i = 0; i < 2 * LinePipe::kLinesPerTurn; ++i) text += "x\n";
    write_in(text);
    pipe_->read_rest([this] { ++done_; });
    ASSERT_THAT(lines_, SizeIs(LinePipe::kLinesPerTurn));

    if (destroyed) {
      pipe_.reset();
    } else {
      pipe_->close();
    }
    for (int turn = 0; turn < 4; ++turn) loop_.run_due();

    EXPECT_THAT(lines_, SizeIs(LinePipe::kLinesPerTurn));
    EXPECT_EQ(done_, 0);
  }
}

TEST_F(LinePipeTest, KeepsWhatItHoldsBackApartFromOtherPipes) {
  when_line_ = [this] { pipe_->pause(); };
  pipe_->resume();
  write_in("one\ntwo\n");
  loop_.run_due();

  Pipe in = make_pipe();
  Pipe out = make_pipe();
  LinePipe::Handler& handler = *this;
  LinePipe other(loop_, std::move(in.read), std::move(out.write), 100, handler);
  other.resume();
  ASSERT_EQ(write(in.write.get(), "OTHER OTHER\n", 12), 12);
  loop_.run_due();
  pipe_->resume();
  loop_.run_due();

  EXPECT_THAT(lines_, ElementsAre("one", "OTHER OTHER", "two"));
}

TEST_F(LinePipeTest, LeavesTheLoopToOthersAfterManyLines) {
  make_room(1 << 20);
  std::string flood;
  for (int i = 0; i < 100'000; ++i) flood += "x\n";
  write_in(flood);
  std::size_t most = 0;  // lines between two looks of somebody else
  std::size_t before = 0;
  std::function<void()> look = [&] {
    most = std::max(most, lines_.size() - before);
    before = lines_.size();
    if (lines_.size() < 100'000) loop_.post(look);
  };
  loop_.post(look);

  pipe_->resume();
  loop_.run_due();

  EXPECT_THAT(lines_, SizeIs(100'000));
  EXPECT_LE(most, LinePipe::kLinesPerTurn);
}

TEST_F(LinePipeTest, LeavesTheLoopToOthersAfterManyBytes) {
  constexpr int kAll = 2000;
  const std::string line = std::string(4095, 'x') + "\n";  // which a pipe takes whole or not at all
  make_room(1 << 20);
  int sent = 0;
  const auto send_one = [&] {
    const bool taken = sent < kAll && write(writer_.get(), line.data(), line.size()) > 0;
    sent += taken ? 1 : 0;
    return taken;
  };
  while (send_one()) continue;
  when_line_ = [&] { send_one(); };  // there is always more
  std::size_t most = 0;
  std::size_t before = 0;
  std::function<void()> look = [&] {
    most = std::max(most, lines_.size() - before);
    before = lines_.size();
    if (lines_.size() < kAll) loop_.post(look);
  };
  loop_.post(look);

  pipe_->resume();
  loop_.run_due();

  EXPECT_THAT(lines_, SizeIs(kAll));
  EXPECT_LE(most, LinePipe::kBytesPerTurn / 4095 + 1);
}

TEST_F(LinePipeTest, TellsTheLoopWhatItDoes) {
  std::vector<SlowTurn> slow;
  loop_.when_slow([&slow](const SlowTurn& turn) { slow.push_back(turn); });
  when_line_ = [] { tests::burn(2 * Loop::kSlowTurn); };
  write_in("0123456789\n");
  pipe_->resume();
  loop_.run_due();

  ASSERT_THAT(slow, SizeIs(1));
  EXPECT_STREQ(slow[0].longest.what, "messages");
  EXPECT_EQ(slow[0].longest.count, 1U);
  EXPECT_EQ(slow[0].longest.bytes, 10U);
}

TEST_F(LinePipeTest, MayBeDestroyedByALine) {
  when_line_ = [this] { pipe_.reset(); };
  pipe_->resume();
  write_in("one\ntwo\n");
  loop_.run_due();

  EXPECT_THAT(lines_, ElementsAre("one"));
}

TEST_F(LinePipeTest, MayBeDestroyedWhileItHoldsLinesBack) {
  write_in("one\ntwo\n");
  when_line_ = [this] { pipe_->pause(); };
  pipe_->resume();
  loop_.run_due();
  pipe_->resume();  // a task will go on

  pipe_.reset();
  loop_.run_due();

  EXPECT_THAT(lines_, ElementsAre("one"));
}

TEST_F(LinePipeTest, ReportsALineOverTheCapAndReadsOn) {
  open(10);
  pipe_->resume();
  write_in(R"({"id":7,"result":1})"
           "\nshort\n");
  loop_.run_due();

  EXPECT_THAT(lines_, ElementsAre("short"));
  ASSERT_THAT(oversized_, SizeIs(1));
  EXPECT_EQ(oversized_[0].id, "7");
  EXPECT_FALSE(oversized_[0].asks);
}

// ---- out

TEST_F(LinePipeTest, WritesWhatIsPushedInOneTurnTogether) {
  pipe_->send("one");
  pipe_->send("two");
  EXPECT_EQ(read_out(), "") << "not at once";
  loop_.run_due();
  EXPECT_EQ(read_out(), "one\ntwo\n");
}

TEST_F(LinePipeTest, SaysNothingMoreAfterItWasClosed) {
  pipe_->send(std::string(LinePipe::kHighWater + 1, 'x'));  // is congested, and posts a flush
  pipe_->close_output_when_flushed();
  pipe_->close();
  loop_.run_due();

  EXPECT_EQ(lost_, 0);
  EXPECT_EQ(drained_, 0);
  EXPECT_EQ(closed_, 0);
  EXPECT_EQ(read_out(), "");
}

TEST_F(LinePipeTest, SaysOnceThatItsReaderIsGone) {
  reader_.reset();
  pipe_->send("one");
  loop_.run_due();
  pipe_->send("two");
  loop_.run_due();

  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(pipe_->queued(), 0U);
}

TEST_F(LinePipeTest, IsCongestedAboveTheHighWaterMarkAndDrainedBelowTheLowOne) {
  pipe_->send(std::string(LinePipe::kHighWater + 1, 'x'));
  EXPECT_TRUE(pipe_->congested());
  loop_.run_due();
  EXPECT_TRUE(pipe_->congested());
  EXPECT_EQ(drained_, 0);

  while (pipe_->queued() > 0) {
    read_out();
    loop_.run_due();
  }

  EXPECT_FALSE(pipe_->congested());
  EXPECT_EQ(drained_, 1);
}

TEST_F(LinePipeTest, ClosesItsOutputWhenEverythingIsWritten) {
  pipe_->send("last");
  pipe_->close_output_when_flushed();
  EXPECT_TRUE(pipe_->output_open());
  loop_.run_due();

  EXPECT_FALSE(pipe_->output_open());
  EXPECT_EQ(closed_, 1);
  EXPECT_EQ(read_out(), "last\n");
}

TEST_F(LinePipeTest, KnowsWhetherWhatItSaidWasRead) {
  pipe_->send("one");
  EXPECT_TRUE(pipe_->output_unread());
  loop_.run_due();
  EXPECT_TRUE(pipe_->output_unread());
  read_out();
  EXPECT_FALSE(pipe_->output_unread());
}

}  // namespace
}  // namespace corral::wire
