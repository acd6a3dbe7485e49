#include "instance/error_file.h"

#include <fcntl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <regex>
#include <sstream>
#include <vector>

#include "survey/temp_files.h"

namespace corral::instance {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

constexpr const char* kInstance = "1a2b3c4d-whole-id";

class ErrorFilesTest : public survey::TempFiles {
 protected:
  std::string folder() const { return root() + "/state/logs"; }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// Without what each line begins with; that is checked here.
  static std::vector<std::string> lines_of(const std::string& path) {
    // Of the beginning alone: on a long line it recurses as deeply as that is long.
    static const std::regex beginning(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [0-9a-z]{8} )");
    constexpr std::size_t kBeginning = 34;
    std::vector<std::string> lines;
    std::istringstream text(text_of(path));
    for (std::string line; std::getline(text, line);) {
      EXPECT_TRUE(std::regex_match(line.substr(0, kBeginning), beginning)) << line;
      lines.push_back(line.size() > kBeginning ? line.substr(kBeginning) : line);
    }
    return lines;
  }
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  std::size_t files_in_folder() const {
    const std::filesystem::directory_iterator all(folder());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
};

TEST_F(ErrorFilesTest, KeepsWholeLinesAndTheRestWhenTheInstanceEnds) {
  ErrorFiles files(folder());

  files.write("files", kInstance, "one\r\ntw");
  files.write("files", "99999999", "of another\n");
  files.write("files", kInstance, "o\n\n\nlast words");
  EXPECT_THAT(lines_of(files.path_of("files")), ElementsAre("one", "of another", "two"));
  files.ended("files", kInstance);
  files.ended("files", kInstance);

  EXPECT_THAT(lines_of(files.path_of("files")), ElementsAre("one", "of another", "two", "last words"));
  EXPECT_THAT(text_of(files.path_of("files")), HasSubstr("Z 1a2b3c4d one\n"));
}

TEST_F(ErrorFilesTest, IsForItsOwnerAlone) {
  ErrorFiles files(folder());

  files.write("files", kInstance, "secret\n");

  EXPECT_EQ(files.path_of("files"), folder() + "/files.log");
  EXPECT_EQ(mode_of(folder()), 0700U);
  EXPECT_EQ(mode_of(files.path_of("files")), 0600U);
}

TEST_F(ErrorFilesTest, MakesHostileBytesHarmlessAndCutsLongLines) {
  ErrorFiles files(folder());

  files.write("files", kInstance, std::string("\x1b[2J\0\a\xff\tx\n", 10));
  files.write("files", kInstance, std::string(1'000'000, 'x'));
  files.write("files", kInstance, "the rest of it\nnext\n");

  const std::vector<std::string> lines = lines_of(files.path_of("files"));
  ASSERT_THAT(lines, SizeIs(3));
  EXPECT_THAT(lines[0], EndsWith(" x"));
  EXPECT_EQ(text_of(files.path_of("files")).find_first_of(std::string("\x1b\0\a\xff\t", 5)),
            std::string::npos);
  EXPECT_THAT(lines[1], SizeIs(ErrorLines::kLongest + 6));
  EXPECT_THAT(lines[1], EndsWith("x [cut]"));
  EXPECT_EQ(lines[2], "next");
}

TEST_F(ErrorFilesTest, RotatesAndKeepsNoMoreThanSoMany) {
  ErrorFiles files(folder(), {.bytes = 100, .files = 3});

  for (int i = 0; i < 20; ++i) files.write("files", kInstance, "line " + std::to_string(i) + "\n");

  const std::string path = files.path_of("files");
  EXPECT_EQ(files_in_folder(), 3U);
  EXPECT_THAT(lines_of(path), ElementsAre("line 18", "line 19"));
  EXPECT_THAT(lines_of(path + ".1"), ElementsAre("line 15", "line 16", "line 17"));
  EXPECT_THAT(lines_of(path + ".2"), ElementsAre("line 12", "line 13", "line 14"));
  EXPECT_EQ(files.lost(), 0U);
}

TEST_F(ErrorFilesTest, WritesOnIntoANewFileWhenSomebodyTookTheOldOne) {
  ErrorFiles files(folder());
  files.write("files", kInstance, "before\n");

  std::filesystem::remove(files.path_of("files"));
  files.write("files", kInstance, "after\n");

  EXPECT_THAT(lines_of(files.path_of("files")), ElementsAre("after"));
}

TEST_F(ErrorFilesTest, GivesEveryNameAFileOfItsOwnInItsFolder) {
  ErrorFiles files(folder(), {.open = 2});
  const std::vector<std::string> names = {"../../etc/passwd",
                                          "..",
                                          ".",
                                          "",
                                          "/",
                                          "-n",
                                          "a\nb",
                                          "a\tb",
                                          "a",
                                          "a.log.1",
                                          ".hidden",
                                          "\xff",
                                          std::string(300, 'x'),
                                          std::string(301, 'x'),
                                          "with blank"};

  for (const std::string& name : names)
    files.write(name, kInstance, "of " + std::to_string(name.size()) + "\n");

  EXPECT_EQ(files_in_folder(), names.size());
  for (const std::string& name : names) {
    EXPECT_THAT(lines_of(files.path_of(name)), ElementsAre("of " + std::to_string(name.size()))) << name;
    EXPECT_THAT(log_file_name(name), Not(HasSubstr("/")));
  }
  EXPECT_EQ(log_file_name("with blank"), "with blank.log");
}

TEST_F(ErrorFilesTest, FollowsNoLink) {
  const std::string precious = write("precious", "mine\n");
  std::filesystem::create_directories(folder());
  link("state/logs/files.log", precious);
  ErrorFiles files(folder());

  CaptureStderr();
  files.write("files", kInstance, "overwritten\n");

  EXPECT_THAT(GetCapturedStderr(), HasSubstr("files.log cannot be opened"));
  EXPECT_EQ(text_of(precious), "mine\n");
  EXPECT_EQ(files.lost(), 1U);
}

TEST_F(ErrorFilesTest, SaysOnceThatNothingCanBeKeptAndTriesAgain) {
  write("state", "no folder");
  ErrorFiles files(folder(), {.retry_ms = 0});

  CaptureStderr();
  files.write("files", kInstance, "a\nb\n");
  files.write("files", kInstance, "c\n");
  std::filesystem::remove(root() + "/state");
  files.write("files", kInstance, "d\n");
  const std::string said = GetCapturedStderr();

  EXPECT_EQ(files.lost(), 3U);
  EXPECT_THAT(said, HasSubstr("is not kept, because the directory " + folder() + " cannot be made"));
  EXPECT_THAT(said, HasSubstr("again; 3 lines were lost"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2);
  EXPECT_THAT(lines_of(files.path_of("files")), ElementsAre("d"));
}

TEST_F(ErrorFilesTest, SaysOnceThatItWorksAgainAndCountsTheNextLossFromZero) {
  write("state", "no folder");
  ErrorFiles files(folder(), {.retry_ms = 0});

  CaptureStderr();
  files.write("files", kInstance, "a\nb\n");
  std::filesystem::remove(root() + "/state");
  for (const char* line : {"c\n", "d\n", "e\n"}) files.write("files", kInstance, line);
  const std::string said = GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;

  CaptureStderr();
  std::filesystem::permissions(folder(), std::filesystem::perms::all);
  std::filesystem::rename(files.path_of("files"), root() + "/before");
  link("state/logs/files.log", root() + "/before");
  files.write("files", kInstance, "f\n");
  std::filesystem::remove(files.path_of("files"));
  files.write("files", kInstance, "g\n");
  std::filesystem::permissions(folder(), std::filesystem::perms::owner_all);
  files.write("files", kInstance, "h\n");
  const std::string later = GetCapturedStderr();

  EXPECT_THAT(later, HasSubstr("files.log cannot be opened"));
  EXPECT_THAT(later, HasSubstr("again; 2 lines were lost"));
  EXPECT_EQ(std::count(later.begin(), later.end(), '\n'), 2) << later;
  EXPECT_EQ(files.lost(), 4U);
  EXPECT_THAT(lines_of(files.path_of("files")), ElementsAre("h"));
}

TEST_F(ErrorFilesTest, WritesIntoNoFolderThatOthersMayWriteTo) {
  for (const mode_t mode : {0720U, 0702U}) {
    std::filesystem::create_directories(folder());
    ASSERT_EQ(chmod(folder().c_str(), mode), 0);
    ErrorFiles files(folder());
    CaptureStderr();
    files.write("files", kInstance, "a\n");
    EXPECT_THAT(GetCapturedStderr(), HasSubstr("others may write to it: run `chmod 0700` on it"));
    EXPECT_EQ(files_in_folder(), 0U);
    EXPECT_EQ(files.lost(), 1U);
  }
}

TEST_F(ErrorFilesTest, HoldsNoMoreFilesOpenThanItMay) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  ErrorFiles files(folder(), {.open = 2});
  const auto before = descriptors();
  for (const char* name : {"a", "b", "c", "d", "e"}) files.write(name, kInstance, "one\n");
  EXPECT_EQ(descriptors() - before, 3) << "two files and their folder";

  files.write("a", kInstance, "two\n");
  EXPECT_THAT(lines_of(files.path_of("a")), ElementsAre("one", "two"));
}

TEST_F(ErrorFilesTest, MakesAFileThatWasForOthersTooItsOwners) {
  ErrorFiles files(folder());
  files.write("files", kInstance, "a\n");
  ASSERT_EQ(chmod(files.path_of("files").c_str(), 0644), 0);
  ErrorFiles(folder()).write("files", kInstance, "b\n");
  EXPECT_EQ(mode_of(files.path_of("files")), 0600U);
}

TEST_F(ErrorFilesTest, WithOneFilePerServerEmptiesItWhenItIsFull) {
  ErrorFiles files(folder(), {.bytes = 1, .files = 1});
  files.write("files", kInstance, "a\n");
  files.write("files", kInstance, "b\n");
  EXPECT_EQ(files_in_folder(), 1U);
  EXPECT_THAT(lines_of(files.path_of("files")), ElementsAre("b"));
}

TEST_F(ErrorFilesTest, WaitsBeforeItTriesAgain) {
  write("state", "no folder");
  ErrorFiles files(folder(), {.retry_ms = 1'000'000});

  CaptureStderr();
  files.write("files", kInstance, "a\n");
  std::filesystem::remove(root() + "/state");
  files.write("files", kInstance, "b\n");
  GetCapturedStderr();

  EXPECT_EQ(files.lost(), 2U);
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(ErrorFilesTest, KeepsTheFilesOfSoManyServersAndForgetsTheOldest) {
  ErrorFiles files(folder(), {.bytes = 1, .servers = 3});
  for (const char* name : {"a", "b", "c"}) {
    files.write(name, kInstance, "one\n");
    files.write(name, kInstance, "two\n");
  }
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, files.path_of("b").c_str(), old, 0), 0);

  files.write("d", kInstance, "one\n");

  EXPECT_FALSE(std::filesystem::exists(files.path_of("b")));
  EXPECT_FALSE(std::filesystem::exists(files.path_of("b") + ".1"));
  EXPECT_TRUE(std::filesystem::exists(files.path_of("a") + ".1"));
  EXPECT_THAT(lines_of(files.path_of("d")), ElementsAre("one"));
}

TEST_F(ErrorFilesTest, KeepsNothingWithoutAFolder) {
  ErrorFiles files("");

  files.write("files", kInstance, "a\n");
  files.ended("files", kInstance);

  EXPECT_EQ(files.path_of("files"), "");
  EXPECT_EQ(files.lost(), 0U);
}

}  // namespace
}  // namespace corral::instance
