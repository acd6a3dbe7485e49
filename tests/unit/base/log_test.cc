#include "base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>

#include "version.h"

namespace corral {
namespace {

using testing::EndsWith;
using testing::SizeIs;
using testing::StartsWith;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

const std::string kHead = "[corral v" + std::string(kVersion) + "] ";

std::string in_brackets(const LogEntry& entry) {
  return "<" + std::to_string(static_cast<int>(entry.level)) + "|" + std::string(entry.text) + "|" +
         std::string(entry.members) + (entry.time_ms == 0 ? "|no time>" : ">");
}

class Log : public testing::Test {
 protected:
  ~Log() override { set_log_look(nullptr); }
};

TEST_F(Log, SaysASentenceOnOneLineBehindTheVersion) {
  CaptureStderr();
  log_line("{} %v\n\x1b[2J is what it is");
  log_line("and a warning", LogLevel::Warn);
  EXPECT_EQ(GetCapturedStderr(), kHead + "{} %v  [2J is what it is\n" + kHead + "and a warning\n");
}

TEST_F(Log, ShowsNothingThatSteersATerminal) {
  CaptureStderr();
  log_line(
      "one\xc2\x9b"
      "2J, \u202eowt");
  EXPECT_EQ(GetCapturedStderr(), kHead + "one\uFFFD2J, \uFFFDowt\n");
}

TEST_F(Log, LooksAsItIsTold) {
  set_log_look(in_brackets);

  CaptureStderr();
  log_line("one");
  log_entry({LogLevel::Error, "two", R"("kind":"crash")", 1});
  log_line("three", LogLevel::Warn);
  log_as_text("four");

  EXPECT_EQ(GetCapturedStderr(), "<0|one|>\n<2|two|\"kind\":\"crash\">\n<1|three|>\n" + kHead + "four\n");
}

TEST_F(Log, CutsWhatAPipeMightNotTakeWhole) {
  set_log_look(in_brackets);

  CaptureStderr();
  log_line(std::string(100'000, 'x'));
  std::string line = GetCapturedStderr();
  EXPECT_LE(line.size(), static_cast<std::size_t>(PIPE_BUF));
  EXPECT_GT(line.size(), static_cast<std::size_t>(PIPE_BUF) - 100);
  EXPECT_THAT(line, EndsWith("|>\n"));  // the look is whole

  CaptureStderr();
  log_as_text(std::string(100'000, 'x'));
  line = GetCapturedStderr();
  EXPECT_THAT(line, StartsWith(kHead + "xxx"));
  EXPECT_LE(line.size(), static_cast<std::size_t>(PIPE_BUF));
}

/// Instead of stderr, for as long as it lives: a pipe that nobody reads.
class StoppedReader {
 public:
  StoppedReader() : before_(dup(STDERR_FILENO)) {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    dup2(ends_[1], STDERR_FILENO);
  }
  ~StoppedReader() {
    dup2(before_, STDERR_FILENO);
    for (const int fd : {before_, ends_[0], ends_[1]}) close(fd);
  }
  StoppedReader(const StoppedReader&) = delete;
  StoppedReader& operator=(const StoppedReader&) = delete;

 private:
  int before_;
  int ends_[2] = {-1, -1};
};

TEST_F(Log, NeverWaitsForAReaderThatHasStopped) {
  const std::uint64_t lost_before = lost_log_lines();
  {
    const StoppedReader reader;
    for (int i = 0; i < 2000; ++i) log_line(std::string(2000, 'x'));
  }
  EXPECT_GT(lost_log_lines(), lost_before);
}

TEST_F(Log, CountsTheLinesThatNobodyCouldRead) {
  const std::uint64_t before = lost_log_lines();
  CaptureStderr();
  log_line("this one is written");
  GetCapturedStderr();
  EXPECT_EQ(lost_log_lines(), before);

  const int errors = dup(STDERR_FILENO);
  const int reader = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(reader, STDERR_FILENO);
  log_line("this one is not");
  log_line("nor this one");
  dup2(errors, STDERR_FILENO);
  for (const int fd : {errors, reader}) close(fd);
  EXPECT_EQ(lost_log_lines(), before + 2);
}

}  // namespace
}  // namespace corral
