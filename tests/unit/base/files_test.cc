#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "survey/temp_files.h"

namespace corral {
namespace {

class ReadText : public survey::TempFiles {};

TEST_F(ReadText, GivesAllOfAFile) {
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 100'000}) {
    std::string text(size, 'x');
    if (size > 0) text.back() = 'y';
    write(root() + "/file", text);
    EXPECT_TRUE(read_text(root() + "/file") == text) << size;
  }
}

TEST_F(ReadText, StopsAfterAMebibyte) {
  write(root() + "/file", std::string((std::size_t{1} << 20) + 1, 'x'));
  EXPECT_EQ(read_text(root() + "/file").size(), std::size_t{1} << 20);
}

TEST_F(ReadText, GivesNothingOfWhatCannotBeRead) {
  EXPECT_EQ(read_text(root() + "/missing"), "");
  EXPECT_EQ(read_text(root()), "");
}

class PrivateDirectories : public survey::TempFiles {
 protected:
  static mode_t mode_of(const std::string& path) {
    struct stat about {};
    return stat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
  }
};

TEST_F(PrivateDirectories, AreForTheUserAloneWhateverIsAboveThem) {
  std::filesystem::create_directory(root() + "/old");
  const mode_t of_the_old_one = mode_of(root() + "/old");

  make_private_directories(root() + "/old/new/newer");
  make_private_directories(root() + "/old/new/newer");

  EXPECT_EQ(mode_of(root() + "/old"), of_the_old_one);
  EXPECT_EQ(mode_of(root() + "/old/new"), 0700U);
  EXPECT_EQ(mode_of(root() + "/old/new/newer"), 0700U);
}

TEST_F(PrivateDirectories, AreNotMadeBelowAFile) {
  write(root() + "/file", "text");

  make_private_directories(root() + "/file/below");
  make_private_directories("");

  EXPECT_EQ(read_text(root() + "/file"), "text");
}

}  // namespace
}  // namespace corral
