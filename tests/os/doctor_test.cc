// `corral doctor` and `corral who`: whom each server serves, what is wrong with it, and how we know.
#include <gmock/gmock.h>
#include <signal.h>
#include <utime.h>

#include <algorithm>
#include <boost/json.hpp>

#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

namespace json = boost::json;

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Doctor : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
};

TEST_F(Doctor, NamesTheClientThatAServerServes) {
  Holder codex(client("codex", 1, wrapped_line()), 1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));

  const json::value said = doctor();
  const json::object& entry = entry_of(said, codex.server());
  const json::object& who = entry.at("client").as_object();

  EXPECT_EQ(text_of(entry, "state"), "serving");
  EXPECT_EQ(text_of(entry, "certainty"), "confirmed");
  EXPECT_EQ(text_of(entry, "cause"), "null");
  EXPECT_EQ(text_of(entry, "name"), "files-server");
  EXPECT_EQ(text_of(entry, "root"), home());
  EXPECT_EQ(entry.at("processes").as_array().size(), 2U);  // the shell and the server
  EXPECT_GT(entry.at("memory").at("pss_bytes").to_number<std::uint64_t>(), 0U);
  EXPECT_GT(entry.at("memory").at("rss_bytes").to_number<std::uint64_t>(), 0U);
  EXPECT_EQ(text_of(who, "id"), "codex");
  EXPECT_EQ(text_of(who, "name"), "Codex");
  EXPECT_EQ(text_of(who, "pid"), word(codex.pid()));
  EXPECT_EQ(text_of(who, "root"), home());
  EXPECT_THAT(text_of(who, "command"), HasSubstr("clients/codex"));
  EXPECT_THAT(evidence(entry, "configuration"), HasSubstr("'files' in " + home() + "/.codex/config.toml"));
  EXPECT_THAT(evidence(entry, "pipe"), HasSubstr("lead to Codex (pid " + word(codex.pid()) + ")"));
  EXPECT_THAT(evidence(entry, "parent"), HasSubstr("below Codex (pid " + word(codex.pid()) + ")"));
  EXPECT_THAT(evidence(entry, "start-time"), HasSubstr("after Codex"));
  EXPECT_EQ(finding(said, "orphan", codex.server()), nullptr);
}

TEST_F(Doctor, NamesAnOrphanAndTheClientThatIsGone) {
  Holder codex(client("codex", 1, server_line()), 1);
  codex.die();

  const json::value said = doctor();
  const json::object& entry = entry_of(said, codex.server());
  const json::object* found = finding(said, "orphan", codex.server());

  EXPECT_EQ(text_of(entry, "state"), "orphan");
  EXPECT_EQ(text_of(entry, "cause"), "client-gone");
  EXPECT_EQ(text_of(entry.at("client").as_object(), "id"), "codex");
  EXPECT_EQ(text_of(entry.at("client").as_object(), "pid"), "null");
  EXPECT_EQ(entry.at("client").at("alive"), json::value(false));
  EXPECT_THAT(evidence(entry, "pipe"), HasSubstr("nobody has the other end of its stdin and stdout"));
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(text_of(*found, "title"), HasSubstr("of files-server, left by Codex"));
  EXPECT_THAT(text_of(*found, "explanation"),
              HasSubstr("Its client (Codex, by its configuration) is gone: "));
  EXPECT_EQ(text_of(*found, "next"), "corral reap --orphans --client codex");
}

TEST_F(Doctor, KnowsAServerByWhatItsClientPutsIntoTheEnvironment) {
  Launch launch = client("helper", 1, server_line());
  launch.env.push_back("CLAUDE_CODE_ENTRYPOINT=cli");
  Holder claude(launch, 1);
  claude.die();

  const json::object entry = entry_of(doctor(), claude.server());

  EXPECT_EQ(text_of(entry.at("client").as_object(), "id"), "claude-code");
  EXPECT_THAT(evidence(entry, "environment"), HasSubstr("CLAUDE_CODE_ENTRYPOINT"));
}

