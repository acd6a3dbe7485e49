// What the shim writes to its standard error, which is the client's: here a pipe or a file for the time of a
// test.
#include "shim/error_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/unique_fd.h"

namespace corral::shim {
namespace {

constexpr std::size_t kMost = std::size_t{256} << 10;
constexpr std::size_t kPipe = 4096;  // what the pipe of this test takes

class StandardError : public testing::Test {
 protected:
  StandardError() : before_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {}
  ~StandardError() override {
    reader_.reset();  // or the last try would wait for it
    errors_.reset();
    dup2(before_.get(), STDERR_FILENO);
  }

  void become_pipe(std::size_t size = kPipe) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    ASSERT_EQ(fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(size)), static_cast<int>(size));
    become(ends[1]);
    reader_ = UniqueFd(ends[0]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }

  void become(int fd) {
    dup2(fd, STDERR_FILENO);
    close(fd);
    errors_ = std::make_unique<StderrWriter>();
  }

  std::string take() const {
    std::string text(kMost * 2, '\0');
    const ssize_t size = read(reader_.get(), text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  UniqueFd before_;
  UniqueFd reader_;
  std::unique_ptr<StderrWriter> errors_;
};

TEST_F(StandardError, PassesOnWhatTheServerSays) {
  become_pipe(16 * kPipe);  // each write takes a page

  errors_->add("one\n");
  errors_->add("two");

  EXPECT_EQ(take(), "one\ntwo");
  EXPECT_EQ(errors_->wanted(), -1);
  EXPECT_EQ(errors_->dropped(), 0U);
}

TEST_F(StandardError, SaysItsOwnSentenceOnALineOfItsOwn) {
  become_pipe();
  errors_->say("first");
  EXPECT_EQ(take(), "corral connect: first\n");

  const std::string filler(kPipe, 'x');
  errors_->add(filler);
  errors_->add("half a line");
  errors_->say("second");
  errors_->say("third");

  EXPECT_EQ(take(), filler);
  errors_->write_some();
  EXPECT_EQ(take(), "half a line\ncorral connect: second\ncorral connect: third\n");
}

TEST_F(StandardError, ThatNobodyReadsHoldsUpNobody) {
  become_pipe();

  errors_->add(std::string(kPipe, 'a'));
  EXPECT_EQ(errors_->wanted(), -1);
  errors_->add(std::string(kMost, 'b'));
  EXPECT_EQ(errors_->wanted(), STDERR_FILENO);
  EXPECT_EQ(errors_->dropped(), 0U);
  errors_->add("four");
  EXPECT_EQ(errors_->dropped(), 4U) << "no room for more";

  EXPECT_EQ(take(), std::string(kPipe, 'a'));
  errors_->add("five!");
  EXPECT_EQ(errors_->dropped(), 9U) << "room comes with the next write";
  errors_->add("six");
  EXPECT_EQ(errors_->dropped(), 9U);
}

TEST_F(StandardError, OfASentenceThereIsAlwaysRoomForOneMore) {
  become_pipe();
  errors_->add(std::string(kPipe + kMost, 'x'));
  errors_->add(std::string(kPipe, 'x'));
  errors_->say("the end");
  errors_->say("not this one");

  std::string all;
  for (std::string piece = take(); !piece.empty(); piece = take()) {
    all += piece;
    errors_->write_some();
  }
  EXPECT_TRUE(all.ends_with("x\ncorral connect: the end\n")) << all.size();
}

TEST_F(StandardError, WhoseReaderIsGoneDropsAndCountsEverything) {
  become_pipe();
  reader_.reset();

  errors_->add("lost");

  EXPECT_EQ(errors_->dropped(), 4U);
  EXPECT_EQ(errors_->wanted(), -1);
}

TEST_F(StandardError, AFileTakesEverythingAtOnce) {
  const UniqueFd file(memfd_create("errors", MFD_CLOEXEC));
  become(fcntl(file.get(), F_DUPFD_CLOEXEC, 3));

  errors_->add(std::string(kMost, 'x'));

  EXPECT_EQ(lseek(file.get(), 0, SEEK_END), static_cast<off_t>(kMost));
  EXPECT_EQ(errors_->wanted(), -1);
}

TEST_F(StandardError, ASocketIsNeverWaitedFor) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  reader_ = UniqueFd(ends[0]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  become(ends[1]);

  errors_->add("hello");
  EXPECT_EQ(take(), "hello");
  for (int i = 0; i < 8; ++i) errors_->add(std::string(kMost, 'x'));
  EXPECT_GT(errors_->dropped(), 0U) << "full, and we are still here";
  reader_.reset();
  errors_->write_some();
  EXPECT_EQ(errors_->wanted(), -1);
}

TEST_F(StandardError, IsGivenALastTryAtTheEnd) {
  become_pipe();
  errors_->add(std::string(kPipe, 'x'));
  errors_->add("the rest");
  ASSERT_EQ(take(), std::string(kPipe, 'x'));

  errors_.reset();

  EXPECT_EQ(take(), "the rest");
}

}  // namespace
}  // namespace corral::shim
