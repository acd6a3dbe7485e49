// `corral serve` as a process: its lines, its files, its single instance, its ends, and what it tells a
// service manager. What it does for clients is tested elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "support/daemon_test.h"
#include "support/eventually.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Serve : public DaemonTest {
 protected:
  std::string environment_of(pid_t pid) const {
    std::ifstream stream("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(file) << text;
    chmod(file.c_str(), 0644);
  }
  bool exists(const std::string& file) const { return access(file.c_str(), F_OK) == 0; }
};

TEST_F(Serve, BeginsWithALineThatNamesVersionPidAndBuild) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();

  std::smatch parts;
  const std::string said = errors();
  const std::regex line(
      R"(^\[corral v\d+\.\d+\.\d+\] Server starting \(PID: (\d+), Build: \d{4}-\d{2}-\d{2}\)\n)");

  ASSERT_TRUE(std::regex_search(said, parts, line, std::regex_constants::match_continuous)) << said;
  EXPECT_EQ(std::stoi(parts[1]), daemon());
  EXPECT_NE(std::stoi(parts[1]), serving.janitor());
}

TEST_F(Serve, EndsWithALineThatNamesReasonAndCounts) {
  for (const auto& [signo, name] : {std::pair(SIGTERM, "SIGTERM"), std::pair(SIGINT, "SIGINT")}) {
    Serving serving(serve());
    ASSERT_TRUE(ready()) << errors();

    serving.signal(signo);

    EXPECT_EQ(serving.wait(), 0);
    const std::regex line(std::string(R"(\n\[corral v\d+\.\d+\.\d+\] Shutting down \()") + name +
                          R"(, 0 sessions, 0 instances, \d+ ms\)\n$)");
    EXPECT_TRUE(std::regex_search(errors(), line)) << errors();
    EXPECT_TRUE(all_gone());
  }
}

TEST_F(Serve, WritesAPidFileOfThreeLinesAndTakesItAway) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();

  EXPECT_TRUE(std::regex_match(pid_file(),
                               std::regex(R"(\d+\n\d+\.\d+\.\d+\n\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z\n)")))
      << pid_file();
  EXPECT_EQ(process_by_pid(daemon()).value().parent, serving.janitor());

  serving.signal(SIGTERM);
  ASSERT_EQ(serving.wait(), 0);
  EXPECT_FALSE(exists(in_runtime_dir("corral.pid")));
  EXPECT_FALSE(exists(in_runtime_dir("corral.sock")));
}

TEST_F(Serve, ReportsAndReplacesAStalePidFile) {
  Serving first(serve());
  ASSERT_TRUE(ready()) << errors();
  const pid_t killed = daemon();
  ASSERT_TRUE(kill_now(killed));
  ASSERT_EQ(first.wait(), 128 + SIGKILL);
  ASSERT_EQ(daemon(), killed) << "the killed one could not take its file away";

  Serving second(serve());

  ASSERT_TRUE(eventually([&] { return daemon() != killed && answers(); })) << errors();
  EXPECT_THAT(errors(), HasSubstr("replacing a stale pid file, '" + in_runtime_dir("corral.pid") +
                                  "': it names pid " + std::to_string(killed)));
}

TEST_F(Serve, LeavesAPidFileAloneThatIsNotItsOwnAnyMore) {
  const std::string file = path("pid");
  Serving serving(serve({"--pid-file", file}));
  ASSERT_TRUE(eventually([&] { return exists(file) && answers(); })) << errors();
  EXPECT_FALSE(exists(in_runtime_dir("corral.pid")));

  write(file, "1\n9.9.9\n2020-01-01T00:00:00Z\n");
  serving.signal(SIGTERM);

  ASSERT_EQ(serving.wait(), 0);
  EXPECT_EQ(this->file("pid"), "1\n9.9.9\n2020-01-01T00:00:00Z\n");
}

TEST_F(Serve, RefusesASecondDaemonAndNamesTheFirst) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();

  const Words second = say("serve");

  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr("is already running: pid " + std::to_string(daemon()) + ", version "));
  EXPECT_EQ(say("serve", {"--auto"}).code, 0) << "a shim that was not the quickest has not failed";
  EXPECT_TRUE(answers());
}

TEST_F(Serve, RefusesARuntimeFolderThatIsNotOurs) {
  ASSERT_EQ(symlink("/tmp", runtime_dir().c_str()), 0);
  const Words link = say("serve");
  EXPECT_EQ(link.code, 1);
  EXPECT_THAT(link.err, HasSubstr("is a symbolic link"));
  unlink(runtime_dir().c_str());

  write(runtime_dir(), "");
  const Words file = say("serve");
  EXPECT_EQ(file.code, 1);
  EXPECT_THAT(file.err, HasSubstr("is not a directory"));
  unlink(runtime_dir().c_str());

  ASSERT_EQ(mkdir(runtime_dir().c_str(), 0755), 0);
  const std::optional<uid_t> user = uid_of(User::Ordinary);
  if (user) {
    const Words strange = say("serve");
    EXPECT_EQ(strange.code, 1);
    EXPECT_THAT(strange.err, HasSubstr("belongs to user"));
    ASSERT_EQ(chown(runtime_dir().c_str(), *user, *user), 0);
  }
  const Words open = say("serve");
  EXPECT_EQ(open.code, 1);
  EXPECT_THAT(open.err, HasSubstr("chmod 0700"));
}

