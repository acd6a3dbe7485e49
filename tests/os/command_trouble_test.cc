// Commands in bad surroundings: a daemon that hangs, an output that takes nothing, others who do the same at
// the same moment.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <list>
#include <memory>
#include <sstream>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr int kOwnFailure = 125;

class CommandTrouble : public HubTest {
 protected:
  /// The exit code of a command whose output goes to a device that is full.
  int code_with_full_output(Launch launch) {
    launch.out = Stdio::Null;
    launch.before_exec = [] {
      const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
      dup2(full, STDOUT_FILENO);
    };
    unlink(launch.stderr_path.c_str());
    return Session(launch).wait().value_or(-1);
  }
  Launch bare(const std::vector<std::string>& words) const {
    Launch launch = command("status");
    launch.argv = {programs().corral};
    launch.argv.insert(launch.argv.end(), words.begin(), words.end());
    launch.stderr_path = path("stderr-bare");
    return launch;
  }
  static long ticks_of(pid_t pid) {
    std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(stream, line);
    std::istringstream fields(line.substr(line.rfind(')') + 2));
    std::string skipped;
    for (int i = 3; i < 14; ++i) fields >> skipped;
    long user = 0;
    long system = 0;
    fields >> user >> system;
    return user + system;
  }
};

TEST_F(CommandTrouble, ADaemonThatHangsIsGivenUpWithAWordOnWhatToDo) {
  add_server("one", {}, R"("share":"shared")");
  start_daemon();
  const pid_t hanging = daemon();
  ASSERT_EQ(kill(hanging, SIGSTOP), 0);
  const std::vector<std::vector<std::string>> lines = {{"info"},
                                                       {"session", "list"},
                                                       {"session", "end", "1"},
                                                       {"reload"},
                                                       {"restart", "one"},
                                                       {"stop", "one"},
                                                       {"start", "one"},
                                                       {"shutdown"},
                                                       {"status"},
                                                       {"ps"}};

  std::list<Session> asking;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Launch launch = command(lines[i].front(), {lines[i].begin() + 1, lines[i].end()});
    launch.out = Stdio::Null;
    launch.stderr_path = path("stderr-" + std::to_string(i));
    asking.emplace_back(launch);
  }

  auto session = asking.begin();
  for (std::size_t i = 0; i < lines.size(); ++i, ++session) {
    std::optional<int> code = session->wait();
    if (!code) code = session->wait();  // a first look at 10 s, a second one at 20 s
    EXPECT_EQ(code, kOwnFailure) << lines[i].front();
    EXPECT_THAT(file("stderr-" + std::to_string(i)),
                AllOf(HasSubstr("does not answer"), HasSubstr("kill -CONT " + std::to_string(hanging))))
        << lines[i].front();
  }
  EXPECT_THAT(file("stderr-3"), HasSubstr("has not answered for 10 s")) << "who may wait long says so";
  kill(hanging, SIGCONT);
}

TEST_F(CommandTrouble, OutputThatCannotBeWrittenIsAFailure) {
  start_daemon();

  EXPECT_EQ(code_with_full_output(bare({"--version"})), kOwnFailure);
  EXPECT_EQ(code_with_full_output(bare({"--help"})), kOwnFailure);
  EXPECT_EQ(code_with_full_output(bare({"run", "--help"})), kOwnFailure);
  EXPECT_THAT(file("stderr-bare"), HasSubstr("cannot write to stdout"));
  const std::vector<std::vector<std::string>> lines = {{"status"},
                                                       {"status", "--json"},
                                                       {"token", "list"},
                                                       {"session", "list"},
                                                       {"session", "list", "--json"},
                                                       {"reload"},
                                                       {"info"},
                                                       {"ps"}};
  for (const std::vector<std::string>& line : lines) {
    const Launch launch = command(line.front(), {line.begin() + 1, line.end()});
    EXPECT_EQ(code_with_full_output(launch), kOwnFailure) << testing::PrintToString(line);
    EXPECT_THAT(file("stderr-" + line.front()), HasSubstr("cannot write to stdout"));
  }
}

