// The administrator's file below the user's: what wins, what is locked, and which file is not trusted.
#include "config/machine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "config/configuration.h"
#include "config/locks.h"
#include "config/server_options.h"
#include "config/show.h"
#include "survey/temp_files.h"

namespace corral::config {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kMachineText = R"({
  "mcpServers": {
    "git": {"command": "company-git", "args": ["--read-only"], "tools": ["log"], "corral": {"share": "root", "idle": "1m"}},
    "docs": {"command": "company-docs"}
  },
  "corral": {
    "keep": 3,
    "drain": "9s",
    "http": {"port": 8765, "bind": "127.0.0.1"},
    "locked": ["share", "tools", "http.bind", "keep",
      "servers.docs"]
  }
})";

Configuration machine() {
  const Result<Configuration> parsed = parse_machine(kMachineText, "/etc/corral/config.json");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : Configuration{};
}

Configuration above(const std::string& users, const Configuration& below = machine()) {
  const Result<Configuration> parsed = parse(users, "user.json", below);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : Configuration{};
}

std::string error_of_machine(const std::string& text) {
  const Result<Configuration> parsed = parse_machine(text, "m.json");
  return parsed ? "" : parsed.error().message;
}

std::vector<std::string> names(const Configuration& configuration) {
  std::vector<std::string> all;
  for (const Server& server : configuration.servers) all.push_back(server.name);
  return all;
}

TEST(MachineFile, AppliesWhereTheUsersFileSaysNothing) {
  const Configuration both = above(R"({"mcpServers": {"mine": {"command": "m"}}})");

  EXPECT_THAT(names(both), ElementsAre("mine", "git", "docs"));
  EXPECT_EQ(both.file, "user.json");
  EXPECT_EQ(both.machine_file, "/etc/corral/config.json");
  EXPECT_EQ(both.find("git")->file, "/etc/corral/config.json");
  EXPECT_EQ(both.find("git")->line, 3);
  EXPECT_EQ(both.find("mine")->file, "user.json");
  EXPECT_EQ(both.options.drain, 9s);
  EXPECT_EQ(both.options.http.port, 8765);
}

TEST(MachineFile, LosesKeyByKeyToTheUsersFile) {
  const Configuration both = above(R"({"corral": {"drain": "1s", "http": {"idle": "2m"}}})");

  EXPECT_EQ(both.options.drain, 1s);
  EXPECT_EQ(both.options.http.idle, 2min);
  EXPECT_EQ(both.options.http.port, 8765) << "the members of an object are keys, too";
  EXPECT_EQ(both.option_places.at("drain").text(), "user.json:1");
  EXPECT_EQ(both.option_places.at("http.port").text(), "/etc/corral/config.json:9");
  EXPECT_THAT(both.overruled, IsEmpty());
  EXPECT_THAT(both.warnings, IsEmpty()) << "a file beside another one needs no servers";
}

TEST(MachineFile, GivesWayToAnEntryOfThatNameAsAWhole) {
  const Configuration both = above(R"({"mcpServers": {"git": {"command": "my-git"}}})");

  const Server& git = *both.find("git");
  EXPECT_THAT(git.argv, ElementsAre("my-git")) << "no argument of the other entry";
  EXPECT_EQ(git.idle, Server().idle);
  EXPECT_EQ(git.file, "user.json");
  EXPECT_THAT(names(both), ElementsAre("git", "docs"));
}

TEST(MachineFile, StaysIfTheUsersEntryIsLeftOut) {
  const Configuration both = above(R"({"mcpServers": {"git": {"url": "https://git.example"}}})");

  EXPECT_THAT(both.find("git")->argv, ElementsAre("company-git", "--read-only"));
}

TEST(LockedKeys, KeepTheValueOfTheMachinesFile) {
  const Configuration both = above(R"({
    "mcpServers": {"git": {"command": "my-git", "includeTools": ["push"], "corral": {"share": "shared", "idle": "5s"}}},
    "corral": {"keep": 50, "http": {"bind": "0.0.0.0", "port": 1}}
  })");

  const Server& git = *both.find("git");
  EXPECT_THAT(git.argv, ElementsAre("my-git")) << "only its options are locked";
  EXPECT_EQ(git.share, Share::Root);
  EXPECT_EQ(git.tools, std::vector<std::string>{"log"}) << "also under another client's name for it";
  EXPECT_EQ(git.idle, 5s);
  EXPECT_EQ(both.options.keep, 3U);
  EXPECT_EQ(both.options.http.bind, "127.0.0.1");
  EXPECT_EQ(both.options.http.port, 1);
  EXPECT_THAT(both.overruled, ElementsAre(HasSubstr("includeTools"), HasSubstr("\"share\" of"),
                                          HasSubstr("\"keep\""), HasSubstr("\"bind\"")));
}

