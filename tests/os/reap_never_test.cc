// What `corral reap` must never touch, whatever it is asked: each case is something that a script with a
// regular expression and a parent pid of 1 would have killed.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <functional>

#include "support/eventually.h"
#include "support/survey_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ReapNever : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
  Said reap(std::vector<std::string> words = {}) const {
    words.insert(words.begin(), "reap");
    words.insert(words.end(), {"--match", tag(), "--yes"});
    return run_corral(words);
  }
  std::vector<pid_t> find_all_servers() const {
    std::vector<pid_t> servers;
    for (const Process& process : processes()) {
      if (process.comm == "adv-server" && process.state != 'Z') servers.push_back(process.pid);
    }
    return servers;
  }
};

class ReapAsRootNever : public ReapNever {
 protected:
  User user() const override { return User::Root; }
};

TEST_F(ReapAsRootNever, TouchesWhatBelongsToAnotherUserAndSaysSo) {
  if (!running_as_root()) GTEST_SKIP() << "only root can start a process of another user";
  Launch launch = client("codex", 1, server_line());
  launch.uid = uid_of(User::Ordinary);
  Holder other(launch, 1);
  other.die();

  const Said said = reap();

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("belongs to another user (uid " + std::to_string(*launch.uid) + ")"));
  EXPECT_THAT(said.out, HasSubstr("Ended: 0 servers"));
  EXPECT_TRUE(lives(other.server()));
}

// A program called codex in a directory with a configuration: anybody can make that.
TEST_F(ReapAsRootNever, TouchesWhatOnlyAnotherUsersConfigurationNames) {
  if (!running_as_root()) GTEST_SKIP() << "only root can start a process of another user";
  const std::string program = install(programs().adversary, "sbin/important");
  Holder dead(client("helper", 1, {program, "--tag=" + tag(), "--life=60", "--ignore-eof"}), 1);
  dead.die();
  write("trap/.codex/config.toml", "[mcp_servers.trap]\ncommand = \"" + program + "\"\n");
  Launch launch = client("codex", 1, {"sleep", "60"});
  launch.uid = uid_of(User::Ordinary);
  launch.before_exec = [inner = launch.before_exec, trap = path("trap")] {
    inner();
    if (chdir(trap.c_str()) != 0) _exit(97);
  };
  Holder other(launch, 1);

  const Said said = reap();

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("Ended: 0 servers"));
  EXPECT_TRUE(lives(dead.server()));
  EXPECT_FALSE(has_entry(doctor(), dead.server()));
}

TEST_F(ReapNever, TouchesWhatBelongsToRoot) {
  if (!running_as_root()) GTEST_SKIP() << "only root can start a process of another user";
  Launch launch = client("codex", 1, server_line());
  launch.uid.reset();
  Holder other(launch, 1);
  other.die();

  const Said said = reap();

  EXPECT_EQ(said.code, 0);
  EXPECT_TRUE(lives(other.server()));
}

// The kernel lets only a parent or a process with rights trace another: the tracer is the test itself.
TEST_F(ReapNever, TouchesWhatADebuggerHolds) {
  Holder dead(client("codex", 2, server_line()), 2);
  dead.die();
  if (ptrace(PTRACE_SEIZE, dead.server(), nullptr, nullptr) != 0) {
    GTEST_SKIP() << "this kernel does not let us trace a process that is not our child";
  }

  const Said said = reap();
  const bool traced_lives = lives(dead.server());
  ptrace(PTRACE_INTERRUPT, dead.server(), nullptr, nullptr);
  waitpid(dead.server(), nullptr, __WALL);
  ptrace(PTRACE_DETACH, dead.server(), nullptr, nullptr);

  EXPECT_TRUE(traced_lives);
  EXPECT_FALSE(lives(dead.servers()[1]));
  EXPECT_THAT(said.out, HasSubstr("is being debugged: detach the debugger first"));
  EXPECT_EQ(said.code, 0);
}

