#include "base/log_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/log.h"
#include "survey/temp_files.h"

namespace corral {
namespace {

using testing::EndsWith;
using testing::StartsWith;

class LogFile : public survey::TempFiles {
 protected:
  ~LogFile() override { bound_standard_error("/nowhere"); }

  std::string path() const { return root() + "/daemon.log"; }
  std::string content() const {
    std::ifstream stream(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  off_t size() const {
    struct stat status {};
    return stat(path().c_str(), &status) == 0 ? status.st_size : -1;
  }
  static std::string line(int number) {
    return "line " + std::to_string(number) + " " + std::string(90, '.');
  }

  /// Runs with standard error in the file.
  template <class Task>
  void with_errors_in(const std::string& file, Task task) {
    const UniqueFd before(dup(STDERR_FILENO));
    const UniqueFd log = open_log_file(file);
    dup2(log.get(), STDERR_FILENO);
    task();
    dup2(before.get(), STDERR_FILENO);
  }
};

TEST_F(LogFile, StaysWithinItsBoundWhileItIsWrittenAndKeepsTheNewestLines) {
  off_t longest = 0;
  with_errors_in(path(), [&] {
    bound_standard_error(path());
    for (int i = 0; i < 30'000; ++i) {
      log_line(line(i));
      if (i % 100 == 0) longest = std::max(longest, size());
    }
  });

  EXPECT_LE(longest, kLongestLog);
  EXPECT_GE(size(), kLongestLog / 4);
  EXPECT_THAT(content(), StartsWith("[corral v")) << "it begins with a whole line";
  EXPECT_THAT(content(), EndsWith(line(29'999) + "\n"));
  EXPECT_THAT(content(), testing::HasSubstr(line(28'000)));
}

TEST_F(LogFile, OfSomebodyElseIsNeverCut) {
  with_errors_in(path(), [&] {
    bound_standard_error(root() + "/another.log");
    for (int i = 0; i < 20'000; ++i) log_line(line(i));
  });

  EXPECT_GT(size(), kLongestLog);
  EXPECT_THAT(content(), testing::HasSubstr("line 0 "));
}

TEST_F(LogFile, ThatAnEarlierDaemonLeftIsCutWhenItIsOpened) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += line(i) + "\n";
  write(path(), text);

  const UniqueFd log = open_log_file(path());

  EXPECT_LE(size(), kLongestLog);
  EXPECT_THAT(content(), StartsWith("line "));
  EXPECT_THAT(content(), EndsWith(line(19'999) + "\n"));
}

TEST_F(LogFile, OfOneEndlessLineIsEmptied) {
  write(path(), std::string(static_cast<std::size_t>(kLongestLog) + 10, 'x'));

  const UniqueFd log = open_log_file(path());

  EXPECT_EQ(size(), 0);
}

TEST_F(LogFile, IsCutOnlyBeyondItsBound) {
  std::string text;
  while (text.size() < static_cast<std::size_t>(kLongestLog)) text += line(1) + "\n";
  text.resize(static_cast<std::size_t>(kLongestLog) - 1);
  text += "\n";
  write(path(), text);
  EXPECT_TRUE(open_log_file(path()).valid());
  EXPECT_EQ(size(), kLongestLog);

  write(path(), text + "x\n");
  EXPECT_TRUE(open_log_file(path()).valid());
  const std::string kept = content();
  EXPECT_TRUE((text + "x\n").ends_with("\n" + kept)) << "nothing but whole lines, and all of the newest";
  EXPECT_GT(static_cast<off_t>(kept.size()), kLongestLog / 2 - static_cast<off_t>(line(1).size()) - 2);
  EXPECT_LE(static_cast<off_t>(kept.size()), kLongestLog / 2);
}

TEST_F(LogFile, KeepsALastLineOfOneByte) {
  std::string text(static_cast<std::size_t>(kLongestLog), 'x');
  write(path(), text + "\ny");
  EXPECT_TRUE(open_log_file(path()).valid());
  EXPECT_EQ(content(), "y");
}

TEST_F(LogFile, IsForItsOwnerAloneAndNoLink) {
  EXPECT_TRUE(open_log_file(path()).valid());
  struct stat status {};
  ASSERT_EQ(stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  ASSERT_EQ(symlink(path().c_str(), (root() + "/link").c_str()), 0);
  EXPECT_FALSE(open_log_file(root() + "/link").valid());
}

TEST_F(LogFile, SaysWhetherALineCouldBeWritten) {
  with_errors_in(path(), [&] {
    EXPECT_TRUE(write_to_standard_error("one\n"));
    bound_standard_error(path());
    EXPECT_TRUE(write_to_standard_error("two\n"));
    const UniqueFd reader(open("/dev/null", O_RDONLY | O_CLOEXEC));
    dup2(reader.get(), STDERR_FILENO);
    const bool bounded = write_to_standard_error("three\n");
    bound_standard_error("/nowhere");
    const bool free = write_to_standard_error("four\n");
    EXPECT_FALSE(bounded);
    EXPECT_FALSE(free);
  });
  EXPECT_EQ(content(), "one\ntwo\n");
}

}  // namespace
}  // namespace corral