TEST(LockedKeys, AreNamedWithBothPlacesAndWhomToAsk) {
  const Configuration both = above(
      "{\"mcpServers\": {\"a\": {\"command\": \"a\",\n \"corral\": {\"share\": "
      "\"session\"}}}}");

  EXPECT_THAT(both.overruled,
              ElementsAre("user.json:2:13: \"share\" of \"corral\" of server 'a' has no effect, because "
                          "/etc/corral/config.json:10 locks it. Remove it, or ask the administrator of this "
                          "machine."));
  EXPECT_EQ(both.find("a")->share, Share::Auto) << "the default, because the machine has no such server";
}

TEST(LockedKeys, OfAWholeServerIgnoreTheUsersEntryUnread) {
  const Configuration both = above(R"({"mcpServers": {"docs": "not even an object"}})");

  EXPECT_THAT(both.find("docs")->argv, ElementsAre("company-docs"));
  EXPECT_THAT(both.overruled,
              ElementsAre(AllOf(HasSubstr("\"docs\""), HasSubstr("/etc/corral/config.json:11"))));
}

TEST(LockedKeys, ThatTheMachineDoesNotSetHaveTheirDefault) {
  setenv("MAX_KEEP_PROCESSES", "77", 1);
  const Result<Configuration> below = parse_machine(R"({"corral": {"locked": ["keep", "line_cap"]}})", "m");
  unsetenv("MAX_KEEP_PROCESSES");
  ASSERT_TRUE(below) << below.error().message;

  const Configuration both = above(R"({"corral": {"keep": 50, "line_cap": "1M"}})", *below);

  EXPECT_EQ(both.options.keep, kDefaultKeep) << "a user can set the variable";
  EXPECT_EQ(both.options.line_cap, Options().line_cap);
}

TEST(LockedKeys, OfAnObjectCoverItsMembers) {
  const Result<Configuration> below = parse_machine(R"({"corral": {"locked": ["http"]}})", "m");
  ASSERT_TRUE(below) << below.error().message;

  EXPECT_EQ(above(R"({"corral": {"http": {"port": 1}}})", *below).options.http.port, std::nullopt);
  EXPECT_NE(below->lock_of("http.port"), nullptr);
  EXPECT_EQ(below->lock_of("httpx"), nullptr);
}

TEST(LockedKeys, OfOneServerDoNotCoverAnother) {
  EXPECT_TRUE(covers_key("servers.git", "servers.git"));
  EXPECT_FALSE(covers_key("servers.git", "servers.git.mirror"));
  EXPECT_FALSE(covers_key("servers.git", "servers.gitea"));
}

TEST(LockedKeys, CanBeEveryOptionButTheCommand) {
  for (const ServerOption& option : server_options()) {
    const std::string text = R"({"corral": {"locked": [")" + std::string(option.key) + R"("]}})";
    const bool is_command = option.key == "command" || option.key == "args";
    EXPECT_EQ(error_of_machine(text).empty(), !is_command) << option.key;
  }
}

TEST(LockedKeys, TakeTheValueOfEveryOptionFromTheMachinesEntry) {
  const std::string members =
      R"("env": {"A": "1"}, "cwd": "/", "description": "d", "disabled": true, "tools": ["t"], "deny": ["d"],
         "timeout": "1s", "corral": {"share": "root", "stateless": true, "ignore": ["cwd"], "roots": ["/srv"],
         "containment": "basic", "memory": "1G", "pids": 5, "cpu": 0.5, "eager": true, "warm": 2,
         "min_version": "1.0", "era": "modern", "on_change": "warn", "restart": false, "probe": "7s",
         "idle": "8s", "unattended": "3s", "recycle": "2G", "park": true, "stdin_grace": "1s", "term_grace": "1s",
         "on_stop": "true"})";
  std::string locks;
  for (const ServerOption& option : server_options()) {
    if (option.value.copy != nullptr)
      locks += (locks.empty() ? "\"" : ", \"") + std::string(option.key) + "\"";
  }
  const Result<Configuration> below = parse_machine(
      R"({"mcpServers": {"a": {"command": "a", )" + members + R"(}}, "corral": {"locked": [)" + locks + "]}}",
      "m");
  ASSERT_TRUE(below) << below.error().message;

  const Configuration both = above(R"({"mcpServers": {"a": {"command": "b"}}})", *below);

  for (const ServerOption& option : server_options()) {
    if (option.value.copy == nullptr) continue;
    EXPECT_TRUE(option.value.same(*both.find("a"), *below->find("a"))) << option.key;
    Server usual;
    usual.argv = {"a"};
    EXPECT_FALSE(option.value.same(usual, *below->find("a")))
        << option.key << " has its default in this test";
  }
}

