// `corral watch`: the rules of doctor and reap, again and again.
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <sstream>

#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

namespace json = boost::json;

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class WatchTest : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
  /// Its output goes to a file, so that it can be looked at while it runs.
  Launch watch(std::vector<std::string> words) const {
    words.insert(words.begin(), "watch");
    Launch launch = corral_launch(words);
    launch.out = Stdio::Null;
    launch.before_exec = [inner = launch.before_exec, file = path("watch-output")] {
      inner();
      if (freopen(file.c_str(), "w", stdout) == nullptr) _exit(97);
    };
    return launch;
  }
  std::vector<std::string> lines_with(const std::string& part) const {
    std::istringstream text(file("watch-output"));
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);) {
      if (line.find(part) != std::string::npos) found.push_back(line);
    }
    return found;
  }
};

TEST_F(WatchTest, KeepsAClientThatLeaksOneTreePerSecondAtN) {
  constexpr std::size_t kKeep = 3;
  constexpr std::size_t kLeaks = 20;
  // What starts between two looks and while the others end; on a busy machine a look may come late. Without
  // the watch there would be all of them.
  constexpr std::size_t kSlack = 9;
  Session session(
      watch({"--foreign", "end", "--interval", "1s", "--keep", std::to_string(kKeep), "--match", tag()}));
  Launch leaking = client("codex", kLeaks, wrapped_line());
  leaking.argv.insert(leaking.argv.begin() + 1, "--interval=1000");
  Session codex(leaking);

  std::vector<pid_t> started;
  std::size_t most = 0;
  while (started.size() < kLeaks) {
    const auto pid = codex.notice("server");  // one per second: this is the clock of the test
    ASSERT_TRUE(pid);
    started.push_back(*pid);
    most = std::max(most, living(started).size());
  }

  EXPECT_LE(most, kKeep + kSlack);
  EXPECT_TRUE(eventually([&] { return living(started).size() == kKeep; }));
  EXPECT_THAT(living(started), ElementsAreArray(std::vector<pid_t>(started.end() - kKeep, started.end())));
  EXPECT_TRUE(lives(codex.pid()));
  // Those that were started go first, and what they wrap a moment later.
  EXPECT_TRUE(eventually([&] {
    const auto left = processes();
    return std::count_if(left.begin(), left.end(), [](const Process& process) {
             return process.comm == "adv-server" && process.state != 'Z';
           }) == static_cast<std::ptrdiff_t>(kKeep);
  }));
  kill(session.pid(), SIGTERM);
  EXPECT_EQ(session.wait(), 0);
  EXPECT_THAT(lines_with(" ended: files-server"), SizeIs(kLeaks - kKeep));
}

TEST_F(WatchTest, ReportsEachFindingOnceAndEndsNothing) {
  // A name of its own: what other tests leave is reported, too.
  const std::string program = install(programs().adversary, "servers/" + tag());
  const std::vector<std::string> line = {program, "--tag=" + tag(), "--life=60", "--ignore-eof"};
  configure_codex(program);
  Holder dead(client("codex", 2, line), 2);
  dead.die();
  Session session(watch({"--interval", "100ms"}));
  ASSERT_TRUE(eventually([&] { return !lines_with("orphans of " + tag()).empty(); })) << errors();
  Holder later(client("claude", 10, line), 10);  // enough looks to repeat itself, if it did
  ASSERT_TRUE(eventually([&] { return !lines_with("pile-up: 10 copies of " + tag()).empty(); }))
      << file("watch-output");

  kill(session.pid(), SIGTERM);

  EXPECT_EQ(session.wait(), 0);
  EXPECT_THAT(lines_with("orphans of " + tag()), SizeIs(1)) << file("watch-output");
  EXPECT_THAT(lines_with("orphans of " + tag()).front(),
              HasSubstr("; next: corral reap --orphans --client codex"));
  EXPECT_THAT(living(dead.servers()), SizeIs(2));
  EXPECT_THAT(living(later.servers()), SizeIs(10));
}

TEST_F(WatchTest, SpeaksJsonLineByLine) {
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();
  Session session(watch({"--json", "--foreign", "end", "--match", tag(), "--interval", "100ms"}));
  ASSERT_TRUE(eventually([&] { return living(dead.servers()).empty(); }));
  ASSERT_TRUE(eventually([&] { return lines_with("\"event\":\"ended\"").size() == 2; }))
      << file("watch-output");

  kill(session.pid(), SIGINT);

  EXPECT_EQ(session.wait(), 0);
  std::istringstream lines(file("watch-output"));
  for (std::string line; std::getline(lines, line);) {
    const json::value said = json::parse(line);  // throws if it is none
    const std::string event(said.at("event").as_string());
    EXPECT_THAT(std::string(said.at("time").as_string()), testing::MatchesRegex("....-..-..T..:..:..Z"));
    if (event == "ended") {
      EXPECT_EQ(said.at("end").at("gone"), json::value(true));
      EXPECT_EQ(said.at("end").at("processes").at(0).at("outcome"), json::value("ended"));
    } else {
      EXPECT_EQ(event, "finding");
      EXPECT_TRUE(said.at("finding").at("servers").is_array());
    }
  }
}

// One that is about to leave by itself may do so.
TEST_F(WatchTest, EndsAnOrphanOnlyWhenItSeesItAgain) {
  Holder dead(client("codex", 1, server_line()), 1);
  dead.die();
  Session session(watch({"--foreign", "end", "--match", tag(), "--interval", "1h"}));
  ASSERT_TRUE(eventually([&] { return !lines_with("orphan of files-server").empty(); }))
      << file("watch-output");

  kill(session.pid(), SIGTERM);

  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(lives(dead.server()));
}

TEST_F(WatchTest, EndsWhenNobodyReadsIt) {
  Holder dead(client("codex", 1, server_line()), 1);
  dead.die();
  Launch launch = corral_launch({"watch", "--interval", "100ms"});
  Session session(launch);
  session.close_stdout();

  EXPECT_EQ(session.wait(), 125);
  EXPECT_THAT(errors(), HasSubstr("cannot write to stdout"));
}

TEST_F(WatchTest, RefusesWhatItCannotDo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{"watch", "--interval", "1ms"}, "between 100ms and 24h"},
      {{"watch", "--interval", "48h"}, "24h"},
      {{"watch", "--foreign", "kill"}, "invalid value 'kill': use report or end"},
      {{"watch", "now"}, "now"}};
  for (const auto& [line, part] : lines) {
    const Said said = run_corral(line);
    EXPECT_EQ(said.code, 125) << part;
    EXPECT_THAT(said.err, HasSubstr(part));
  }
  const Said bad = run_corral({"watch"}, {"MAX_KEEP_PROCESSES=x"});
  EXPECT_EQ(bad.code, 125);
  EXPECT_THAT(bad.err, HasSubstr("MAX_KEEP_PROCESSES is 'x'"));
}

}  // namespace
}  // namespace corral::os_tests
