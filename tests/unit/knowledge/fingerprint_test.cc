#include "knowledge/fingerprint.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "survey/temp_files.h"

namespace corral::knowledge {
namespace {

class WhatChanged : public survey::TempFiles {
 protected:
  WhatChanged() : path_(write("server.py", "one")), fingerprint_{{print_of(path_)}} {}

  static FilePrint print_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return {path, status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
            status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
  }
  static void set_time(const std::string& path, timespec time) {
    const timespec times[2] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  std::string path_;
  Fingerprint fingerprint_;
};

TEST_F(WhatChanged, NothingIfAllIsAsItWas) {
  EXPECT_EQ(what_changed(fingerprint_), std::nullopt);
  EXPECT_EQ(what_changed({}), std::nullopt);
}

TEST_F(WhatChanged, ATouchIsAChange) {
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  set_time(path_, {status.st_mtim.tv_sec, (status.st_mtim.tv_nsec + 1) % 1'000'000'000});

  EXPECT_EQ(what_changed(fingerprint_), path_ + " has changed");
}

TEST_F(WhatChanged, AnotherSizeIsAChangeEvenAtTheSameTime) {
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  write("server.py", "three");
  set_time(path_, status.st_mtim);

  EXPECT_EQ(what_changed(fingerprint_), path_ + " has changed");
}

TEST_F(WhatChanged, AnotherFileOfTheSameNameIsAChange) {
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  const std::string other = write("new.py", "two");
  set_time(other, status.st_mtim);
  std::filesystem::rename(other, path_);

  EXPECT_EQ(what_changed(fingerprint_), path_ + " has changed");
}

TEST_F(WhatChanged, ALinkThatIsTurnedIsAChange) {
  write("v1/server.py", "");
  write("v2/server.py", "");
  link("current", root() + "/v1");
  const std::string path = root() + "/current/server.py";
  const Fingerprint fingerprint{{print_of(path)}};
  std::filesystem::remove(root() + "/current");
  link("current", root() + "/v2");

  EXPECT_EQ(what_changed(fingerprint), path + " has changed");
}

TEST_F(WhatChanged, AFileThatVanishedIsGone) {
  std::filesystem::remove(path_);
  EXPECT_EQ(what_changed(fingerprint_), path_ + " is gone");

  std::filesystem::create_directory(path_);
  EXPECT_EQ(what_changed(fingerprint_), path_ + " is gone");
}

TEST_F(WhatChanged, NamesAPathWithoutWhatWouldHarmATerminal) {
  EXPECT_THAT(what_changed({{{"/no\x1b[31mwhere", 0, 0, 0, 0}}}).value_or(""),
              testing::Not(testing::HasSubstr("\x1b")));
}

}  // namespace
}  // namespace corral::knowledge