TEST(LockedKeys, ThatDoNotExistAreAnError) {
  EXPECT_THAT(error_of_machine("{\"corral\": {\"locked\": [\"keep\",\n  \"shar\"]}}"),
              AllOf(StartsWith("m.json:2:3: "), HasSubstr("'shar'"), HasSubstr("Did you mean \"share\"?")));
  EXPECT_THAT(
      error_of_machine(R"({"mcpServers": {"git": {"command": "g"}}, "corral": {"locked": ["servers.gti"]}})"),
      HasSubstr("Did you mean \"servers.git\"?"));
  EXPECT_THAT(error_of_machine(R"({"corral": {"locked": ["command"]}})"), HasSubstr("cannot be locked"));
}

TEST(LockedKeys, UnderAnotherNameOrInAnotherPlaceAreAnError) {
  for (const char* const text :
       {R"({"corral": {"locks": ["share"]}})", R"({"corral": {"lock": ["share"]}})",
        R"({"locked": ["share"]})", R"({"coral": {"locked": ["share"]}})",
        R"({"mcpServers": {"a": {"command": "a", "corral": {"locked": ["share"]}}}})",
        R"({"mcpServers": {"a": {"command": "a", "locked": ["share"]}}})"}) {
    EXPECT_THAT(error_of_machine(text),
                AllOf(HasSubstr("is unknown"), HasSubstr(R"("locked" in the top-level "corral")")))
        << text;
  }
  EXPECT_EQ(error_of_machine(R"({"corral": {"drian": "5s", "quota": 1}})"), "") << "a newer key may be there";
}

TEST(LockedKeys, OfAWrongTypeAreAnError) {
  EXPECT_THAT(error_of_machine(R"({"corral": {"locked": "share"}})"), HasSubstr("list of strings"));
  EXPECT_THAT(error_of_machine(R"({"corral": {"locked": [7]}})"), HasSubstr("only strings"));
  EXPECT_THAT(error_of_machine(R"({"corral": {"locked": {"share": true}}})"), HasSubstr("list of strings"));
}

TEST(LockedKeys, InAUsersFileHaveNoEffect) {
  const Configuration both = above(R"({"corral": {"locked": ["drain"]}, "mcpServers": {}})");

  EXPECT_EQ(both.lock_of("drain"), nullptr);
  EXPECT_THAT(both.warnings,
              ElementsAre(AllOf(HasSubstr("\"locked\""), HasSubstr("/etc/corral/config.json"))));
}

TEST(MachineFile, ThatIsBrokenIsNamedWithItsLine) {
  EXPECT_THAT(error_of_machine("{\n  \"corral\": {,}\n}"),
              AllOf(StartsWith("m.json:2:"), HasSubstr("administrator's file"), HasSubstr("does not go on")));
  EXPECT_THAT(error_of_machine(""), AllOf(StartsWith("m.json:1:1: "), HasSubstr("is empty")));
  EXPECT_THAT(error_of_machine(" // nothing\n"), StartsWith("m.json:2:1: "));
  EXPECT_EQ(error_of_machine("{}"), "");
  EXPECT_THAT(error_of_machine(R"({"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}})"),
              AllOf(StartsWith("m.json:1:40"), HasSubstr("occurs twice")));
}

TEST(MachineFile, IsShownAsJson) {
  const boost::json::value shown = boost::json::parse(to_json(above(R"({"corral": {"keep": 1}})")));

  EXPECT_EQ(shown.at("machine_file").as_string(), "/etc/corral/config.json");
  EXPECT_EQ(shown.at("locks").at("share").at("line").as_int64(), 10);
  EXPECT_EQ(shown.at("option_places").at("drain").at("file").as_string(), "/etc/corral/config.json");
  EXPECT_EQ(shown.at("servers").at(0).at("file").as_string(), "/etc/corral/config.json");
  EXPECT_EQ(shown.at("overruled").as_array().size(), 1U);
}

/// A file that is trusted because its owner is given, which nothing outside a test can do.
class MachineFiles : public survey::TempFiles {
 protected:
  void SetUp() override { put("{}"); }
  void put(const std::string& text) {
    const std::string file = write("etc/config.json", text);
    ASSERT_EQ(chmod(file.c_str(), 0644), 0);
    ASSERT_EQ(chmod((root() + "/etc").c_str(), 0755), 0);
  }
  MachineFile machine() const { return {root() + "/etc/config.json", geteuid()}; }
  std::string error(const MachineFile& file) const {
    const Result<Configuration> read = read_machine(file);
    return read ? "" : read.error().message;
  }
  std::string error() const { return error(machine()); }
};

