// `corral bundle` with a real daemon, real files and a real terminal: what is in it, what is not, and when
// nothing is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/daemon_test.h"
#include "support/eventually.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class BundleTest : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    for (const char* const name :
         {"home", "home/canary-home", "home/canary-home/corral", "home/canary-home/.cursor"}) {
      mkdir(path(name).c_str(), 0777);
      chmod(path(name).c_str(), 0777);
    }
  }

  std::string home() const { return path("home/canary-home"); }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(home() + "/" + name) << text;
    EXPECT_EQ(chown((home() + "/" + name).c_str(), uid_of(User::Ordinary).value_or(getuid()),
                    static_cast<gid_t>(-1)),
              0);
  }
  /// The home directory has a name that nobody else should read, and is the working directory.
  Launch at_home(Launch launch) const {
    launch.env.push_back("HOME=" + home());
    launch.env.push_back("XDG_CONFIG_HOME=" + home());
    launch.env.push_back("XDG_STATE_HOME=");
    launch.env.push_back("VISIBLE_NAME=1");
    launch.before_exec = [directory = home()] { (void)chdir(directory.c_str()); };
    return launch;
  }
  Words tell(const std::string& name, const std::vector<std::string>& words) const {
    const Launch launch = at_home(command(name, words));
    unlink(launch.stderr_path.c_str());
    Session session(launch);
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("stderr-" + name);
    return said;
  }
  Words bundle(const std::vector<std::string>& words) const { return tell("bundle", words); }
  std::string read(const std::string& name) const { return file("home/canary-home/" + name); }
};

constexpr const char* kConfig = R"json({
  "mcpServers": {
    "leaky": {"command": "sh", "args": ["-c", "echo 'API_TOKEN=canary-stderr-1 Authorization: Bearer canary-stderr-2' >&2; echo ghp_canarystderr3canary4 >&2; exit 3", "--token=canary-arg-1", "--api-key", "canary-arg-2", "https://me:canary-url@example.org/x", "sk-canarysk1234567890"],
      "env": {"PLAIN": "canary-env-1", "API_KEY": "canary-env-2", "FROM": "${VISIBLE_NAME}"},
      "corral": {"on_stop": "true -H 'Authorization: Bearer canary-stop' x"}},
    "web": {"type": "http", "url": "https://me:canary-url-2@example.org", "headers": {"Authorization": "Bearer canary-header"}}
  }
})json";

