// `corral reap`: what has leaked is ended, and the newest stay. Every command here names the tag of its test,
// so that nothing else on this machine can be chosen.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<pid_t> newest(const std::vector<pid_t>& pids, std::size_t count) {
  return {pids.end() - static_cast<std::ptrdiff_t>(count), pids.end()};
}

class ThreeHundred : public SurveyTest, public testing::WithParamInterface<User> {
 protected:
  void SetUp() override {
    if (GetParam() == User::Root && !running_as_root()) GTEST_SKIP() << "needs root";
    SurveyTest::SetUp();
    configure_codex(server());
  }
  User user() const override { return GetParam(); }

  /// The same command for somebody else, held by nobody; nothing if we cannot become another user.
  std::optional<Holder> of_another_user() const {
    if (!running_as_root()) return std::nullopt;
    Launch launch = client("helper", 1, server_line());
    launch.uid = user() == User::Root ? uid_of(User::Ordinary) : std::nullopt;
    return std::optional<Holder>(std::in_place, launch, 1);
  }
};

INSTANTIATE_TEST_SUITE_P(As, ThreeHundred, testing::Values(User::Root, User::Ordinary),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST_P(ThreeHundred, LeakedTreesComeDownToTheNineNewestByTwoCommands) {
  constexpr std::size_t kEach = 150;
  // In order of importance to be wrong about: a script of that name elsewhere, somebody else's, a stranger.
  Launch elsewhere = client("helper", 1,
                            {install(programs().adversary, "elsewhere/files-server"), "--tag=" + tag(),
                             "--life=60", "--ignore-eof"});
  Holder same_name(elsewhere, 1);
  same_name.die();
  auto another = of_another_user();
  if (another) another->die();
  Holder stranger(client("helper", 1, {"sleep", "60"}), 1);

  Holder dead(client("codex", kEach, wrapped_line("--ignore-eof --ignore-term")), kEach);
  dead.die();
  Holder alive(client("codex", kEach, wrapped_line()), kEach);

  const Said orphans = run_corral({"reap", "--orphans", "--match", tag(), "--yes", "--term-grace", "500ms"});
  EXPECT_EQ(orphans.code, 0) << orphans.out << orphans.err;
  EXPECT_THAT(orphans.out, HasSubstr("\nEnded: 150 servers\n"));
  EXPECT_THAT(orphans.out, HasSubstr("150 processes ended by SIGKILL"));  // those that ignore SIGTERM
  EXPECT_THAT(orphans.out, HasSubstr("150 processes ended by SIGTERM"));  // their shells
  EXPECT_THAT(living(dead.servers()), IsEmpty());
  EXPECT_THAT(living(alive.servers()), SizeIs(kEach));

  const Said pile_ups = run_corral({"reap", "--pile-ups", "--match", tag(), "--yes"});
  EXPECT_EQ(pile_ups.code, 0) << pile_ups.out << pile_ups.err;
  EXPECT_THAT(pile_ups.out, HasSubstr("\nEnded: 141 servers\n"));
  EXPECT_TRUE(eventually([&] { return living(alive.servers()).size() <= 9; }));
  EXPECT_THAT(living(alive.servers()), ElementsAreArray(newest(alive.servers(), 9)));

  const auto left = processes();
  const auto servers = std::count_if(left.begin(), left.end(), [](const Process& process) {
    return process.comm == "adv-server" && process.state != 'Z';
  });
  EXPECT_EQ(servers, 9 + 1 + (another ? 1 : 0)) << testing::PrintToString(left);
  EXPECT_TRUE(lives(alive.pid()));
  EXPECT_TRUE(lives(stranger.pid()));
  EXPECT_TRUE(lives(stranger.server()));
  EXPECT_TRUE(lives(same_name.server()));
  if (!another) GTEST_SKIP() << "all but one was proved: only root can start a process of another user";
  EXPECT_TRUE(lives(another->server()));
}

class Reap : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
  /// Without --yes there would be nothing to see; with the tag it hits nothing but our own.
  Said reap(std::vector<std::string> words, const std::vector<std::string>& env = {}) const {
    words.insert(words.begin(), "reap");
    words.insert(words.end(), {"--match", tag(), "--yes"});
    return run_corral(words, env);
  }
};