TEST_F(ReapNever, TouchesTheTreeOfADebuggersTarget) {
  Holder dead(client("codex", 1, wrapped_line()), 1);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  const pid_t inner = find_server(tag())->pid;
  dead.die();
  if (ptrace(PTRACE_SEIZE, inner, nullptr, nullptr) != 0) GTEST_SKIP() << "this kernel does not let us trace";

  const Said said = reap();
  const bool both_live = lives(inner) && lives(dead.server());
  ptrace(PTRACE_INTERRUPT, inner, nullptr, nullptr);
  waitpid(inner, nullptr, __WALL);
  ptrace(PTRACE_DETACH, inner, nullptr, nullptr);

  EXPECT_TRUE(both_live) << said.out;
}

/// A server that runs a command: `corral reap` from inside it, as an agent's tool may do.
TEST_F(ReapNever, TouchesItsOwnAncestors) {
  // A shell of its own: some shells do redirections in themselves, and the server's stdout would be a file
  // then.
  const std::string command = "sh -c '" + programs().corral + " reap --match " + tag() + " --yes > " +
                              path("inner-output") + " 2>&1; echo $? > " + path("inner-code") + "'";
  const std::string script = "read nothing; " + command + "; sleep 60";  // after its client is gone
  write("servers/inside.sh", "#!/bin/sh\n# " + tag() + "\n" + script + "\n");
  const std::string program = path("servers/inside.sh");
  ASSERT_EQ(system(("chmod 755 " + program).c_str()), 0);
  write("home/.codex/config.toml",
        "[mcp_servers.inside]\ncommand = \"" + program + "\"\nargs = [\"" + tag() + "\"]\n");
  Holder dead(client("codex", 1, {program, tag()}), 1);

  dead.die();

  ASSERT_TRUE(eventually([&] { return !file("inner-code").empty(); }));
  EXPECT_EQ(file("inner-code"), "0\n") << file("inner-output");
  EXPECT_TRUE(lives(dead.server()));
  EXPECT_THAT(file("inner-output"), HasSubstr("this command runs inside it"));
}

TEST_F(ReapNever, TouchesServersBelowALivingCorral) {
  Launch launch = corral_launch({"run", "--"});
  const std::vector<std::string> line = server_line({});
  launch.argv.insert(launch.argv.end(), line.begin(), line.end());
  launch.in = Stdio::Pipe;
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();

  const Said said = reap({"--keep", "0"});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("below a running corral, which ends them with their session"));
  EXPECT_EQ(session.ask("echo", "still here"), "still here");
}

// Clients often start servers through a shell, and what they call the server is then that shell.
TEST_F(ReapNever, TouchesALivingCorralBehindAWrapper) {
  const std::string line = programs().corral + " run -- " + server() + " --tag=" + tag();
  Holder holder(client("codex", 3, {"sh", "-c", line}), 3);
  Holder timed(client("codex", 1, {"timeout", "50", "sh", "-c", line + "; :"}), 1);
  const auto all_run = [&] { return find_all_servers().size() == 4; };
  ASSERT_TRUE(eventually(all_run));

  const Said said = reap({"--keep", "0"});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("Ended: 0 servers"));
  EXPECT_THAT(said.out, HasSubstr("below a running corral"));
  EXPECT_EQ(find_all_servers().size(), 4U);
  const boost::json::value known = doctor();
  for (const pid_t pid : find_all_servers()) EXPECT_EQ(text_of(entry_of(known, pid), "state"), "kept");
}

TEST_F(ReapNever, TouchesWhatOnlyHasAName) {
  const std::string program = install(programs().adversary, "somewhere/mcp-server-unheard-of");
  Holder dead(client("helper", 1, {program, "--tag=" + tag(), "--life=60", "--ignore-eof"}), 1);
  dead.die();

  const Said said = reap();

  EXPECT_EQ(said.code, 0);
  EXPECT_TRUE(lives(dead.server()));
  EXPECT_THAT(said.out, HasSubstr("only look like MCP servers (--possible includes them)"));
  EXPECT_THAT(said.out, HasSubstr("Ended: 0 servers"));

  EXPECT_EQ(reap({"--possible"}).code, 0);
  EXPECT_FALSE(lives(dead.server()));  // only if somebody asks for it
}

