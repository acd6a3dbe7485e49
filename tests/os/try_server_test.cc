// `corral add --try` and `import --try`: a server is started once, privately, and is gone before its entry is
// written.
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
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

/// It leaves a process behind that ignores the end of its input, and has two tools.
constexpr const char* kServer = R"SH(#!/bin/sh
sleep 1000 </dev/null >/dev/null 2>&1 &
echo "$!" > "$1"
echo "$SECRET_WORD" > "$1.word"
while read -r line; do
  case $line in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}';;
  *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}]}}';;
  esac
done
)SH";

/// It refuses initialize, as a server does that knows only the revision 2026-07-28.
constexpr const char* kModernServer = R"SH(#!/bin/sh
while read -r line; do
  case $line in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}';;
  *'"server/discover"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}';;
  *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","inputSchema":{}}]}}';;
  esac
done
)SH";

constexpr const char* kBrokenServer = R"SH(#!/bin/sh
for i in 1 2 3 4 5 6 7 8 9; do echo "line $i" >&2; done
echo "no licence found for sk-0123456789abcdef, MY_TOKEN=hunter2" >&2
exit 3
)SH";

class TryServer : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    ASSERT_EQ(chmod(path("home").c_str(), 0777), 0);  // whatever the umask
  }

  /// As the user would have written it.
  std::string write(const std::string& name, const std::string& text) const {
    const std::string whole = path(name);
    std::ofstream(whole) << text;
    EXPECT_EQ(chmod(whole.c_str(), 0755), 0);
    EXPECT_EQ(chown(whole.c_str(), uid_of(User::Ordinary).value_or(getuid()), static_cast<gid_t>(-1)), 0);
    return whole;
  }
  std::string config() const { return file("home/corral/config.json"); }
  bool is_gone(const std::string& pid_file) const {
    const pid_t pid = std::atoi(file(pid_file).c_str());
    EXPECT_GT(pid, 0) << "it never ran";
    return eventually([pid] { return kill(pid, 0) != 0; });
  }
};

TEST_F(TryServer, AddsOneThatIsReadyAndLeavesNoProcess) {
  const std::string server = write("server.sh", kServer);

  const Words said =
      say("add", {"--try", "files", "--env", "SECRET_WORD=swordfish", "--", server, path("home/pid")});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out,
              MatchesRegex("Tried files: ready in [0-9.]+m?s, 2 tools; it has been ended, and no process is "
                           "left\\.\nAdded files to (.|\n)*"));
  EXPECT_THAT(config(), HasSubstr("server.sh"));
  EXPECT_EQ(file("home/pid.word"), "swordfish\n") << "it has the variables of its entry";
  EXPECT_TRUE(is_gone("home/pid"));
  EXPECT_FALSE(answers()) << "no daemon was started";
}

TEST_F(TryServer, KnowsServersOfTheModernEra) {
  const Words said = say("add", {"--try", "new", "--", write("server.sh", kModernServer)});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("1 tool; "));
}

TEST_F(TryServer, DoesNotAddOneThatFailsAndSaysWhatItWroteLast) {
  const Words said = say("add", {"--try", "files", "--", write("server.sh", kBrokenServer)});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err,
              AllOf(StartsWith("corral add: 'files' is not added, because it did not start: "),
                    HasSubstr("its last lines on stderr:\n"), HasSubstr("\n  no licence found for ***"),
                    HasSubstr("MY_TOKEN=***\n"), Not(HasSubstr("line 1\n"))));
  EXPECT_EQ(said.out, "");
  EXPECT_EQ(config(), "");
}

TEST_F(TryServer, DoesNotAddACommandThatIsNotThere) {
  const Words said = say("add", {"--try", "files", "--", "no-such-command-at-all"});
  const Words variable = say("add", {"--try", "files", "--", "cat", "${NOT_THERE_AT_ALL}"});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("'no-such-command-at-all' was not found in PATH"));
  EXPECT_EQ(variable.code, 1);
  EXPECT_THAT(variable.err, HasSubstr("NOT_THERE_AT_ALL"));
  EXPECT_EQ(config(), "");
}

TEST_F(TryServer, StartsNothingIfTheNameIsTaken) {
  const std::string server = write("server.sh", kServer);
  ASSERT_EQ(say("add", {"files", "--", server, path("home/first")}).code, 0);

  const Words said = say("add", {"--try", "files", "--", server, path("home/second")});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("already. Use --replace"));
  EXPECT_EQ(access(path("home/second").c_str(), F_OK), -1);
}

TEST_F(TryServer, ImportsOnlyThoseThatStart) {
  const std::string good = write("good.sh", kServer);
  const std::string bad = write("bad.sh", kBrokenServer);
  const std::string client = write("home/mcp.json", R"({"mcpServers": {"good": {"command": ")" + good +
                                                        R"(", "args": [")" + path("home/pid") +
                                                        R"("]}, "bad": {"command": ")" + bad + R"("},
      "off": {"command": ")" + bad + R"(", "disabled": true}}})");
  Launch launch = command("import");
  launch.argv = {programs().corral, "import", "--try", client};
  Session session(launch);

  const std::string out = session.output_to_end();

  EXPECT_EQ(session.wait().value_or(-1), 1) << "one of them failed";
  EXPECT_THAT(out, AllOf(StartsWith("Tried good: ready in "), HasSubstr("\nAdded good, off to ")));
  EXPECT_THAT(file("stderr-import"),
              HasSubstr("corral import: 'bad' is not added, because it did not start: "));
  EXPECT_THAT(config(), AllOf(HasSubstr("\"good\""), Not(HasSubstr("\"bad\""))));
  EXPECT_TRUE(is_gone("home/pid"));
}

}  // namespace
}  // namespace corral::os_tests
