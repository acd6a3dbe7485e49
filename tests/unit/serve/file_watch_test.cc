#include "serve/file_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/held_clock.h"
#include "survey/temp_files.h"

namespace corral::serve {
namespace {

using std::chrono::milliseconds;

class FileWatchTest : public survey::TempFiles {
 protected:
  void watch(const std::string& path) {
    watch_.emplace(loop_, path, [this] { ++told_; });
    ASSERT_TRUE(watch_->works());
    loop_.run_due();
  }
  void pass(milliseconds time) {
    loop_.run_due();  // what happened is seen before time passes
    clock_.pass(time);
    loop_.run_due();
  }
  std::string file() const { return root() + "/file"; }

  tests::HeldClock clock_;
  Loop loop_;
  int told_ = 0;
  std::optional<FileWatch> watch_;
};

TEST_F(FileWatchTest, TellsOfAChangeOnceItHasSettled) {
  write(file(), "one");
  watch(file());
  pass(milliseconds(1000));
  EXPECT_EQ(told_, 0);

  write(file(), "other");
  pass(milliseconds(199));
  EXPECT_EQ(told_, 0);
  pass(milliseconds(1));
  EXPECT_EQ(told_, 1);
  pass(milliseconds(5000));
  EXPECT_EQ(told_, 1);

  write(file(), "and a third");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 2);
}

TEST_F(FileWatchTest, WaitsWhileItIsWrittenButNotForEver) {
  watch(file());
  int writes = 0;
  for (; told_ == 0 && writes < 100; ++writes) {
    write(file(), std::string(static_cast<std::size_t>(writes) + 1, 'x'));
    pass(milliseconds(100));
  }
  // The last that counts comes when 2000 ms have passed since the first, and 200 ms settle it.
  EXPECT_EQ(writes, 21);
  EXPECT_EQ(told_, 1);
}

TEST_F(FileWatchTest, SeesEveryWayToChangeAFile) {
  watch(file());
  int expected = 0;
  const auto tells = [&](const char* what) {
    pass(milliseconds(200));
    EXPECT_EQ(told_, ++expected) << what;
  };
  write(file(), "made");
  tells("made");
  write("new", "replaced");
  ASSERT_EQ(rename((root() + "/new").c_str(), file().c_str()), 0);
  tells("replaced");
  const timespec times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, file().c_str(), times, 0), 0);
  tells("touched");
  ASSERT_EQ(rename(file().c_str(), (root() + "/away").c_str()), 0);
  tells("moved away");
  ASSERT_EQ(rename((root() + "/away").c_str(), file().c_str()), 0);
  tells("moved back");
  ASSERT_EQ(unlink(file().c_str()), 0);
  tells("removed");
}

TEST_F(FileWatchTest, DoesNotMindItsNeighbours) {
  write(file(), "one");
  watch(file());
  write("neighbour", "x");
  pass(milliseconds(1));
  EXPECT_EQ(loop_.next_timer(), std::nullopt) << "nobody looks";
  EXPECT_EQ(told_, 0);
}

TEST_F(FileWatchTest, SaysNothingIfAllIsAsItWas) {
  write(file(), "one");
  watch(file());
  write("another", "x");
  ASSERT_EQ(rename((root() + "/another").c_str(), (root() + "/elsewhere").c_str()), 0);
  const UniqueFd unchanged(open(file().c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(unchanged.valid());
  pass(milliseconds(1000));
  EXPECT_EQ(told_, 0);
}

TEST_F(FileWatchTest, FindsAFileWhoseFoldersCameLater) {
  watch(root() + "/a/b/file");
  ASSERT_EQ(mkdir((root() + "/a").c_str(), 0700), 0);
  pass(milliseconds(200));
  EXPECT_EQ(told_, 0) << "there is still no file";
  ASSERT_EQ(mkdir((root() + "/a/b").c_str(), 0700), 0);
  pass(milliseconds(200));
  write("a/b/file", "x");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 1);

  std::filesystem::remove_all(root() + "/a");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 2);
  write("a/b/file", "y");
  pass(milliseconds(200));
  pass(milliseconds(200));
  EXPECT_EQ(told_, 3) << "a folder that was created again is another one";
}

TEST_F(FileWatchTest, FollowsLinks) {
  write("target/one", "1");
  write("target/two", "2");
  link("file", "middle");
  link("middle", root() + "/target/one");
  watch(file());
  write("target/one", "11");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 1) << "what it points to has changed";

  ASSERT_EQ(unlink((root() + "/middle").c_str()), 0);
  link("middle", root() + "/target/two");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 2) << "it points elsewhere";
  write("target/two", "22");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 3);
  write("target/one", "111");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 3) << "nobody points there any more";
}

TEST_F(FileWatchTest, EndsWithLinksThatGoRound) {
  link("file", "round");
  link("round", "file");
  watch(file());
  ASSERT_EQ(unlink(file().c_str()), 0);
  write(file(), "a file at last");
  pass(milliseconds(200));
  EXPECT_EQ(told_, 1);
}

}  // namespace
}  // namespace corral::serve
