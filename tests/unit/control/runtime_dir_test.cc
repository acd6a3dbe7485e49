#include "control/runtime_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace corral::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RuntimeDir : public testing::Test {
 protected:
  RuntimeDir() {
    char name[] = "/tmp/corral-runtime-XXXXXX";
    if (mkdtemp(name) != nullptr) root_ = name;
  }
  ~RuntimeDir() override { std::filesystem::remove_all(root_); }

  std::string path(const std::string& name) const { return root_ + "/" + name; }

 private:
  std::string root_;
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

TEST(RuntimeDirCandidates, FollowTheUidAlone) {
  setenv("XDG_RUNTIME_DIR", "/somewhere/else", 1);

  EXPECT_THAT(candidates("", 1000), ElementsAre("/run/user/1000/corral", "/tmp/corral-1000"));

  unsetenv("XDG_RUNTIME_DIR");
}

TEST(RuntimeDirCandidates, AreOnlyTheGivenOneIfThereIsOne) {
  EXPECT_THAT(candidates("/x/y", 1000), ElementsAre("/x/y"));
}

TEST(RuntimeDirCandidates, AreAbsoluteAlsoIfARelativeOneWasGiven) {
  EXPECT_THAT(candidates("x", 1000), ElementsAre(std::filesystem::current_path().string() + "/x"));
}

TEST_F(RuntimeDir, IsMadeForUsAlone) {
  ASSERT_TRUE(ensure_runtime_dir(path("a")));

  EXPECT_EQ(mode_of(path("a")), 0700U);
  EXPECT_TRUE(check_runtime_dir(path("a")));
  EXPECT_TRUE(ensure_runtime_dir(path("a")));
}

TEST_F(RuntimeDir, IsUsableWhateverTheUmask) {
  const mode_t before = umask(0777);

  const Result<void> made = ensure_runtime_dir(path("a"));

  umask(before);
  EXPECT_TRUE(made) << made.error().message;
  EXPECT_EQ(mode_of(path("a")), 0700U);
}

TEST_F(RuntimeDir, IsNotMadeByALook) {
  const Result<void> checked = check_runtime_dir(path("a"));

  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, Error::Kind::NotFound);
  EXPECT_FALSE(std::filesystem::exists(path("a")));
}

TEST_F(RuntimeDir, ThatOthersMayEnterIsRefused) {
  for (const mode_t mode : {0755U, 0701U, 0770U, 01700U, 0500U}) {
    std::filesystem::create_directory(path("a"));
    chmod(path("a").c_str(), mode);

    const Result<void> checked = ensure_runtime_dir(path("a"));

    ASSERT_FALSE(checked) << mode;
    EXPECT_THAT(checked.error().message, HasSubstr("chmod 0700 " + path("a")));
    EXPECT_EQ(mode_of(path("a")), mode) << "it must not be changed behind somebody's back";
  }
}

TEST_F(RuntimeDir, ThatIsALinkIsRefusedWhereverItLeads) {
  ASSERT_TRUE(ensure_runtime_dir(path("real")));
  std::filesystem::create_symlink(path("real"), path("link"));
  std::filesystem::create_symlink(path("nowhere"), path("dangling"));

  for (const char* name : {"link", "dangling"}) {
    const Result<void> ensured = ensure_runtime_dir(path(name));
    const Result<void> checked = check_runtime_dir(path(name));

    ASSERT_FALSE(ensured);
    EXPECT_THAT(ensured.error().message, HasSubstr("symbolic link"));
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message, HasSubstr("symbolic link"));
  }
  EXPECT_FALSE(std::filesystem::exists(path("nowhere")));
}

TEST_F(RuntimeDir, ThatIsAFileIsRefused) {
  std::ofstream(path("a")) << "text";

  const Result<void> ensured = ensure_runtime_dir(path("a"));

  ASSERT_FALSE(ensured);
  EXPECT_THAT(ensured.error().message, HasSubstr("is not a directory"));
}

TEST_F(RuntimeDir, OfSomebodyElseIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a directory away";
  ASSERT_TRUE(ensure_runtime_dir(path("a")));
  ASSERT_EQ(chown(path("a").c_str(), 54321, 54321), 0);

  const Result<void> ensured = ensure_runtime_dir(path("a"));

  ASSERT_FALSE(ensured);
  EXPECT_THAT(ensured.error().message, HasSubstr("belongs to user 54321"));
}

TEST_F(RuntimeDir, WhoseSocketWouldHaveTooLongANameIsRefused) {
  const std::string longest(107 - std::string("/corral.sock").size() - path("").size(), 'x');

  EXPECT_TRUE(ensure_runtime_dir(path(longest)));
  const Result<void> longer = ensure_runtime_dir(path(longest + "x"));

  ASSERT_FALSE(longer);
  EXPECT_THAT(longer.error().message, HasSubstr("the limit is 107"));
  EXPECT_FALSE(std::filesystem::exists(path(longest + "x")));
}

TEST_F(RuntimeDir, NeedsTheFolderAboveIt) {
  const Result<void> ensured = ensure_runtime_dir(path("a/b"));

  ASSERT_FALSE(ensured);
  EXPECT_THAT(ensured.error().message, HasSubstr("create its parent directory first"));
}

}  // namespace
}  // namespace corral::control