TEST_F(Doctor, NamesAServerThatALivingClientHasLetGo) {
  Holder codex(client("codex", 1, server_line()), 1);
  codex.let_go();

  const json::value said = doctor();
  const json::object& entry = entry_of(said, codex.server());

  EXPECT_EQ(text_of(entry, "state"), "orphan");
  EXPECT_EQ(text_of(entry, "cause"), "let-go");
  EXPECT_EQ(text_of(entry.at("client").as_object(), "pid"), word(codex.pid()));
  ASSERT_NE(finding(said, "orphan", codex.server()), nullptr);
  EXPECT_THAT(text_of(*finding(said, "orphan", codex.server()), "explanation"),
              HasSubstr("is still running"));
}

TEST_F(Doctor, NamesALauncherThatIsGone) {
  Holder codex(client("codex", 1, wrapped_line()), 1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  const pid_t inner = find_server(tag())->pid;
  ASSERT_TRUE(kill_now(codex.server()));
  ASSERT_TRUE(eventually([&] { return !lives(codex.server()); }));
  codex.let_go();  // a client closes the pipes of a child that is gone

  const json::object entry = entry_of(doctor(), inner);

  EXPECT_EQ(text_of(entry, "state"), "orphan");
  EXPECT_EQ(text_of(entry, "cause"), "launcher-gone");
  EXPECT_EQ(text_of(entry.at("client").as_object(), "pid"), word(codex.pid()));
}

TEST_F(Doctor, TellsWhatCorralKeepsFromWhatItLost) {
  Launch launch = corral_launch({"run", "--"});
  const std::vector<std::string> line = server_line();
  launch.argv.insert(launch.argv.end(), line.begin(), line.end());
  launch.in = Stdio::Pipe;
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  const pid_t pid = find_server(tag())->pid;

  const json::object kept = entry_of(doctor(), pid);
  EXPECT_EQ(text_of(kept, "state"), "kept");
  EXPECT_THAT(evidence(kept, "tag"), HasSubstr("carries corral's mark"));

  const auto keeper = find_keeper(tag(), session.pid());
  ASSERT_TRUE(keeper);
  kill(session.pid(), SIGSTOP);  // so that it cannot sweep before it is killed itself
  kill(keeper->pid, SIGKILL);
  kill(session.pid(), SIGKILL);
  ASSERT_TRUE(session.wait());
  ASSERT_TRUE(eventually([&] { return !lives(keeper->pid); }));  // a kill takes its time on a busy machine
  if (!lives(pid)) GTEST_SKIP() << "nothing was lost: the kernel ended the server with its keeper";

  const json::object lost = entry_of(doctor(), pid);
  EXPECT_EQ(text_of(lost, "state"), "orphan");
  EXPECT_EQ(text_of(lost, "cause"), "corral-killed");
}

TEST_F(Doctor, TellsAServiceFromAnOrphan) {
  Launch launch;
  launch.argv = {"setsid", "--fork"};
  const std::vector<std::string> line = server_line();
  launch.argv.insert(launch.argv.end(), line.begin(), line.end());
  launch.in = launch.out = Stdio::Null;
  Session session(in_this_world(launch));
  ASSERT_EQ(session.wait(), 0);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  const pid_t pid = find_server(tag())->pid;

  const json::value said = doctor();

  EXPECT_EQ(text_of(entry_of(said, pid), "state"), "apart");
  EXPECT_EQ(finding(said, "orphan", pid), nullptr);
}

TEST_F(Doctor, FindsAPileUpBeyondNAndNotAtN) {
  Holder codex(client("codex", 10, server_line()), 10);

  const json::value said = doctor();
  const json::object* found = finding(said, "pile-up", codex.server());

  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->at("servers").as_array().size(), 10U);
  EXPECT_THAT(text_of(*found, "title"),
              HasSubstr("10 copies of files-server held by Codex (pid " + word(codex.pid()) + ")"));
  EXPECT_EQ(text_of(*found, "next"), "corral reap --pile-ups --parent " + word(codex.pid()));
  EXPECT_EQ(said.at("keep"), json::value(9));
  EXPECT_EQ(finding(doctor({"--keep", "10"}), "pile-up", codex.server()), nullptr);
}

