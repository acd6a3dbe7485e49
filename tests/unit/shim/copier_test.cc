#include "shim/copier.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace corral::shim {
namespace {

struct Pipe {
  explicit Pipe(int flags = O_CLOEXEC | O_NONBLOCK) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe2(ends, flags), 0);
    out = UniqueFd(ends[0]);
    in = UniqueFd(ends[1]);
  }

  void put(const std::string& text) const {
    EXPECT_EQ(write(in.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  /// What can be read now.
  std::string take() const {
    std::string text(1 << 20, '\0');
    const ssize_t size = read(out.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  UniqueFd out;
  UniqueFd in;
};

/// Copies from one pipe to another.
class CopierTest : public testing::Test {
 protected:
  CopierTest() : copier_(std::move(from_.out), std::move(to_.in)) {}

  Pipe from_;
  Pipe to_;
  int source_ = from_.out.get();
  int target_ = to_.in.get();
  Copier copier_;
};

TEST_F(CopierTest, WaitsForInputAndPassesItOn) {
  EXPECT_FALSE(copier_.done());
  EXPECT_EQ(copier_.wanted().fd, source_);
  EXPECT_EQ(copier_.wanted().events, POLLIN);

  copier_.advance();  // nothing is there, but it has not ended
  EXPECT_FALSE(copier_.done());

  from_.put("hello");
  copier_.advance();
  EXPECT_EQ(to_.take(), "hello");
  EXPECT_EQ(copier_.wanted().fd, source_);
}

TEST_F(CopierTest, EndsWithItsInput) {
  from_.put("last");
  from_.in.reset();
  copier_.advance();
  EXPECT_FALSE(copier_.done()) << "the end comes behind the last bytes";
  copier_.advance();

  EXPECT_TRUE(copier_.done());
  EXPECT_EQ(copier_.wanted().fd, -1);
  EXPECT_EQ(to_.take(), "last");
  char byte = 0;
  EXPECT_EQ(read(to_.out.get(), &byte, 1), 0) << "nobody can write any more";
  copier_.advance();
  EXPECT_TRUE(copier_.done());
}

TEST_F(CopierTest, HoldsWhatFindsNoRoomAndReadsNothingMeanwhile) {
  const std::string large(std::size_t{64} << 10, 'x');
  ASSERT_GE(fcntl(target_, F_SETPIPE_SZ, 64 << 10), 64 << 10);
  from_.put(large);
  copier_.advance();  // the pipe is full now
  from_.put("rest");
  copier_.advance();

  EXPECT_EQ(copier_.wanted().fd, target_);
  EXPECT_EQ(copier_.wanted().events, POLLOUT);
  copier_.advance();
  EXPECT_FALSE(copier_.done());

  EXPECT_EQ(to_.take(), large);
  copier_.advance();
  EXPECT_EQ(to_.take(), "rest");
  EXPECT_EQ(copier_.wanted().fd, source_);
}

TEST_F(CopierTest, EndsWhenNobodyReads) {
  to_.out.reset();
  from_.put("x");

  copier_.advance();

  EXPECT_TRUE(copier_.done());
  EXPECT_EQ(write(from_.in.get(), "y", 1), -1) << "the writer must feel it";
  EXPECT_EQ(errno, EPIPE);
}

TEST(CopierOfNothing, IsDone) {
  Copier copier;
  EXPECT_TRUE(copier.done());
  EXPECT_EQ(copier.wanted().fd, -1);
  copier.advance();
  EXPECT_TRUE(copier.done());
}

}  // namespace
}  // namespace corral::shim
