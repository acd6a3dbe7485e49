// `corral add`, `remove` and `import` as a user types them: the file, its backup, and the words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/daemon_test.h"
#include "support/eventually.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kTended = R"({
  // mine
  "mcpServers": {
    "old": {"command": "o"} // about old
  },
  "corral": {"drain": "1s"} /* last */
}
)";

class ConfigCommands : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    ASSERT_EQ(chmod(path("home").c_str(), 0777), 0);  // whatever the umask
  }

  static std::string config() { return "home/corral/config.json"; }
  static std::string backup() { return "home/corral/config.json.bak"; }

  /// As the user would have written it, in the default place or elsewhere.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path whole = path(name);
    std::filesystem::create_directories(whole.parent_path());
    std::filesystem::permissions(whole.parent_path(), std::filesystem::perms::all);
    std::ofstream(whole) << text;
    EXPECT_EQ(chown(whole.c_str(), uid_of(User::Ordinary).value_or(getuid()), static_cast<gid_t>(-1)), 0);
    return whole;
  }

  /// Without --runtime-dir, which `import` and `config` do not take.
  Words say_plainly(const std::vector<std::string>& words) const {
    Launch launch = command(words.front());
    launch.argv = {programs().corral};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    Session session(launch);
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("stderr-" + words.front());
    return said;
  }

  mode_t mode_of(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat(path(name).c_str(), &status), 0) << name;
    return status.st_mode & 07777U;
  }
};

TEST_F(ConfigCommands, AddMakesAFileThatSaysWhatWasTyped) {
  const Words said = say("add", {"files", "--share", "root", "--env", "A=${B}", "--env=C=d=e", "--cwd",
                                 "/tmp/./x/", "--", "npx", "-y", "--share", "--", "${CORRAL_ROOT}"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(file(config()), R"({
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "--share", "--", "${CORRAL_ROOT}"],
      "env": {
        "A": "${B}",
        "C": "d=e"
      },
      "cwd": "/tmp/x",
      "corral": {
        "share": "root"
      }
    }
  }
}
)");
  EXPECT_EQ(mode_of(config()), 0600U);
  EXPECT_THAT(said.out, AllOf(StartsWith("Added files to "), HasSubstr("No daemon is running"),
                              HasSubstr("Next: corral tools files\n"), Not(HasSubstr(".bak"))));
  EXPECT_EQ(access(path(backup()).c_str(), F_OK), -1);
}

TEST_F(ConfigCommands, AddLeavesTheRestOfTheFileAndKeepsTheOldText) {
  write(config(), kTended);

  const Words said = say("add", {"new", "--", "n"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(file(config()), R"({
  // mine
  "mcpServers": {
    "old": {"command": "o"}, // about old
    "new": {
      "command": "n"
    }
  },
  "corral": {"drain": "1s"} /* last */
}
)");
  EXPECT_EQ(file(backup()), kTended);
  EXPECT_EQ(mode_of(backup()), 0600U);
  EXPECT_THAT(said.out, HasSubstr("config.json.bak"));
}

TEST_F(ConfigCommands, AddReplacesAServerOnlyOnDemand) {
  write(config(), R"({"mcpServers": {"a": {"command": "mine", "corral": {"pids": 7}}}})");

  const Words refused = say("add", {"a", "--", "theirs"});
  const std::string untouched = file(config());
  const Words replaced = say("add", {"--replace", "--share", "session", "a", "--", "theirs"});

  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("'a' is in '"), HasSubstr("already"), HasSubstr("--replace")));
  EXPECT_THAT(untouched, HasSubstr("mine"));
  EXPECT_EQ(replaced.code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, StartsWith("Replaced a in "));
  EXPECT_THAT(file(config()), AllOf(HasSubstr("theirs"), HasSubstr("\"pids\": 7"), HasSubstr("\"session\"")));
}

