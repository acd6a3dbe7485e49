#include "config/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/configuration.h"
#include "survey/temp_files.h"

namespace corral::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ConfigFiles : public survey::TempFiles {
 protected:
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  }

  static std::string text_of(const std::string& path) {
    const Result<FileText> text = read_text(path);
    return text ? text->text : text.error().message;
  }

  std::size_t files_in(const std::string& folder) const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(root() + "/" + folder))
      ++count;
    return count;
  }
};

TEST_F(ConfigFiles, ThatAreMissingAreNamedWithWhatToDo) {
  const Result<Configuration> found = read(root() + "/none/config.json");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, Error::Kind::NotFound);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr(root() + "/none/config.json"), HasSubstr("corral import")));
}

TEST_F(ConfigFiles, AreReadWithTheirName) {
  const std::string file = write("config.json", R"({"mcpServers": {"a": {"command": "x"}}})");

  const Result<Configuration> found = read(file);

  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->file, file);
  EXPECT_NE(found->find("a"), nullptr);
}

TEST_F(ConfigFiles, ThatAreNoFilesAreRefused) {
  EXPECT_THAT(read(root()).error().message, HasSubstr("not a regular file"));
}

TEST_F(ConfigFiles, ThatEverybodyMayWriteAreRefused) {
  const std::string file = write("config.json", "{}");
  ASSERT_EQ(chmod(file.c_str(), 0666), 0);

  EXPECT_THAT(read(file).error().message, HasSubstr("chmod o-w"));
}

TEST_F(ConfigFiles, AreBelievedIfNobodyElseMayChangeThem) {
  const auto objection = [](uid_t owner, mode_t mode, bool group_of_one) {
    return objection_to({1000, owner, mode, [group_of_one] { return group_of_one; }}, "f");
  };
  EXPECT_EQ(objection(1000, 0600, false), "");
  EXPECT_EQ(objection(0, 0644, false), "") << "root may do anything in any case";
  EXPECT_EQ(objection(1000, 0664, true), "") << "a group with nobody else in it";
  EXPECT_THAT(objection(1000, 0664, false), HasSubstr("chmod g-w"));
  EXPECT_THAT(objection(0, 0660, false), HasSubstr("chmod g-w"));
  EXPECT_THAT(objection(1000, 0602, true), HasSubstr("chmod o-w"));
  EXPECT_THAT(objection(1001, 0600, false), HasSubstr("another user"));
}

// The members of a group may be known only to a server of the network, which may be slow or away.
TEST_F(ConfigFiles, AreNotReasonToAskAboutAGroupThatMayNotWrite) {
  int asked = 0;
  const auto ask = [&asked] { return ++asked > 0; };
  EXPECT_EQ(objection_to({1000, 1000, 0644, ask}, "f"), "");
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(objection_to({1000, 1000, 0664, ask}, "f"), "");
  EXPECT_EQ(asked, 1);
}

TEST_F(ConfigFiles, ThatAnotherGroupMayWriteAreRefused) {
  const std::string file = write("config.json", "{}");
  ASSERT_EQ(chmod(file.c_str(), 0664), 0);
  // Root can give it away; an ordinary user may have no group to give it to.
  constexpr gid_t kNobodysOwn = 1;
  if (chown(file.c_str(), static_cast<uid_t>(-1), kNobodysOwn) != 0) GTEST_SKIP() << "needs root";

  EXPECT_THAT(read(file).error().message, HasSubstr("chmod g-w"));
}

TEST_F(ConfigFiles, ThatArePipesDoNotMakeAnybodyWait) {
  const std::string fifo = root() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);

  EXPECT_THAT(read(fifo).error().message, HasSubstr("not a regular file"));
}

TEST_F(ConfigFiles, AreWhereXdgSays) {
  const char* old_config = getenv("XDG_CONFIG_HOME");
  const char* old_home = getenv("HOME");
  const std::string kept_config = old_config == nullptr ? "" : old_config;
  const std::string kept_home = old_home == nullptr ? "" : old_home;
  setenv("HOME", "/h", 1);

  setenv("XDG_CONFIG_HOME", "/xdg", 1);
  EXPECT_EQ(default_file(), "/xdg/corral/config.json");
  setenv("XDG_CONFIG_HOME", "relative", 1);
  EXPECT_EQ(default_file(), "/h/.config/corral/config.json");
  unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(default_file(), "/h/.config/corral/config.json");
  unsetenv("HOME");
  EXPECT_THAT(default_file(), HasSubstr("/.config/corral/config.json"));
  EXPECT_EQ(default_file().front(), '/');

  if (old_config != nullptr) setenv("XDG_CONFIG_HOME", kept_config.c_str(), 1);
  if (old_home != nullptr) setenv("HOME", kept_home.c_str(), 1);
}