TEST_F(Doctor, FindsOneCommandInOneRootForTwoClients) {
  Holder codex(client("codex", 1, server_line()), 1);
  Holder claude(client("claude", 1, server_line()), 1);
  Launch launch = client("claude", 1, server_line());
  launch.before_exec = [inner = launch.before_exec, elsewhere = path("")] {
    inner();
    if (chdir(elsewhere.c_str()) != 0) _exit(97);
  };
  Holder other_root(launch, 1);

  const json::value said = doctor();
  const json::object* found = finding(said, "duplicate", codex.server());

  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found, finding(said, "duplicate", claude.server()));
  EXPECT_EQ(text_of(*found, "next"), "null");  // both are in use
  EXPECT_EQ(finding(said, "duplicate", other_root.server()), nullptr);
}

TEST_F(Doctor, FindsAServerWhoseScriptChanged) {
  const std::string text = "#!/bin/sh\n# " + tag() + "\nwhile read line; do :; done\nsleep 60\n";
  write("servers/script.sh", text);
  const std::string script = path("servers/script.sh");
  configure_codex("sh\"\nargs = [\"" + script + "\"]\n# \"");
  Holder codex(client("codex", 1, {"sh", script}), 1);
  const json::value before = doctor();
  EXPECT_EQ(text_of(entry_of(before, codex.server()), "stale_file"), "null");

  const utimbuf later{time(nullptr) + 60, time(nullptr) + 60};
  ASSERT_EQ(utime(script.c_str(), &later), 0);
  const json::value after = doctor();
  const json::object* found = finding(after, "stale", codex.server());

  EXPECT_EQ(text_of(entry_of(after, codex.server()), "stale_file"), script);
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(text_of(*found, "explanation"), AllOf(HasSubstr(script), HasSubstr("Codex")));
  EXPECT_EQ(text_of(*found, "next"), "corral who " + word(codex.server()));
}

