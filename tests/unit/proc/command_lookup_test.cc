#include "proc/command_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace corral::proc {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class FindCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "corral-path-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    fs::create_directories(root_ / "a/folder");
    fs::create_directories(root_ / "b");
    path_ = {"PATH=" + (root_ / "a").string() + ":" + (root_ / "b").string()};
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path write(const std::string& name, const std::string& text, bool executable) {
    const fs::path path = root_ / name;
    std::ofstream(path) << text;
    if (executable)
      fs::permissions(path, fs::perms::owner_exec | fs::perms::others_exec, fs::perm_options::add);
    return path;
  }

  fs::path root_;
  std::vector<std::string> path_;
};

TEST_F(FindCommand, TakesTheFirstProgramInThePath) {
  write("a/server", "", false);
  const fs::path wanted = write("b/server", "", true);

  EXPECT_EQ(find_command("server", path_, "")->path, wanted.string());
}

TEST_F(FindCommand, LooksIntoAFolderBetweenOthers) {
  const fs::path wanted = write("b/server", "", true);
  const std::vector<std::string> path = {path_.front() + ":/nowhere"};

  const auto found = find_command("server", path, "");

  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->path, wanted.string());
}

TEST_F(FindCommand, SaysWhatToDoWithoutAListOfDirectories) {
  const auto found = find_command("server", path_, "");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, Error::Kind::NotFound);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("'server'"), testing::Not(HasSubstr((root_ / "a").string())),
                    HasSubstr("correct PATH")));
}

TEST_F(FindCommand, SaysWhenAFileIsNotExecutable) {
  write("a/server", "", false);

  const auto found = find_command("server", path_, "");

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, Error::Kind::NotExecutable);
  EXPECT_THAT(found.error().message, HasSubstr("chmod +x"));
}

TEST_F(FindCommand, ADirectoryInThePathIsNotACommand) {
  EXPECT_EQ(find_command("folder", path_, "").error().kind, Error::Kind::NotFound);
  EXPECT_EQ(find_command((root_ / "a/folder").string(), path_, "").error().kind, Error::Kind::NotExecutable);
}

TEST_F(FindCommand, APathIsRelativeToTheWorkingDirectoryOfTheServer) {
  write("b/server", "", true);

  EXPECT_TRUE(find_command("./server", {}, (root_ / "b").string()));
  EXPECT_FALSE(find_command("./server", {}, (root_ / "a").string()));
}

TEST_F(FindCommand, AMissingInterpreterIsNamed) {
  const fs::path script = write("b/server", "#! /no/such/interpreter -x\n", true);

  const Error error = explain_exec_failure(script.string(), ENOENT);

  EXPECT_EQ(error.kind, Error::Kind::NotFound);
  EXPECT_THAT(error.message, HasSubstr("'/no/such/interpreter'"));
}

TEST_F(FindCommand, AnAbsolutePathIsNotTakenFromTheWorkingDirectory) {
  const fs::path wanted = write("b/server", "", true);

  EXPECT_EQ(find_command(wanted.string(), path_, "/nowhere")->path, wanted.string());
  EXPECT_EQ(find_command("b/server", path_, root_.string())->path, wanted.string());
  EXPECT_FALSE(find_command("", path_, ""));
}

TEST_F(FindCommand, AnEmptyFolderAtTheEndOfThePathIsTheWorkingDirectory) {
  const auto found = find_command("no-such-program-anywhere", {"PATH=/nowhere:"}, "");
  ASSERT_FALSE(found);
  const fs::path before = fs::current_path();
  write("b/server", "", true);
  fs::current_path(root_ / "b");
  const auto here = find_command("server", {"PATH=/nowhere:"}, "");
  fs::current_path(before);

  ASSERT_TRUE(here);
  EXPECT_EQ(here->path, "./server");
}

TEST(EnvironmentValues, AreThoseOfExactlyThatName) {
  const std::vector<std::string> environment = {"PATHS=1", "PAT=2",  "XPATH=3", "PATH",
                                                "PATH=4",  "PATH=5", "E="};
  EXPECT_EQ(environment_value(environment, "PATH"), "4");
  EXPECT_EQ(environment_value(environment, "PAT"), "2");
  EXPECT_EQ(environment_value(environment, "E"), "");
  EXPECT_EQ(environment_value(environment, "NONE"), "");
}

TEST_F(FindCommand, AFailedExecutionIsExplainedByItsCause) {
  const auto told = [](const fs::path& path, int error) {
    return explain_exec_failure(path.string(), error).message;
  };
  const fs::path script = write("a/script", "#! \t/no/interpreter -x\n", true);
  const fs::path plain = write("a/plain", "no script\n", true);
  const fs::path odd = write("a/odd", "#!  \n", true);

  EXPECT_THAT(told(script, ENOENT), HasSubstr("needs '/no/interpreter', which does not exist"));
  EXPECT_THAT(told(write("a/short", "#!/x\n", true), ENOENT), HasSubstr("needs '/x', which"));
  EXPECT_THAT(told(script, EACCES), HasSubstr("cannot start: Permission denied; check that it is a program"));
  EXPECT_THAT(told(plain, ENOENT), HasSubstr("it, or the loader it needs, does not exist"));
  EXPECT_THAT(told(odd, ENOENT), HasSubstr("it, or the loader it needs, does not exist"));
  EXPECT_THAT(told(root_ / "missing", ENOENT), HasSubstr("it, or the loader it needs, does not exist"));
}

}  // namespace
}  // namespace corral::proc
