#include "wire/out_queue.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace corral::wire {
namespace {

/// A pipe that neither side waits for.
class OutQueueTest : public testing::Test {
 protected:
  OutQueueTest() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) abort();
    out_ = UniqueFd(ends[0]);
    in_ = UniqueFd(ends[1]);
  }

  /// Everything that is in the pipe.
  std::string drain() {
    std::string text;
    std::array<char, 65536> buffer;
    for (ssize_t got = 0; (got = read(out_.get(), buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  /// Everything that is queued, over as many turns as it takes.
  std::string pump() {
    std::string text;
    while (queue_.flush(in_.get()) == OutQueue::Flush::Blocked) text += drain();
    return text + drain();
  }

  OutQueue queue_;
  UniqueFd out_;
  UniqueFd in_;
};

Line owned(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

/// Text in which a byte that is lost or doubled shows.
std::string pattern(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ",";
  text.resize(size);
  return text;
}

TEST_F(OutQueueTest, WritesMessagesInOrderWithTheirLineEnds) {
  queue_.push("one");
  queue_.push("two");
  EXPECT_EQ(queue_.bytes(), 8U);

  EXPECT_EQ(queue_.flush(in_.get()), OutQueue::Flush::Done);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(drain(), "one\ntwo\n");
  EXPECT_EQ(queue_.flush(in_.get()), OutQueue::Flush::Done);
}

TEST_F(OutQueueTest, MakesTheEditsAndIgnoresAbsentOnes) {
  const std::string text = R"({"id":1,"token":2,"x":3})";
  queue_.push(Line{text, nullptr}, {{{6, 7}, "\"abc\""}, {{}, "nothing"}, {{16, 17}, ""}});
  queue_.push(Line{text, nullptr}, {{{0, text.size()}, "whole"}});
  queue_.push(Line{text, nullptr}, {{{0, 1}, "["}, {{1, 5}, "-"}, {{text.size() - 1, text.size()}, "]"}});

  EXPECT_EQ(pump(), "{\"id\":\"abc\",\"token\":,\"x\":3}\nwhole\n[-:1,\"token\":2,\"x\":3]\n");
}

TEST_F(OutQueueTest, WritesALargeLineFromWhereItStands) {
  const std::string text = pattern(200000);
  Line line = owned(text);
  std::weak_ptr<const std::string> watch = line.owner;
  queue_.push(line, {{{0, 1}, "A"}, {{100000, 100001}, "B"}, {{199999, 200000}, "C"}});
  EXPECT_EQ(line.owner.use_count(), 3) << "two pieces, no copy";
  line = {};
  queue_.push("next");

  std::string expected = text;
  expected[0] = 'A';
  expected[100000] = 'B';
  expected[199999] = 'C';
  EXPECT_EQ(queue_.bytes(), 200006U);
  EXPECT_TRUE(pump() == expected + "\nnext\n");
  EXPECT_TRUE(watch.expired());
  EXPECT_TRUE(queue_.empty());
}

TEST_F(OutQueueTest, LetsGoOfALargeLineAsSoonAsItIsWritten) {
  Line line = owned(pattern(30000));
  std::weak_ptr<const std::string> watch = line.owner;
  queue_.push(line);
  line = {};
  queue_.push(pattern(300000));

  EXPECT_EQ(queue_.flush(in_.get()), OutQueue::Flush::Blocked);
  EXPECT_TRUE(watch.expired());
}

TEST_F(OutQueueTest, WritesBytesWithoutALineEndAmongMessages) {
  const Line large = owned(pattern(30000));
  queue_.push_bytes(Line{"head:", nullptr});
  queue_.push_bytes(large);
  EXPECT_EQ(large.owner.use_count(), 2) << "no copy";
  queue_.push("tail");

  EXPECT_TRUE(pump() == "head:" + std::string(large.text) + "tail\n");
}

TEST_F(OutQueueTest, GoesOnWhereAFullPipeStoppedIt) {
  std::string expected;
  for (int i = 0; i < 400; ++i) {
    // Sizes around every limit inside: copied, gathered, borrowed, longer than a chunk.
    const std::string text = pattern(static_cast<std::size_t>(i * 7919 % 100003));
    queue_.push(i % 2 == 0 ? owned(text) : Line{text, nullptr});
    expected += text + "\n";
    ASSERT_EQ(queue_.bytes(), expected.size());
  }

  EXPECT_EQ(queue_.flush(in_.get()), OutQueue::Flush::Blocked);
  EXPECT_LT(queue_.bytes(), expected.size());
  EXPECT_TRUE(pump() == expected);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(OutQueueTest, TakesMoreWhileSomeIsWritten) {
  std::string expected;
  std::string written;
  for (int i = 0; i < 300; ++i) {
    const std::string text = pattern(static_cast<std::size_t>(i * 31 % 3000));
    queue_.push(text);
    expected += text + "\n";
    if (i % 3 == 0) queue_.flush(in_.get());
    if (i % 7 == 0) written += drain();
  }

  EXPECT_TRUE(written + pump() == expected);
}

TEST_F(OutQueueTest, SaysThatTheReaderIsGone) {
  out_.reset();
  queue_.push("x");

  EXPECT_EQ(queue_.flush(in_.get()), OutQueue::Flush::Failed);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_EQ(queue_.bytes(), 2U);
  queue_.clear();
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.flush(in_.get()), OutQueue::Flush::Done);
}

TEST_F(OutQueueTest, CanBeUsedAgainAfterClear) {
  queue_.push(pattern(300000));
  queue_.flush(in_.get());
  queue_.clear();
  drain();
  queue_.push("again");

  EXPECT_EQ(pump(), "again\n");
}

}  // namespace
}  // namespace corral::wire