TEST_F(Doctor, FindsAServerWhoseProgramWasReplaced) {
  Holder codex(client("codex", 1, server_line()), 1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  ASSERT_EQ(rename(install(programs().adversary, "servers/new").c_str(), server().c_str()), 0);

  const json::value said = doctor();

  EXPECT_NE(finding(said, "stale", codex.server()), nullptr);
}

TEST_F(Doctor, FindsAnOrphanThatBurnsProcessorTime) {
  const std::string program = path("servers/spin.sh");
  write("servers/spin.sh", "#!/bin/sh\n# " + tag() + "\nulimit -t 40\nread line\n" +
                               "for n in 1 2 3; do (while :; do :; done) & done\nwhile :; do :; done\n");
  configure_codex("sh\"\nargs = [\"" + program + "\"]\n# \"");
  Holder codex(client("codex", 1, {"sh", program}), 1);
  codex.die();

  const pid_t pid = codex.server();
  // Several loops, and more than one look: on a busy machine a single one may get less than half a core.
  EXPECT_TRUE(eventually([&] { return finding(doctor(), "runaway", pid) != nullptr; }));
}

TEST_F(Doctor, ListsClientsAndTheirConfiguredServers) {
  write("home/.claude.json", R"({"mcpServers":{"far":{"type":"http","url":"https://example.org/mcp"}}})");
  Holder codex(client("codex", 2, server_line()), 2);

  const json::value said = doctor();

  const json::array& clients = said.at("clients").as_array();
  const auto running = std::find_if(clients.begin(), clients.end(), [&](const json::value& entry) {
    return entry.at("pid") == json::value(codex.pid());
  });
  ASSERT_NE(running, clients.end());
  EXPECT_EQ(running->at("servers").as_array().size(), 2U);
  std::string names;
  for (const json::value& entry : said.at("configured").at("servers").as_array()) {
    names +=
        std::string(entry.at("client").as_string()) + ":" + std::string(entry.at("name").as_string()) + " ";
  }
  EXPECT_THAT(names, AllOf(HasSubstr("codex:files "), HasSubstr("claude-code:far ")));
  EXPECT_EQ(said.at("schema"), json::value(1));
  EXPECT_TRUE(said.at("containment").at("auto").is_string());
}

TEST_F(Doctor, TellsByItsExitCodeIfAsked) {
  Holder codex(client("codex", 1, server_line()), 1);
  codex.die();

  EXPECT_EQ(run_corral({"doctor", "--exit-code"}).code, 1);
  EXPECT_EQ(run_corral({"doctor"}).code, 0);
}

TEST_F(Doctor, EndsNothing) {
  Holder codex(client("codex", 12, server_line()), 12);
  codex.die();

  EXPECT_EQ(run_corral({"doctor", "-v"}).code, 0);

  EXPECT_EQ(living(codex.servers()).size(), 12U);
}

class Who : public Doctor {};

TEST_F(Who, TellsTheStoryOfAServerAndOfEveryProcessInIt) {
  Holder codex(client("codex", 1, wrapped_line()), 1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  const pid_t inner = find_server(tag())->pid;

  for (const pid_t pid : {codex.server(), inner}) {
    const Said said = run_corral({"who", word(pid)});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, HasSubstr("the MCP server files-server"));
    EXPECT_THAT(said.out, HasSubstr("Codex (pid " + word(codex.pid()) + ")"));
    EXPECT_THAT(said.out, HasSubstr(word(codex.server())));
    EXPECT_THAT(said.out, HasSubstr(word(inner)));
    EXPECT_THAT(said.out, HasSubstr("[configuration]"));

    const Said as_json = run_corral({"who", "--json", word(pid)});
    EXPECT_EQ(as_json.code, 0);
    EXPECT_EQ(json::parse(as_json.out).at("pid"), json::value(codex.server()));
  }
}

TEST_F(Who, NamesTheNextCommandForAnOrphan) {
  Holder codex(client("codex", 1, server_line()), 1);
  codex.die();

  const Said said = run_corral({"who", word(codex.server())});

  EXPECT_THAT(said.out, HasSubstr("corral reap --orphans --client codex"));
  EXPECT_THAT(said.out, HasSubstr("Codex (gone)"));
}

TEST_F(Who, KnowsAClientWithItsServers) {
  Holder codex(client("codex", 2, server_line()), 2);

  const Said said = run_corral({"who", word(codex.pid())});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("Codex"));
  EXPECT_THAT(said.out, HasSubstr("2 MCP servers"));
  EXPECT_THAT(said.out, HasSubstr(word(codex.server())));
}

TEST_F(Who, SaysOfAStrangerWhoStartedIt) {
  Holder helper(client("helper", 1, {"sleep", "60"}), 1);

  const Said said = run_corral({"who", word(helper.server())});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("not a known MCP server"));
  EXPECT_THAT(said.out, HasSubstr("below   " + word(helper.pid()) + " helper"));
  EXPECT_THAT(said.out, HasSubstr("a pipe, whose other end is held by " + word(helper.pid()) + " helper"));
  EXPECT_EQ(run_corral({"who", "--json", word(helper.server())}).code, 125);
}

TEST_F(Who, SaysThatThereIsNoSuchProcess) {
  Holder helper(client("helper", 1, {"true"}), 1);
  ASSERT_TRUE(eventually([&] { return is_gone(helper.server()); }));

  const Said said = run_corral({"who", word(helper.server())});

  EXPECT_EQ(said.code, 125);
  EXPECT_THAT(said.err, HasSubstr("there is no visible process " + word(helper.server())));
}

TEST_F(Who, RefusesAnythingButOneProcessId) {
  const std::vector<std::vector<std::string>> lines = {
      {"who"}, {"who", "node"}, {"who", "0"}, {"who", "99999999999"}, {"who", "1", "2"}, {"who", "--", "-1"}};
  for (const std::vector<std::string>& line : lines) {
    const Said said = run_corral(line);
    EXPECT_EQ(said.code, 125) << testing::PrintToString(line);
    EXPECT_THAT(said.err, Not(IsEmpty()));
    EXPECT_THAT(said.out, IsEmpty());
  }
}

}  // namespace
}  // namespace corral::os_tests