TEST_F(MachineFiles, AreReadBelowTheUsersFile) {
  put(R"({"mcpServers": {"git": {"command": "g"}}})");
  const std::string users = write("user.json", R"({"mcpServers": {"mine": {"command": "m"}}})");

  const Result<Configuration> both = read(users, machine());

  ASSERT_TRUE(both) << both.error().message;
  EXPECT_THAT(names(*both), ElementsAre("mine", "git"));
}

TEST_F(MachineFiles, CannotBeLeftOutByNamingAnotherFile) {
  put(R"({"corral": {"keep": 2, "locked": ["keep"]}})");
  const std::string users = write("elsewhere.json", R"({"mcpServers": {}, "corral": {"keep": 8}})");

  const Result<Configuration> both = read(users, machine());

  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->options.keep, 2U);
}

TEST_F(MachineFiles, AreReadAsWhatTheyAreIfTheyAreNamed) {
  put(R"({"corral": {"keep": 2, "locked": ["keep"]}})");

  const Result<Configuration> alone = read(machine().path, machine());

  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_THAT(alone->overruled, IsEmpty());
  EXPECT_THAT(alone->locks, Contains(Key("keep")));
}

TEST_F(MachineFiles, NeedNotExist) {
  unlink(machine().path.c_str());
  EXPECT_EQ(error(), "");
  rmdir((root() + "/etc").c_str());
  EXPECT_EQ(error(), "");
}

TEST_F(MachineFiles, ThatOthersCanChangeAreRefused) {
  ASSERT_EQ(chmod(machine().path.c_str(), 0646), 0);
  EXPECT_THAT(error(), AllOf(HasSubstr("others than its owner can write"), HasSubstr("chmod 644")));
  ASSERT_EQ(chmod(machine().path.c_str(), 0664), 0);
  EXPECT_THAT(error(), HasSubstr("others than its owner can write"));
  ASSERT_EQ(chmod(machine().path.c_str(), 0644), 0);
  ASSERT_EQ(chmod((root() + "/etc").c_str(), 0777), 0);
  EXPECT_THAT(error(), AllOf(HasSubstr("/etc'"), HasSubstr("chmod 755")));
}

TEST_F(MachineFiles, OfAnotherUserAreRefused) {
  EXPECT_THAT(error({machine().path, geteuid() + 1}), HasSubstr("does not belong to root"));
  EXPECT_EQ(objection_to_machine("f", 0, 0100644, {}), "");
  EXPECT_THAT(objection_to_machine("f", 1000, 0100644, {}), HasSubstr("does not belong to root"));
}

TEST_F(MachineFiles, ThatAreNoFilesAreRefused) {
  const std::string file = machine().path;
  unlink(file.c_str());
  ASSERT_EQ(mkfifo(file.c_str(), 0644), 0);
  EXPECT_THAT(error(), HasSubstr("not a regular file")) << "and does not wait for a writer";
  unlink(file.c_str());
  ASSERT_EQ(mkdir(file.c_str(), 0755), 0);
  EXPECT_THAT(error(), HasSubstr("not a regular file"));
  rmdir(file.c_str());
  link("etc/config.json", write("target.json", "{}"));
  EXPECT_THAT(error(), HasSubstr("symbolic link"));
  unlink(file.c_str());
  link("etc/config.json", "/nowhere/at/all");
  EXPECT_THAT(error(), HasSubstr("symbolic link")) << "one that leads nowhere is not a missing file";
}

TEST_F(MachineFiles, ThatAreTooLargeAreRefused) {
  ASSERT_EQ(truncate(machine().path.c_str(), 100'000'000), 0);

  EXPECT_THAT(error(), HasSubstr("larger than 64 MiB"));
}

TEST_F(MachineFiles, InAPlaceThatIsNotADirectoryAreRefused) {
  unlink(machine().path.c_str());
  rmdir((root() + "/etc").c_str());
  write("etc", "a file");

  EXPECT_THAT(error(), HasSubstr("is not a directory"));
}

TEST_F(MachineFiles, ThatCannotBeReadAreRefused) {
  constexpr uid_t kNobody = 65534;
  const MachineFile file = machine();
  ASSERT_EQ(chmod(file.path.c_str(), 0), 0);
  const bool is_root = geteuid() == 0;  // who can read every file
  if (is_root) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  const std::string said = error(file);
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }

  EXPECT_THAT(said, AllOf(HasSubstr("Permission denied"), HasSubstr("does not go on")));
}

}  // namespace
}  // namespace corral::config