TEST_F(Serve, DoesNotStartWithABrokenConfiguration) {
  write(path("config.json"), "{\n  \"mcpServers\": [\n}");

  const Words broken = say("serve", {"--config", path("config.json")});
  const Words missing = say("serve", {"--config", path("nowhere.json")});

  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("config.json:"));
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.json"));
  EXPECT_FALSE(exists(in_runtime_dir("corral.pid")));
  EXPECT_FALSE(answers());
}

TEST_F(Serve, TakesNothingSecretFromTheEnvironment) {
  Launch launch = serve();
  launch.env.emplace_back("SECRET_TOKEN=abc");
  launch.env.emplace_back("LC_TIME=C");
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();

  for (const pid_t pid : {serving.janitor(), daemon()}) {
    EXPECT_THAT(environment_of(pid), Not(HasSubstr("SECRET_TOKEN")));
    EXPECT_THAT(environment_of(pid), HasSubstr("LC_TIME=C"));
  }
}

TEST_F(Serve, ReadsItsConfigurationAgainOnAHangupWhereNobodySitsAtATerminal) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();

  serving.signal(SIGHUP);

  EXPECT_TRUE(
      eventually([this] { return errors().find("configuration (SIGHUP): read") != std::string::npos; }));
  EXPECT_EQ(say("status").code, 0);
}

TEST_F(Serve, ObeysCtrlCWhichReachesTheDaemonOnlyOnce) {
  Terminal terminal;
  Launch launch = serve();
  launch.terminal = &terminal;
  Serving serving(launch);
  ASSERT_TRUE(ready()) << errors();
  EXPECT_NE(process_by_pid(daemon()).value().session, serving.janitor()) << "the keys would hit it, too";

  terminal.type(Terminal::kCtrlC);

  EXPECT_EQ(serving.wait(), 0);
  EXPECT_THAT(errors(), HasSubstr("Shutting down (SIGINT, "));
}

TEST_F(Serve, IsEndedByShutdownWhichWaitsForIt) {
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();
  const pid_t pid = daemon();

  const Words said = say("shutdown");

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, Not(testing::IsEmpty()));
  EXPECT_TRUE(is_gone(pid));
  EXPECT_EQ(serving.wait(), 0);
  const Words again = say("shutdown");
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, "No daemon is running.\n");
}

TEST_F(Serve, TellsItsStatus) {
  const Words nobody = say("status");
  EXPECT_EQ(nobody.code, 1);
  EXPECT_THAT(nobody.err, HasSubstr("no daemon is running"));
  Serving serving(serve());
  ASSERT_TRUE(ready()) << errors();

  const Words people = say("status");
  const Words programs = say("status", {"--json"});

  EXPECT_EQ(people.code, 0) << people.err;
  EXPECT_THAT(people.out, HasSubstr("pid " + std::to_string(daemon())));
  EXPECT_EQ(programs.code, 0);
  EXPECT_THAT(programs.out, HasSubstr("\"pid\":" + std::to_string(daemon())));
}

TEST_F(Serve, TakesThePlaceOfAnotherIfAsked) {
  Serving first(serve());
  ASSERT_TRUE(ready()) << errors();
  const pid_t before = daemon();

  Serving second(serve({"--replace"}));

  EXPECT_EQ(first.wait(), 0);
  EXPECT_TRUE(eventually([&] { return daemon() > 0 && daemon() != before && answers(); })) << errors();
}

TEST_F(Serve, DoesNotTakeThePlaceOfAnotherIfItCouldNotStart) {
  Serving first(serve());
  ASSERT_TRUE(ready()) << errors();
  const pid_t before = daemon();
  write(path("config.json"), "{");

  const Words said = say("serve", {"--replace", "--config", path("config.json")});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, AllOf(HasSubstr("config.json:1:"), HasSubstr("No daemon was ended.")));
  EXPECT_TRUE(answers());
  EXPECT_EQ(daemon(), before);
}

TEST_F(Serve, StartsInTheBackgroundAndReturnsWhenItAnswers) {
  const Words said = say("serve", {"--background"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(answers());
  EXPECT_EQ(said.out, "corral serve: started, pid " + std::to_string(daemon()) + ", socket " +
                          in_runtime_dir("corral.sock") + "\n");
  EXPECT_THAT(say("serve", {"--background"}).out, StartsWith("corral serve: already running, pid "));
  EXPECT_EQ(say("shutdown").code, 0);
  EXPECT_TRUE(all_gone());
}

TEST_F(Serve, SaysWhyItDidNotStartInTheBackground) {
  write(path("config.json"), "{");

  const Words said = say("serve", {"--background", "--config", path("config.json")});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("config.json:"));
  EXPECT_THAT(said.err, HasSubstr("daemon.log"));
}

TEST_F(Serve, LeavesWhenNobodyNeedsItIfItWasStartedByAShim) {
  write(path("config.json"), R"({"mcpServers": {}, "corral": {"linger": "100ms"}})");

  Serving serving(serve({"--auto", "--config", path("config.json")}));

  EXPECT_EQ(serving.wait(), 0);
  EXPECT_THAT(errors(), HasSubstr("Shutting down (no session for "));
}

}  // namespace
}  // namespace corral::os_tests