/// Its parent is gone and it belongs to process 1, as an orphan's does, but somebody can still speak to it.
TEST_F(ReapNever, TouchesAServerWhosePipesAreHeldAlthoughItsParentIsGone) {
  Launch launch;
  launch.argv = {"sh", "-c", "\"$@\" <&3 >&4 3<&- 4>&- &", "sh"};
  const std::vector<std::string> line = server_line();
  launch.argv.insert(launch.argv.end(), line.begin(), line.end());
  launch.before_exec = [] {  // a shell gives its background jobs an empty stdin: keep the pipe aside
    dup2(0, 3);
    dup2(1, 4);
  };
  launch = in_this_world(launch);
  Session session(launch);
  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  ASSERT_EQ(session.wait(), 0);  // the shell; the server is now an orphan in the eyes of `ps`
  const auto orphan = find_server(tag());
  ASSERT_TRUE(orphan);
  ASSERT_NE(orphan->parent, session.pid());

  const Said said = reap({"--keep", "5"});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("Ended: 0 servers"));
  EXPECT_EQ(session.ask("echo", "still here"), "still here");
}

TEST_F(ReapNever, TouchesAServiceOfItsOwn) {
  Launch launch;
  launch.argv = {"setsid", "--fork"};
  const std::vector<std::string> line = server_line();
  launch.argv.insert(launch.argv.end(), line.begin(), line.end());
  launch.in = launch.out = Stdio::Null;
  Session session(in_this_world(launch));
  ASSERT_EQ(session.wait(), 0);
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); }));
  const pid_t service = find_server(tag())->pid;

  const Said said = reap({"--keep", "0"});

  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("independent: no client holds their pipes"));
  EXPECT_TRUE(lives(service));
}

TEST_F(ReapNever, TouchesTheClient) {
  Holder holder(client("codex", 3, server_line()), 3);

  EXPECT_EQ(reap({"--keep", "0"}).code, 0);

  EXPECT_THAT(living(holder.servers()), IsEmpty());
  EXPECT_TRUE(lives(holder.pid()));
}

// No idle instance is to stay in the daemon. That does not make a pile-up of the only server of a client.
TEST_F(ReapNever, TouchesTheOnlyServerOfAClientUnlessKeepZeroIsTyped) {
  Holder holder(client("codex", 1, server_line()), 1);
  const std::vector<std::string> line = {"reap", "--match", tag(), "--yes"};

  EXPECT_EQ(run_corral(line, {"MAX_KEEP_PROCESSES=0"}).code, 0);
  EXPECT_TRUE(lives(holder.server()));
  write("home/.config/corral/config.json", R"({"mcpServers": {}, "corral": {"keep": 0}})");
  EXPECT_EQ(run_corral(line).code, 0);
  EXPECT_TRUE(lives(holder.server()));
  EXPECT_EQ(finding(doctor(), "pile-up", holder.server()), nullptr);

  EXPECT_EQ(reap({"--keep", "0"}).code, 0);
  EXPECT_FALSE(lives(holder.server()));
}

TEST_F(ReapNever, TouchesAServerThatAnUnknownProgramHolds) {
  Holder holder(client("helper", 3, server_line()), 3);  // the configuration names the server, not its holder

  EXPECT_EQ(reap({"--orphans"}).code, 0);

  EXPECT_THAT(living(holder.servers()), SizeIs(3));
}

TEST_F(ReapNever, TouchesAServerThatAPersonRunsInATerminal) {
  const Terminal terminal;
  Launch launch;
  launch.argv = server_line();
  launch.in = launch.out = Stdio::Terminal;
  launch.terminal = &terminal;
  Session session(in_this_world(launch));
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); })) << errors();

  EXPECT_EQ(reap({"--keep", "0"}).code, 0);

  EXPECT_TRUE(lives(session.pid()));
  end_tagged(tag());
}

}  // namespace
}  // namespace corral::os_tests
