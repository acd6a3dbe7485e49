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

}  // namespace
}  // namespace corral