TEST_F(ConfigFiles, AreMadeWithTheirDirectoriesForTheOwnerAlone) {
  const std::string file = root() + "/new/corral/config.json";
  Result<FileUpdate> update = FileUpdate::begin(file);
  ASSERT_TRUE(update) << update.error().message;
  EXPECT_FALSE(update->existed());
  EXPECT_EQ(update->backup(), "");
  EXPECT_EQ(update->text(), "");

  ASSERT_TRUE(update->commit("{}\n"));

  EXPECT_EQ(text_of(file), "{}\n");
  EXPECT_EQ(mode_of(file), 0600U);
  EXPECT_EQ(mode_of(root() + "/new"), 0700U);
  EXPECT_EQ(mode_of(root() + "/new/corral"), 0700U);
  EXPECT_EQ(files_in("new/corral"), 1U);
}

TEST_F(ConfigFiles, MayBeNamedWithoutAPath) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root());
  Result<FileUpdate> update = FileUpdate::begin("new.json");
  std::filesystem::current_path(before);
  ASSERT_TRUE(update) << update.error().message;

  ASSERT_TRUE(update->commit("{}"));

  EXPECT_EQ(text_of(root() + "/new.json"), "{}");
}

TEST_F(ConfigFiles, AreReplacedWhole) {
  const std::string file = write("d/config.json", "old");
  Result<FileUpdate> update = FileUpdate::begin(file);
  ASSERT_TRUE(update) << update.error().message;
  EXPECT_TRUE(update->existed());
  EXPECT_EQ(update->text(), "old");

  ASSERT_TRUE(update->commit("new"));

  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(mode_of(file), 0600U);
  EXPECT_EQ(files_in("d"), 2U);
}

TEST_F(ConfigFiles, ThatAreReplacedLeaveTheirLastTextBehind) {
  const std::string file = write("d/config.json", "first");
  for (const char* text : {"second", "third"}) {
    Result<FileUpdate> update = FileUpdate::begin(file);
    ASSERT_TRUE(update) << update.error().message;
    EXPECT_EQ(update->backup(), std::filesystem::canonical(file).string() + ".bak");
    ASSERT_TRUE(update->commit(text));
  }

  EXPECT_EQ(text_of(file), "third");
  EXPECT_EQ(text_of(file + ".bak"), "second");
  EXPECT_EQ(mode_of(file + ".bak"), 0600U);
  EXPECT_EQ(files_in("d"), 2U);
}

TEST_F(ConfigFiles, StayAsTheyAreIfThereCanBeNoBackup) {
  const std::string file = write("d/config.json", "old");
  write("d/config.json.bak/in-the-way", "");
  Result<FileUpdate> update = FileUpdate::begin(file);
  ASSERT_TRUE(update) << update.error().message;

  const Result<void> done = update->commit("new");

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("config.json.bak"), HasSubstr("Nothing was changed")));
  EXPECT_EQ(text_of(file), "old");
  EXPECT_EQ(files_in("d"), 2U);
}

TEST_F(ConfigFiles, BehindALinkAreChangedThere) {
  const std::string real = write("dotfiles/corral.json", "old");
  link("d/config.json", real);
  Result<FileUpdate> update = FileUpdate::begin(root() + "/d/config.json");
  ASSERT_TRUE(update) << update.error().message;

  ASSERT_TRUE(update->commit("new"));

  EXPECT_EQ(text_of(real), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(root() + "/d/config.json"));
}

TEST_F(ConfigFiles, BehindALinkToNothingAreNotMade) {
  write("d/other", "");
  link("d/config.json", root() + "/gone/corral.json");
  const Result<FileUpdate> update = FileUpdate::begin(root() + "/d/config.json");
  ASSERT_FALSE(update);
  EXPECT_THAT(update.error().message, HasSubstr("symbolic link to a file that does not exist"));
  EXPECT_TRUE(std::filesystem::is_symlink(root() + "/d/config.json"));
}

TEST_F(ConfigFiles, ThatSomebodyElseChangedMeanwhileAreLeftAlone) {
  const std::string file = write("d/config.json", "old");
  Result<FileUpdate> update = FileUpdate::begin(file);
  ASSERT_TRUE(update) << update.error().message;
  write("d/config.json", "theirs");

  const Result<void> done = update->commit("mine");

  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("changed by another process"));
  EXPECT_EQ(text_of(file), "theirs");
  EXPECT_EQ(files_in("d"), 1U);
}

TEST_F(ConfigFiles, AreChangedByOneAtATime) {
  const std::string file = write("d/config.json", "old");
  {
    const Result<FileUpdate> first = FileUpdate::begin(file);
    ASSERT_TRUE(first) << first.error().message;

    const Result<FileUpdate> second = FileUpdate::begin(file);

    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().message, HasSubstr("Try again"));
  }
  EXPECT_TRUE(FileUpdate::begin(file));
}

TEST_F(ConfigFiles, ThatCannotBeMadeAreSaidSo) {
  write("file", "x");

  const Result<FileUpdate> update = FileUpdate::begin(root() + "/file/config.json");

  ASSERT_FALSE(update);
  EXPECT_THAT(update.error().message, HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace corral::config