TEST_F(Reap, WithoutATerminalIsADryRun) {
  Holder holder(client("codex", 12, server_line()), 12);
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();

  const Said said = run_corral({"reap"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Ended: nothing (dry run)"));
  EXPECT_THAT(said.out, HasSubstr("2 orphans of files-server, left by Codex"));
  EXPECT_THAT(said.out, HasSubstr("3 copies of files-server beyond the newest 9, held by Codex (pid " +
                                  word(holder.pid()) + ")"));
  EXPECT_THAT(living(holder.servers()), SizeIs(12));
  EXPECT_THAT(living(dead.servers()), SizeIs(2));
}

TEST_F(Reap, DryRunWinsOverYes) {
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();

  const Said said = reap({"--orphans", "--dry-run"});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("Ended: nothing (dry run)"));
  EXPECT_THAT(living(dead.servers()), SizeIs(2));
}

TEST_F(Reap, RefusesYesWithoutAChoice) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"reap", "--yes", "--dry-run"}, {"reap", "-y", "--possible", "--dry-run"}}) {
    const Said said = run_corral(words);

    EXPECT_EQ(said.code, 125);
    EXPECT_THAT(said.err, HasSubstr("--yes requires a selection"));
    EXPECT_THAT(said.err, HasSubstr("--orphans"));
    EXPECT_THAT(said.out, IsEmpty());
  }
}

TEST_F(Reap, ByMatchEndsBothKinds) {
  Holder holder(client("codex", 11, server_line()), 11);
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();

  const Said said = reap({});

  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(living(dead.servers()), IsEmpty());
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 9)));
}

TEST_F(Reap, ByMatchTakesNobodyElse) {
  TagGuard other;
  Holder dead(client("codex", 2, server_line()), 2);
  Launch launch = client("codex", 1, {server(), "--tag=" + other.tag(), "--ignore-eof"});
  Holder without(launch, 1);
  dead.die();
  without.die();

  EXPECT_EQ(reap({"--orphans"}).code, 0);

  EXPECT_THAT(living(dead.servers()), IsEmpty());
  EXPECT_TRUE(lives(without.server()));
  end_tagged(other.tag());
}

TEST_F(Reap, ByClientTakesOnlyThatOnes) {
  write("home/.claude.json", R"({"mcpServers":{"notes":{"command":")" +
                                 install(programs().adversary, "servers/notes-server") + R"("}}})");
  Holder codex(client("codex", 2, server_line()), 2);
  Holder claude(
      client("claude", 2, {path("servers/notes-server"), "--tag=" + tag(), "--life=60", "--ignore-eof"}), 2);
  codex.die();
  claude.die();

  EXPECT_EQ(reap({"--client", "no-such-client"}).code, 0);
  EXPECT_THAT(living(claude.servers()), SizeIs(2));
  EXPECT_EQ(reap({"--client", "Claude Code"}).code, 0);  // by name
  EXPECT_THAT(living(claude.servers()), IsEmpty());
  EXPECT_THAT(living(codex.servers()), SizeIs(2));
  EXPECT_EQ(reap({"--client", "codex"}).code, 0);  // by id
  EXPECT_THAT(living(codex.servers()), IsEmpty());
}

TEST_F(Reap, ByAgeSparesTheYounger) {
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();

  EXPECT_EQ(reap({"--older-than", "10m"}).code, 0);
  EXPECT_THAT(living(dead.servers()), SizeIs(2));
  ASSERT_TRUE(eventually([&] {  // at some time they are older than a second
    EXPECT_EQ(reap({"--older-than", "1s"}).code, 0);
    return living(dead.servers()).empty();
  }));
}

TEST_F(Reap, ByParentTakesOnlyThatClientsPileUp) {
  Holder one(client("codex", 5, server_line()), 5);
  Holder two(client("codex", 5, server_line()), 5);

  const Said said = reap({"--parent", word(one.pid()), "--keep", "2"});

  EXPECT_EQ(said.code, 0) << said.out << said.err;
  EXPECT_THAT(living(one.servers()), ElementsAreArray(newest(one.servers(), 2)));
  EXPECT_THAT(living(two.servers()), SizeIs(5));
}