TEST_F(ConfigCommands, AddSaysWhatIsWrongAndWritesNothing) {
  const struct {
    std::vector<std::string> words;
    int code;
    const char* part;
  } cases[] = {
      {{"a", "npx", "-y"}, 125, "after `--`"},
      {{"--", "npx"}, 125, "after `--`"},
      {{"a", "--"}, 125, "after `--`"},
      {{"a", "b", "--", "x"}, 125, "after `--`"},
      {{"a", "--share", "all", "--", "x"}, 125, "auto, shared, session or root"},
      {{"a", "--env", "B", "--", "x"}, 125, "'B=${B}'"},
      {{"a", "--env", "=1", "--", "x"}, 125, "NAME=VALUE"},
      {{"a", "--sahre", "root", "--", "x"}, 125, "did you mean --share?"},
      {{"corral", "--", "x"}, 1, "reserved"},
      {{"a/b", "--", "x"}, 1, "'/'"},
      {{"a", "--", "corral", "connect", "a"}, 1, "corral add: server 'a' would run `corral connect`"},
      {{"a", "--", ""}, 1, "is empty"},
  };

  for (const auto& wrong : cases) {
    const Words said = say("add", wrong.words);
    EXPECT_EQ(said.code, wrong.code) << wrong.part;
    EXPECT_THAT(said.err, AllOf(StartsWith("corral add: "), HasSubstr(wrong.part)));
    EXPECT_EQ(said.out, "");
  }
  EXPECT_EQ(access(path(config()).c_str(), F_OK), -1);
}

TEST_F(ConfigCommands, AddWarnsOfWhatIsProbablyAMistakeInTheNewServerAlone) {
  write(config(), R"({"mcpServers": {"old": {"command": "~/old"}}})");

  const Words said = say("add", {"new", "--", "npx -y files"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("warning: "), HasSubstr("'new'"), Not(HasSubstr("'old'"))));
}

TEST_F(ConfigCommands, RemoveUndoesAdd) {
  write(config(), kTended);
  ASSERT_EQ(say("add", {"new", "--", "n"}).code, 0);
  const std::string with_new = file(config());

  const Words said = say("remove", {"new"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(file(config()), kTended);
  EXPECT_EQ(file(backup()), with_new);
  EXPECT_THAT(said.out, AllOf(StartsWith("Removed new from "), HasSubstr("config.json.bak"),
                              HasSubstr("No daemon is running")));
}

TEST_F(ConfigCommands, RemoveNamesTheNearestServerAndChangesNothing) {
  const std::string text = R"({"mcpServers": {"files": {"command": "x"}}})";
  write(config(), text);

  const Words said = say("remove", {"fiels"});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("is called 'fiels'. Did you mean 'files'?"));
  EXPECT_EQ(file(config()), text);
  EXPECT_EQ(access(path(backup()).c_str(), F_OK), -1);
}

TEST_F(ConfigCommands, RemoveMakesNoFolderForAFileThatIsNotThere) {
  const Words said = say("remove", {"a", "--config", path("home/none/c.json")});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("there is no file"));
  EXPECT_EQ(access(path("home/none").c_str(), F_OK), -1);
}

TEST_F(ConfigCommands, TouchNoFileThatIsWrong) {
  const std::string text = "{\"mcpServers\": {\n  \"a\": {}}}";
  write(config(), text);

  const Words added = say("add", {"b", "--", "x"});
  const Words removed = say("remove", {"a"});

  EXPECT_EQ(added.code, 1);
  EXPECT_THAT(added.err, HasSubstr("config.json:2:3: "));
  EXPECT_EQ(removed.code, 1);
  EXPECT_THAT(removed.err, HasSubstr("config.json:2:3: "));
  EXPECT_EQ(file(config()), text);
}

TEST_F(ConfigCommands, ImportKeepsTheOldTextToo) {
  write(config(), kTended);
  const std::string client = write("home/mcp.json", R"({"mcpServers": {"theirs": {"command": "t"}}})");

  const Words said = say_plainly({"import", client});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(file(config()), AllOf(HasSubstr("\"theirs\""), HasSubstr("// about old")));
  EXPECT_EQ(file(backup()), kTended);
  EXPECT_THAT(said.out, HasSubstr("config.json.bak"));
}

TEST_F(ConfigCommands, ImportForATrySaysWhatItWouldDoAndWritesNothing) {
  write(config(), kTended);
  const std::string client =
      write("home/mcp.json", R"({"mcpServers": {"theirs": {"command": "t"}, "old": {"command": "other"}}})");

  const Words said = say_plainly({"import", "--dry-run", client});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("Would add theirs"), HasSubstr("Not changed in"), HasSubstr("old")));
  EXPECT_EQ(file(config()), kTended);
  EXPECT_FALSE(std::filesystem::exists(path(backup())));
}

