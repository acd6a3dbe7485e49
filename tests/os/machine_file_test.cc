// The administrator's file in its real place, for commands and for the daemon: each program runs in a mount
// namespace in which /etc/corral is a directory of the test.
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

/// Everything else in /etc stays: it is there as links to the old one.
constexpr const char* kEnter = R"sh(set -e
mount --rbind /etc "$1/old" && mount -t tmpfs none /etc
for entry in "$1"/old/*; do ln -s "$entry" /etc/; done
rm -f /etc/corral && mkdir /etc/corral && mount --bind "$1/corral" /etc/corral
shift && exec "$@")sh";

constexpr const char* kMachine = R"({
  "mcpServers": {"git": {"command": "cat"}, "docs": {"command": "cat"}},
  "corral": {"locked": ["share", "servers.docs", "http.port"]}
})";

class MachineFileTest : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    for (const char* const name : {"etc", "etc/old", "etc/corral"}) mkdir(path(name).c_str(), 0755);
    for (const char* const name : {"etc", "etc/old", "etc/corral"}) chmod(path(name).c_str(), 0755);
    put_machine(kMachine);
  }

  void put_machine(const std::string& text) const {
    const std::string file = path("etc/corral/config.json");
    std::ofstream(file + ".new") << text;
    chmod((file + ".new").c_str(), 0644);
    std::filesystem::rename(file + ".new", file);
  }
  void put_users(const std::string& text) const {
    std::filesystem::create_directories(path("home/corral"));
    std::ofstream(path("home/corral/config.json")) << text;
    chmod(path("home/corral/config.json").c_str(), 0600);
  }

  /// As the user of this test, to whom the directory belongs.
  Launch inside(Launch launch) const {
    std::vector<std::string> argv = {"unshare",  running_as_root() ? "-m" : "-rm", "sh", "-c", kEnter, "sh",
                                     path("etc")};
    argv.insert(argv.end(), launch.argv.begin(), launch.argv.end());
    launch.argv = std::move(argv);
    launch.uid.reset();
    return launch;
  }
  Words tell(const std::vector<std::string>& words, bool with_runtime_dir = true) const {
    Launch launch = command(words.front(), {words.begin() + 1, words.end()});
    if (!with_runtime_dir) launch.argv.erase(launch.argv.begin() + 2, launch.argv.begin() + 4);
    launch = inside(launch);
    unlink(launch.stderr_path.c_str());
    Session session(launch);
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("stderr-" + words.front());
    return said;
  }
};

TEST_F(MachineFileTest, ServesUsersWithoutAFileOfTheirOwn) {
  const Words said = tell({"list"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("/etc/corral/config.json: 2 servers"), HasSubstr("git")));
}

TEST_F(MachineFileTest, MakesALockedKeyOfTheUserAnErrorOfConfigCheck) {
  put_users(R"({"mcpServers": {"mine": {"command": "cat", "corral": {"share": "session"}}}})");

  const Words text = tell({"config", "check"}, false);
  const Words json = tell({"config", "check", "--json"}, false);

  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.out, AllOf(HasSubstr("error: "), HasSubstr("/etc/corral/config.json:3")));
  EXPECT_EQ(json.code, 1);
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"("machine_file":"/etc/corral/config.json")"),
                              HasSubstr(R"("overruled":["/)"), HasSubstr(R"("share":"auto")")));
}

TEST_F(MachineFileTest, IsNotChangedByAddAndRemove) {
  EXPECT_THAT(tell({"add", "docs", "--", "cat"}).err,
              AllOf(HasSubstr("'docs' is locked"), HasSubstr("administrator")));
  EXPECT_THAT(tell({"add", "x", "--share", "session", "--", "cat"}).err,
              HasSubstr("--share would have no effect"));
  EXPECT_THAT(tell({"remove", "git"}).err, HasSubstr("is in /etc/corral/config.json:2"));
  EXPECT_FALSE(std::filesystem::exists(path("home/corral/config.json")));

  const Words replaced = tell({"add", "git", "--", "cat"});
  EXPECT_EQ(replaced.code, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("it replaces the server of that name in /etc/corral/config.json:2"));
  EXPECT_EQ(tell({"remove", "git"}).code, 0);
}

TEST_F(MachineFileTest, IsNotChangedByACommandThatNamesIt) {
  std::ofstream(path("client.json")) << R"({"mcpServers": {"more": {"command": "cat"}}})";
  const std::string named = "--config=/etc/corral/config.json";

  EXPECT_THAT(tell({"add", named, "x", "--", "cat"}).err,
              HasSubstr("does not change the administrator's file"));
  EXPECT_THAT(tell({"remove", named, "git"}).err, HasSubstr("does not change the administrator's file"));
  EXPECT_THAT(tell({"import", named, path("client.json")}, false).err, HasSubstr("does not change"));
  EXPECT_EQ(file("etc/corral/config.json"), kMachine);
}

TEST_F(MachineFileTest, LeavesLockedServersOutOfAnImport) {
  std::ofstream(path("client.json"))
      << R"({"mcpServers": {"docs": {"command": "cat"}, "more": {"command": "cat"}}})";

  const Words said = tell({"import", path("client.json")}, false);

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("Added more"), HasSubstr("'docs' is left out, because /etc/corral")));
  EXPECT_THAT(file("home/corral/config.json"), Not(HasSubstr("docs")));
}

TEST_F(MachineFileTest, NamesLockedKeysThatAnImportBrings) {
  std::ofstream(path("client.json"))
      << R"({"mcpServers": {"more": {"command": "cat", "corral": {"share": "session"}}}})";

  const Words said = tell({"import", path("client.json")}, false);

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("Added more"), HasSubstr("warning: "), HasSubstr("\"share\"")));
}

TEST_F(MachineFileTest, IsStrongerThanAnOptionOfServe) {
  const Words said = tell({"serve", "--port", "0"});
  const Words alone = tell({"serve", "--", "cat"});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, AllOf(HasSubstr("--port has no effect"), HasSubstr("\"http.port\"")));
  EXPECT_EQ(alone.code, 1);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("cannot have a port of its own"), Not(HasSubstr("--port"))));
}

TEST_F(MachineFileTest, ThatIsBrokenStopsWhatWouldIgnoreItsLocks) {
  put_machine("{\n  \"corral\": {,}\n}");

  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"serve"}, {"list"}, {"connect", "git"}, {"add", "x", "--", "cat"}, {"url", "git"}}) {
    const Words said = tell(words);
    EXPECT_NE(said.code, 0) << words.front();
    EXPECT_THAT(said.err, AllOf(HasSubstr("/etc/corral/config.json:2:"), HasSubstr("administrator")))
        << words.front();
  }
  EXPECT_EQ(tell({"config", "check"}, false).code, 1);
}

TEST_F(MachineFileTest, ThatIsBrokenDoesNotStopHelpDiagnosisAndUndo) {
  put_machine("{,}");

  EXPECT_EQ(tell({"version"}, false).code, 0);
  EXPECT_EQ(tell({"help"}, false).code, 0);
  EXPECT_EQ(tell({"doctor"}, false).code, 0);
  EXPECT_EQ(tell({"release", "--all", "--yes"}, false).code, 3) << "nothing is adopted";
  EXPECT_EQ(tell({"ps"}).code, 1) << "no daemon is running";
  EXPECT_THAT(tell({"bundle", "-"}).out, HasSubstr("not collected: /etc/corral/config.json:1:2"));
}

TEST_F(MachineFileTest, ThatIsBrokenLeavesACommandOfAClientItsOwnProcess) {
  put_machine("{,}");
  Launch launch = inside(command("connect", {"--", "cat"}));
  launch.in = Stdio::Pipe;
  Session session(launch);
  ASSERT_EQ(write(session.stdin_fd(), "hello\n", 6), 6);
  session.close_stdin();

  EXPECT_EQ(session.output_to_end(), "hello\n");
  EXPECT_EQ(session.wait(), 0);
  EXPECT_THAT(file("stderr-connect"),
              AllOf(HasSubstr("/etc/corral/config.json"), HasSubstr("running the server here")));
  EXPECT_TRUE(all_gone());
}

TEST_F(MachineFileTest, IsReadAgainWhenItChangesAndStaysInForceWhenItBreaks) {
  Serving serving(inside(serve()));
  ASSERT_TRUE(ready()) << errors();
  const auto status = [this] { return tell({"status", "--json"}).out; };
  EXPECT_THAT(status(), HasSubstr(R"("place":"/etc/corral/config.json:2")"));
  EXPECT_THAT(tell({"add", "mine", "--", "cat"}).out, HasSubstr("The running daemon has applied the change"));
  EXPECT_THAT(status(), AllOf(HasSubstr(R"("name":"mine")"), HasSubstr(R"("name":"git")")));
  EXPECT_THAT(tell({"info"}).out, HasSubstr("git: configured in /etc/corral/config.json:2"));
  EXPECT_THAT(tell({"why", "git"}).out, HasSubstr("git is configured in /etc/corral/config.json:2"));

  put_machine(R"({"mcpServers": {"new": {"command": "cat"}}})");
  EXPECT_TRUE(eventually([&] { return status().find(R"("name":"new")") != std::string::npos; }));

  put_machine("{,}");
  EXPECT_TRUE(eventually([&] { return status().find("/etc/corral/config.json:1:2") != std::string::npos; }));
  EXPECT_THAT(status(), HasSubstr(R"("name":"new")"));

  std::filesystem::remove(path("etc/corral/config.json"));
  EXPECT_TRUE(eventually([&] { return status().find("is gone") != std::string::npos; }));
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
  EXPECT_TRUE(all_gone());
}

}  // namespace
}  // namespace corral::os_tests