TEST_F(Reap, OfOrphansLeavesPileUpsAndTheOtherWayRound) {
  Holder holder(client("codex", 4, server_line()), 4);
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();

  EXPECT_EQ(reap({"--pile-ups", "--keep", "1"}).code, 0);
  EXPECT_THAT(living(dead.servers()), SizeIs(2));
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 1)));
  EXPECT_EQ(reap({"--orphans", "--keep", "0"}).code, 0);
  EXPECT_THAT(living(dead.servers()), IsEmpty());
  EXPECT_THAT(living(holder.servers()), SizeIs(1));
}

TEST_F(Reap, TakesNFromTheEnvironmentUnlessItIsSaid) {
  Holder holder(client("codex", 6, server_line()), 6);

  EXPECT_EQ(reap({"--pile-ups"}, {"MAX_KEEP_PROCESSES=4"}).code, 0);
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 4)));
  EXPECT_EQ(reap({"--pile-ups", "--keep", "3"}, {"MAX_KEEP_PROCESSES=1"}).code, 0);
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 3)));
}

TEST_F(Reap, NamesAValueOfNThatIsNone) {
  for (const std::string bad : {"many", "-1", "9x", "99999999999999999999999", "3.5", " 3"}) {
    const Said said = reap({"--pile-ups"}, {"MAX_KEEP_PROCESSES=" + bad});

    EXPECT_EQ(said.code, 125) << bad;
    EXPECT_THAT(said.err, HasSubstr("MAX_KEEP_PROCESSES is '" + bad + "'"));
    EXPECT_THAT(said.out, IsEmpty());
  }
}

TEST_F(Reap, NamesOtherValuesThatAreNone) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> lines = {
      {{"reap", "--keep", "x"}, "invalid number of copies 'x'"},
      {{"reap", "--parent", "0"}, "invalid pid '0'"},
      {{"reap", "--parent", "-5"}, "invalid pid"},
      {{"reap", "--older-than", "soon"}, "soon"},
      {{"reap", "4711"}, "4711"},
      {{"reap", "--no-such-option"}, "--no-such-option"}};
  for (const auto& [line, part] : lines) {
    const Said said = run_corral(line);

    EXPECT_EQ(said.code, 125) << part;
    EXPECT_THAT(said.err, HasSubstr(part));
  }
}

TEST_F(Reap, EndsWhatTheServersStarted) {
  Holder dead(client("codex", 2, server_line({"--ignore-eof", "--grow=tree:6", "--grow=groups:2"})), 2);
  ASSERT_TRUE(eventually([&] { return processes().size() >= 2 + 2 * 8; }));
  dead.die();

  const Said said = reap({"--orphans"});

  EXPECT_EQ(said.code, 0) << said.out;
  EXPECT_THAT(living(dead.servers()), IsEmpty());
  EXPECT_THAT(said.out, HasSubstr("Ended: 2 servers"));
}

TEST_F(Reap, EndsAServerThatIsStopped) {
  Holder dead(client("codex", 1, server_line()), 1);
  dead.die();
  ASSERT_EQ(kill(dead.server(), SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return process_by_pid(dead.server())->state == 'T'; }));

  const Said said = reap({"--orphans"});

  EXPECT_EQ(said.code, 0) << said.out;
  EXPECT_FALSE(lives(dead.server()));
  EXPECT_THAT(said.out, HasSubstr("ended by SIGTERM"));
}

TEST_F(Reap, EndsWhatItsClientHasLetGo) {
  Holder holder(client("codex", 3, server_line()), 3);
  holder.let_go();

  EXPECT_EQ(reap({"--orphans"}).code, 0);

  EXPECT_THAT(living(holder.servers()), IsEmpty());
  EXPECT_TRUE(lives(holder.pid()));
}

}  // namespace
}  // namespace corral::os_tests