TEST_F(CommandTrouble, HelpIsShownWhereverItIsAskedFor) {
  EXPECT_THAT(say("session", {"create", "--help"}).out, HasSubstr("Usage: corral session create"));
  EXPECT_THAT(say("token", {"create", "-h"}).out, HasSubstr("Usage: corral token create"));
  EXPECT_THAT(say("restart", {"one", "--json", "--help"}).out, HasSubstr("Usage: corral restart"));
  EXPECT_EQ(Session(bare({"config", "check", "--help"})).wait(), 0) << file("stderr-bare");
  EXPECT_THAT(say("token", {"create", "--server", "--help"}).err, HasSubstr("give the name of one token"))
      << "the value of an option asks for nothing";
}

TEST_F(CommandTrouble, TwentyWhoAddAServerOrATokenAtOnceAllSucceed) {
  constexpr int kMany = 20;
  std::list<Session> adding;
  for (int i = 0; i < kMany; ++i) {
    Launch launch =
        command("add", {"--config", path("conf/config.json"), "server" + std::to_string(i), "--", "true"});
    launch.out = Stdio::Null;
    adding.emplace_back(launch);
    Launch token = command("token", {"create", "token" + std::to_string(i)});
    token.out = Stdio::Null;
    adding.emplace_back(token);
  }
  for (Session& session : adding) EXPECT_EQ(session.wait(), 0) << file("stderr-add") << file("stderr-token");

  const std::string written = file("conf/config.json");
  const std::string tokens = say("token", {"list"}).out;
  for (int i = 0; i < kMany; ++i) {
    EXPECT_THAT(written, HasSubstr("\"server" + std::to_string(i) + "\""));
    EXPECT_THAT(tokens, HasSubstr("token" + std::to_string(i) + " "));
  }
}

TEST_F(CommandTrouble, AReportIntoAPipeThatNobodyReadsIsRefusedBeforeAServerStarts) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0666), 0);
  ASSERT_EQ(chmod(path("pipe").c_str(), 0666), 0);
  Launch launch = bare({"run", "--report", path("pipe"), "--", "touch", path("started")});

  EXPECT_EQ(Session(launch).wait(), kOwnFailure);

  EXPECT_THAT(file("stderr-bare"), AllOf(HasSubstr("a pipe without a reader"), HasSubstr("--report")));
  EXPECT_NE(access(path("started").c_str(), F_OK), 0);
}

TEST_F(CommandTrouble, AReportIntoAPipeReachesTheProcessThatReadsIt) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0666), 0);
  ASSERT_EQ(chmod(path("pipe").c_str(), 0666), 0);
  const int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);

  EXPECT_EQ(Session(bare({"run", "--report", path("pipe"), "--", "true"})).wait(), 0) << file("stderr-bare");

  std::string text(4096, '\0');
  const ssize_t size = read(reader, text.data(), text.size());
  close(reader);
  EXPECT_THAT(text.substr(0, size > 0 ? static_cast<std::size_t>(size) : 0), HasSubstr("\"leaked\":false"));
}

// A watch for room to write that is never taken back would wake the daemon without end.
TEST_F(CommandTrouble, AnIdleDaemonWithASessionUsesNoProcessorTime) {
  add_server("one", {}, R"("share":"shared")");
  start_daemon();
  McpClient client(connect({"one"}));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  ASSERT_NE(client.call("pid"), "");
  const long before = ticks_of(daemon());

  sleep(3);

  const long a_second = sysconf(_SC_CLK_TCK);
  EXPECT_LT(ticks_of(daemon()) - before, a_second / 4) << "of 3 s in which nobody asked for anything";
}

}  // namespace
}  // namespace corral::os_tests
