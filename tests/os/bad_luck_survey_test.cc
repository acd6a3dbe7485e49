// Bad luck for doctor, who and reap: what they need cannot be read, is gone while it is read, is broken, or
// is far too much. Each time: no crash, nobody ended who should not be, and a clear line.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <regex>

#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

namespace json = boost::json;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class BadLuckSurvey : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
  Said run(Launch launch) const {
    launch.stderr_path = path("corral-stderr");
    std::filesystem::remove(launch.stderr_path);
    Session session(launch);
    Said said;
    if (launch.out == Stdio::Pipe) said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("corral-stderr");
    return said;
  }
};

TEST_F(BadLuckSurvey, HidepidIsSaidAndOwnOrphansAreStillFound) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to mount";
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();
  const auto hidden = [](Launch launch) {
    launch.before_exec = [inner = launch.before_exec] {
      const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                           mount("proc", "/proc", "proc", 0, "hidepid=2") == 0;
      if (!mounted) _exit(96);
      inner();
    };
    return launch;
  };

  const Said said = run(hidden(corral_launch({"doctor"})));
  if (said.code == 96) GTEST_SKIP() << "this root may not mount in a namespace of its own";
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("hidepid"));
  EXPECT_THAT(said.out, HasSubstr("2 orphans of files-server"));

  const Said who = run(hidden(corral_launch({"who", word(getpid())})));  // root's, so it is hidden
  EXPECT_EQ(who.code, 125);
  EXPECT_THAT(who.err, HasSubstr("/proc hides it"));

  const Said reap = run(hidden(corral_launch({"reap", "--orphans", "--match", tag(), "--yes"})));
  EXPECT_EQ(reap.code, 0) << reap.out << reap.err;
  EXPECT_THAT(living(dead.servers()), IsEmpty());
}

// A program that its user may run and not read hides its descriptors and environment even from that user.
TEST_F(BadLuckSurvey, AServerWhoseFilesCannotBeReadIsNotAnOrphan) {
  if (!running_as_root()) GTEST_SKIP() << "only root can give another user a program that it may not read";
  ASSERT_EQ(chmod(server().c_str(), 0711), 0);
  Holder dead(client("codex", 2, server_line()), 2);
  ASSERT_TRUE(eventually([&] { return process_by_pid(dead.server())->comm == "adv-server"; }));
  dead.die();

  const json::value said = doctor();
  EXPECT_NE(text_of(entry_of(said, dead.server()), "state"), "orphan");
  EXPECT_EQ(finding(said, "orphan", dead.server()), nullptr);
  EXPECT_EQ(run_corral({"who", word(dead.server())}).code, 0);

  EXPECT_EQ(run_corral({"reap", "--keep", "0", "--match", tag(), "--yes"}).code, 0);
  EXPECT_THAT(living(dead.servers()), SizeIs(2));
}

TEST_F(BadLuckSurvey, ProcessesThatVanishWhileTheyAreReadDoNoHarm) {
  write("storm.sh",
        "i=0\nwhile [ $i -lt 400000 ]; do /bin/true & i=$((i+1)); [ $((i % 20)) -eq 0 ] && wait; done\n");
  Launch launch;
  launch.argv = {"timeout", "50", "sh", path("storm.sh"), tag()};
  Session storm(in_this_world(launch));
  Holder dead(client("codex", 1, server_line()), 1);
  dead.die();

  for (int look = 0; look < 5; ++look) {
    const json::value said = doctor();
    EXPECT_EQ(text_of(entry_of(said, dead.server()), "state"), "orphan");
  }
  EXPECT_TRUE(lives(storm.pid())) << "the storm was over too early to prove anything";
  kill(storm.pid(), SIGTERM);  // timeout passes it on
}

// The sum over reap's lines "N processes ended by SIGNAL".
std::size_t ended_processes(const std::string& said) {
  static const std::regex line(R"(\n  (\d+) process(?:es)? ended by SIG)");
  std::size_t sum = 0;
  for (std::sregex_iterator found(said.begin(), said.end(), line), none; found != none; ++found)
    sum += std::stoul((*found)[1]);
  return sum;
}