TEST_F(ConfigCommands, UrlPrintsTheConfiguredAddressWhileNoDaemonRuns) {
  const std::string mine = write(
      "home/mine.json", R"({"mcpServers": {"old": {"command": "o"}}, "corral": {"http": {"port": 8765}}})");

  const Words all = say("url", {"old", "--config", mine});
  const Words stdio = say("url", {"old", "--config", mine, "--transport", "stdio"});
  const Words nobody = say("url", {"odl", "--config", mine});

  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("http://127.0.0.1:8765/mcp/old"));
  EXPECT_THAT(all.err, HasSubstr("no daemon is running"));
  EXPECT_EQ(stdio.code, 0) << stdio.err;
  EXPECT_THAT(stdio.out, AllOf(HasSubstr("--runtime-dir " + runtime_dir()), HasSubstr("--config " + mine),
                               HasSubstr(" old")));
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("old"));
}

TEST_F(ConfigCommands, UrlPrintsTheAddressOfTheRunningDaemon) {
  const std::string mine = write("home/mine.json", kTended);
  Serving serving(serve({"--config", mine, "--port", "0"}));
  ASSERT_TRUE(ready()) << errors();
  constexpr std::string_view kUrl = "http://127.0.0.1:";
  ASSERT_TRUE(eventually([&] { return errors().find(kUrl) != std::string::npos; })) << errors();
  const std::string said = errors();
  const std::string port = std::to_string(atoi(said.c_str() + said.find(kUrl) + kUrl.size()));

  const Words url = say("url", {"old", "--config", mine});

  EXPECT_EQ(url.code, 0) << url.err;
  EXPECT_THAT(url.out, HasSubstr(std::string(kUrl) + port + "/mcp/old"));
  EXPECT_THAT(url.out, HasSubstr("curl --unix-socket "));
  EXPECT_THAT(url.err, Not(HasSubstr("no daemon is running")));
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

TEST_F(ConfigCommands, CheckShowsHowAServerLives) {
  write(config(),
        R"({"mcpServers": {"a": {"command": "true", "args": ["${CORRAL_ROOT}"], "corral": {"share": "root",
      "restart": false, "park": false, "probe": 0, "era": "legacy", "eager": true, "warm": 2,
      "on_change": "ignore"}}}, "corral": {"max_instances": 12, "keep": 0}})");

  const Words said = say_plainly({"config", "check"});

  EXPECT_EQ(said.code, 0) << said.err;
  for (const char* part : {"the project root", "root: one instance for each project", "not restarted",
                           "not probed", "never parked", "when a session attaches", "with 2 kept ready",
                           "as a legacy", "its files are not watched", "12 instances", "keeps 0 idle"}) {
    EXPECT_THAT(said.out, HasSubstr(part));
  }
  EXPECT_THAT(said.out, Not(HasSubstr("warning")));
}

TEST_F(ConfigCommands, TakeEffectInARunningDaemonBeforeTheyEnd) {
  const std::string mine = write("home/mine.json", kTended);
  Serving serving(serve({"--config", mine}));
  ASSERT_TRUE(ready()) << errors();

  const Words added = say("add", {"new", "--config", mine, "--", "n"});
  const std::string with_new = say("status", {"--json"}).out;
  const Words removed = say("remove", {"new", "--config", mine});
  const std::string without_new = say("status", {"--json"}).out;

  EXPECT_THAT(added.out, HasSubstr("The running daemon has applied the change."));
  EXPECT_THAT(with_new, HasSubstr(R"("name":"new")"));
  EXPECT_THAT(removed.out, HasSubstr("The running daemon has applied the change."));
  EXPECT_THAT(without_new, AllOf(HasSubstr(R"("name":"old")"), Not(HasSubstr(R"("name":"new")"))));
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

TEST_F(ConfigCommands, MakeTheFirstFileOfADaemonThatHadNone) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();

  const Words added = say("add", {"new", "--", "n"});

  EXPECT_THAT(added.out, HasSubstr("The running daemon has applied the change."));
  EXPECT_THAT(say("status", {"--json"}).out, HasSubstr(R"("name":"new")"));
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

TEST_F(ConfigCommands, SayThatTheDaemonReadsAnotherFile) {
  const std::string theirs = write("home/theirs.json", kTended);
  Serving serving(serve({"--config", theirs}));
  ASSERT_TRUE(ready()) << errors();

  const Words said = say("add", {"new", "--", "n"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("does not use this file; it uses"), HasSubstr("theirs.json")));
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
}

}  // namespace
}  // namespace corral::os_tests