TEST_F(BundleTest, HasNothingThatLooksLikeASecret) {
  put("corral/config.json", kConfig);
  put(".cursor/mcp.json",
      R"({"mcpServers": {"c": {"command": "x", "args": ["--password=canary-client-1"], "env": {"SECRET": "canary-client-2"}}, "u": {"url": "https://a:canary-client-3@b", "headers": {"X-Api-Key": "canary-client-4"}}}})");
  Serving serving(at_home(serve()));
  ASSERT_TRUE(ready()) << errors();
  Launch client = at_home(command("connect", {"leaky"}));
  client.in = Stdio::Pipe;
  Session session(client);
  const std::string hello =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ghp_canaryclientname123","version":"1"}}})"
      "\n";
  ASSERT_EQ(write(session.stdin_fd(), hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
  const auto failed = [&] {
    return tell("status", {"--json"}).out.find("canary-stderr-1") != std::string::npos;
  };
  ASSERT_TRUE(eventually(failed)) << "the canary must be where the archive is made from";

  // A daemon that a client has started writes its log there.
  std::ofstream(in_runtime_dir("daemon.log"))
      << home() << " API_TOKEN=canary-log-1\n"
      << R"({"text": "password=canary-log-2", "token": "canary-log-3"})"
         "\n";

  const Words said = bundle({"-"});

  EXPECT_EQ(said.code, 0) << said.err;
  for (const char* const part : {"about.txt", "status.json", "servers.json", "events.jsonl", "doctor.json",
                                 "config.json", "daemon.log"}) {
    EXPECT_THAT(said.out, HasSubstr("\n==== " + std::string(part) + " ====\n"));
  }
  EXPECT_THAT(said.out,
              AllOf(HasSubstr("leaky"), HasSubstr("VISIBLE_NAME"), HasSubstr("\"PLAIN\": \"***\"")));
  const std::size_t canary = said.out.find("canary");
  EXPECT_EQ(canary, std::string::npos)
      << said.out.substr(canary == std::string::npos ? 0 : std::max<std::size_t>(canary, 200) - 200, 400);
  session.close_stdin();
  serving.signal(SIGTERM);
  EXPECT_EQ(serving.wait(), 0);
  EXPECT_TRUE(all_gone());
}

TEST_F(BundleTest, WorksWithoutADaemonWithABrokenConfigurationAndABrokenRegistry) {
  put("corral/config.json", "{\n,}");
  std::filesystem::create_directories(in_runtime_dir("state"));
  std::ofstream(in_runtime_dir("state/registry.db")) << std::string(8192, 'x');
  std::filesystem::permissions(runtime_dir(), std::filesystem::perms::owner_all);
  std::filesystem::permissions(in_runtime_dir("state"), std::filesystem::perms::all);
  EXPECT_EQ(chown(runtime_dir().c_str(), uid_of(User::Ordinary).value_or(getuid()), static_cast<gid_t>(-1)),
            0);

  const Words said = bundle({"--yes", "report.txt"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(read("report.txt"),
              AllOf(HasSubstr("status.json (not collected)"), HasSubstr("no daemon is running"),
                    HasSubstr("config.json (not collected)"), HasSubstr("config.json:2:1"),
                    HasSubstr("events.jsonl (not collected)"), HasSubstr("==== doctor.json ====")));
}

TEST_F(BundleTest, IsReadableOnlyByItsOwnerAndNeverOverAnotherFile) {
  ASSERT_EQ(bundle({"--yes", "report.txt"}).code, 0);
  struct stat status {};
  ASSERT_EQ(stat((home() + "/report.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  const std::string before = read("report.txt");

  const Words again = bundle({"--yes", "report.txt"});
  std::filesystem::create_symlink("/nowhere", home() + "/link");
  const Words through_link = bundle({"--yes", "link"});

  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("'report.txt' exists already"));
  EXPECT_EQ(read("report.txt"), before);
  EXPECT_EQ(through_link.code, 1);
}

TEST_F(BundleTest, NeedsADirectoryThatIsThere) {
  const Words said = bundle({"--yes", "no/such/report.txt"});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("there is no directory for 'no/such/report.txt'"));
}

TEST_F(BundleTest, LeavesNothingOnAFullDisk) {
  mkdir(path("small").c_str(), 0777);
  Launch launch = command("bundle", {"--yes", path("small/report.txt")});
  const std::string script =
      "mount -t tmpfs -o size=4k none \"$1\" && head -c 4096 /dev/zero > \"$1/full\" && shift && \"$@\"; "
      "code=$?; ls " +
      path("small") + "; exit $code";
  std::vector<std::string> argv = {"unshare",    running_as_root() ? "-m" : "-rm", "sh", "-c", script, "sh",
                                   path("small")};
  argv.insert(argv.end(), launch.argv.begin(), launch.argv.end());
  launch.argv = std::move(argv);
  launch.uid.reset();
  Session session(launch);

  const std::string out = session.output_to_end();

  EXPECT_EQ(session.wait(), 1) << out;
  EXPECT_THAT(file("stderr-bundle"), HasSubstr("No space left on device"));
  EXPECT_THAT(out, AllOf(EndsWith("\nfull\n"), Not(HasSubstr("\nreport.txt"))));
}

TEST_F(BundleTest, IsNotWrittenWithoutAPersonOrAYes) {
  const Words said = bundle({"report.txt"});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("doctor.json")) << "it is shown all the same";
  EXPECT_THAT(said.err, HasSubstr("`corral bundle --yes` writes it"));
  EXPECT_EQ(bundle({"--dry-run", "report.txt"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(home() + "/report.txt"));
}

TEST_F(BundleTest, AsksOnATerminalAfterItHasShownWhatIsInIt) {
  for (const auto& [keys, written] : {std::pair{"n\r", false}, std::pair{"y\r", true}}) {
    Terminal terminal;
    terminal.resize(100, 40);
    Launch launch = at_home(command("bundle", {"report.txt"}));
    launch.in = launch.out = Stdio::Terminal;
    launch.terminal = &terminal;
    Session session(launch);
    ASSERT_TRUE(terminal.shows("doctor.json")) << terminal.screen();
    ASSERT_TRUE(terminal.shows("[q]uit: ")) << terminal.screen();
    terminal.type(keys);

    EXPECT_EQ(session.wait(), written ? 0 : 1);
    EXPECT_EQ(std::filesystem::exists(home() + "/report.txt"), written);
  }
}

}  // namespace
}  // namespace corral::os_tests