TEST_F(BadLuckSurvey, FiveThousandProcessesAreSeenAndEnded) {
  constexpr std::size_t kMany = 5000;
  rlimit processes_allowed{};
  getrlimit(RLIMIT_NPROC, &processes_allowed);
  long available = 0;
  std::ifstream memory("/proc/meminfo");
  for (std::string name, unit; memory >> name >> available && name != "MemAvailable:";)
    std::getline(memory, unit);
  long pid_max = 0;
  std::ifstream("/proc/sys/kernel/pid_max") >> pid_max;
  if (pid_max < 16384 || processes_allowed.rlim_cur < 3 * kMany || available < 4L << 20) {
    GTEST_SKIP() << "this machine has no room for 5,000 processes";
  }
  Holder dead(client("codex", 1, server_line({"--ignore-eof", "--grow=flat:" + std::to_string(kMany)})), 1);
  const auto all_there = [&] {
    std::ifstream list("/proc/" + word(dead.server()) + "/task/" + word(dead.server()) + "/children");
    return std::count(std::istreambuf_iterator<char>(list), {}, ' ') == static_cast<std::ptrdiff_t>(kMany);
  };
  if (!eventually(all_there)) GTEST_SKIP() << "the kernel refused that many processes";
  dead.die();

  const json::value said = doctor();
  EXPECT_EQ(entry_of(said, dead.server()).at("processes").as_array().size(), kMany + 1);
  const Said reap = run_corral({"reap", "--orphans", "--match", tag(), "--yes"});

  EXPECT_EQ(reap.code, 0) << reap.out << reap.err;
  // How many of them a busy machine lets answer SIGTERM within the grace is the machine's affair.
  EXPECT_EQ(ended_processes(reap.out), kMany + 1) << reap.out;
  EXPECT_FALSE(lives(dead.server()));
  EXPECT_TRUE(all_gone());
}

TEST_F(BadLuckSurvey, ConfigurationsThatCannotBeUsedAreNotes) {
  write("home/.claude.json", R"({"mcpServers": {"x": {"command": )");
  write("home/.gemini/settings.json", std::string(64, '['));
  write("home/.qwen/settings.json", R"({"mcpServers": {"deep)"
                                    "\xff\xfe"
                                    R"(": {"command": 5}}})");
  write("home/.cursor/mcp.json", "{}");
  std::filesystem::permissions(path("home/.cursor/mcp.json"), std::filesystem::perms::none);
  std::filesystem::create_directories(path("home/.copilot/mcp-config.json"));  // a directory
  std::filesystem::create_directories(path("home/.config/Claude"));
  ASSERT_EQ(mkfifo(path("home/.config/Claude/claude_desktop_config.json").c_str(), 0666), 0);
  std::filesystem::create_directories(path("home/.gemini/antigravity"));
  std::filesystem::create_symlink("/dev/zero", path("home/.gemini/antigravity/mcp_config.json"));

  const json::value said = doctor();
  std::string notes;
  for (const json::value& note : said.at("configured").at("notes").as_array()) {
    notes +=
        std::string(note.at("file").as_string()) + ": " + std::string(note.at("message").as_string()) + '\n';
  }

  EXPECT_THAT(notes, HasSubstr(".claude.json: "));
  EXPECT_THAT(notes, HasSubstr(".gemini/settings.json: "));
  EXPECT_THAT(notes, HasSubstr(".cursor/mcp.json: "));
  std::string understood;  // also the projects of clients that run elsewhere on this machine are in the list
  for (const json::value& entry : said.at("configured").at("servers").as_array()) {
    if (entry.at("file").as_string().starts_with(home())) understood += entry.at("name").as_string();
  }
  EXPECT_EQ(understood, "files") << notes;  // Codex's is in order
  EXPECT_EQ(run_corral({"doctor"}).code, 0);
}

TEST_F(BadLuckSurvey, AFullOutputIsAnErrorWithAName) {
  Holder dead(client("codex", 1, server_line()), 1);
  dead.die();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"doctor"},
                                                {"doctor", "--json"},
                                                {"who", word(dead.server())},
                                                {"reap", "--match", tag()}}) {
    Launch launch = corral_launch(words);
    launch.out = Stdio::Null;
    launch.before_exec = [inner = launch.before_exec] {
      inner();
      dup2(open("/dev/full", O_WRONLY), 1);
    };

    const Said said = run(launch);

    EXPECT_EQ(said.code, 125) << testing::PrintToString(words);
    EXPECT_THAT(said.err, HasSubstr("cannot write to stdout"));
  }
  EXPECT_TRUE(lives(dead.server()));
}

TEST_F(BadLuckSurvey, WithoutATerminalAndStderrItWorks) {
  Holder dead(client("codex", 1, server_line()), 1);
  dead.die();
  Launch launch = corral_launch({"reap", "--match", tag()});
  launch.stderr_path.clear();
  launch.before_exec = [inner = launch.before_exec] {
    inner();
    setsid();
    close(2);
  };
  Session session(launch);

  EXPECT_THAT(session.output_to_end(), HasSubstr("Ended: nothing (dry run)"));
  EXPECT_EQ(session.wait(), 0);
  EXPECT_TRUE(lives(dead.server()));
}

TEST_F(BadLuckSurvey, OddSurroundingsAreNoReasonToFail) {
  const std::vector<std::vector<std::string>> surroundings = {{"HOME="},
                                                              {"HOME=relative"},
                                                              {"HOME=/no/such/place"},
                                                              {"COLUMNS=1"},
                                                              {"COLUMNS=abc"},
                                                              {"COLUMNS=99999999999999999999"},
                                                              {"LC_ALL=\xff\x1b[2J"},
                                                              {"TERM="},
                                                              {"PATH="}};
  for (const std::vector<std::string>& env : surroundings) {
    const Said said = run_corral({"doctor", "--exit-code"}, env);
    EXPECT_TRUE(said.code == 0 || said.code == 1) << env.front() << said.err;
    EXPECT_EQ(said.err, "") << env.front();
  }
}

/// A container: process 1 is a shell, numbers are small, and nothing of the machine outside is there.
class InAContainer : public BadLuckSurvey {
 protected:
  User user() const override { return User::Root; }
};

TEST_F(InAContainer, OrphansAreFoundAndEnded) {
  if (!running_as_root()) GTEST_SKIP() << "needs root to mount";
  if (const auto reason = why_no_pid_namespace(User::Root)) GTEST_SKIP() << *reason;
  install(programs().leaky_client, "clients/codex");
  const std::string corral = programs().corral;
  const std::string mine = " --match " + tag() + " --yes > ";
  write("inside.sh",
        "mount -t proc proc /proc || exit 96\n"
        "mkfifo input; exec 9<>input\n" +
            path("clients/codex") + " --count=12 -- " + server() + " --tag=" + tag() +
            " --ignore-eof <input 9<&- >started &\n"
            "client=$!\n"
            "until grep -q started started; do sleep 0.05; done\n" +
            corral + " doctor --json > held.json\n" + corral + " reap --pile-ups" + mine +
            "pile-ups\n"
            "kill -9 $client; wait $client\n" +
            corral + " doctor --json > left.json\n" + corral + " reap --orphans" + mine +
            "orphans\n"
            "echo $? > code\n");
  Launch launch;
  launch.argv = {"unshare", "--pid", "--mount", "--fork", "--kill-child", "sh", path("inside.sh")};
  launch.in = launch.out = Stdio::Null;
  Session session(in_this_world(launch));

  ASSERT_TRUE(session.wait());
  ASSERT_EQ(file("home/code"), "0\n") << errors() << file("home/orphans");
  const json::value held = json::parse(file("home/held.json"));
  EXPECT_EQ(held.at("servers").as_array().size(), 12U);
  EXPECT_EQ(held.at("servers").at(0).at("state"), json::value("serving"));
  EXPECT_LT(held.at("processes_seen").to_number<int>(), 25);
  EXPECT_THAT(file("home/pile-ups"), HasSubstr("Ended: 3 servers"));
  const json::value left = json::parse(file("home/left.json"));
  EXPECT_EQ(left.at("servers").as_array().size(), 9U);
  EXPECT_EQ(left.at("servers").at(0).at("cause"), json::value("client-gone"));
  EXPECT_THAT(file("home/orphans"), HasSubstr("Ended: 9 servers"));
  EXPECT_THAT(file("home/orphans"), HasSubstr("Remaining: 0 MCP servers"));
}

}  // namespace
}  // namespace corral::os_tests
