// `corral run --cleanup`: before a server starts, the oldest copies of it are ended, no matter what started
// them, so that N are left with the new one.
#include <gmock/gmock.h>

#include <algorithm>

#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Cleanup : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());  // what nothing shows to be a server is not a copy of one
  }
  Launch run_line(const std::vector<std::string>& options, const std::vector<std::string>& command,
                  const std::vector<std::string>& env = {}) const {
    std::vector<std::string> words = {"run"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    Launch launch = corral_launch(words, env);
    launch.in = Stdio::Pipe;
    return launch;
  }
  std::size_t servers_alive() const {
    const auto all = processes();
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Process& process) {
      return process.comm == "adv-server" && process.state != 'Z';
    }));
  }
  static std::vector<pid_t> newest(const std::vector<pid_t>& pids, std::size_t count) {
    return {pids.end() - static_cast<std::ptrdiff_t>(count), pids.end()};
  }
};

TEST_F(Cleanup, LeavesTheNineNewestWithTheNewOneAmongThem) {
  Holder holder(client("helper", 12, server_line()), 12);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 12; }));

  Session session(run_line({"--cleanup"}, server_line({})));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 8)));
  EXPECT_EQ(servers_alive(), 9U);
  EXPECT_THAT(errors(), HasSubstr("found 12 copies of this server, ended the oldest 4"));
  EXPECT_THAT(errors(), testing::Not(HasSubstr("cleanup: process "))) << "of those that went nothing is said";
}

TEST_F(Cleanup, TakesNFromTheEnvironment) {
  Holder holder(client("helper", 12, server_line()), 12);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 12; }));

  Session session(run_line({"--cleanup"}, server_line({}), {"MAX_KEEP_PROCESSES=2"}));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 1)));
  EXPECT_EQ(servers_alive(), 2U);
}

TEST_F(Cleanup, TakesNFromItsOptionFirst) {
  Holder holder(client("helper", 6, wrapped_line()), 6);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 6; }));

  Session session(run_line({"--cleanup", "--keep", "4"}, server_line({}), {"MAX_KEEP_PROCESSES=1"}));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 3)));  // the shells
  EXPECT_EQ(servers_alive(), 4U);
}

TEST_F(Cleanup, RefusesAValueOfNThatIsNone) {
  Session session(run_line({"--cleanup"}, server_line({}), {"MAX_KEEP_PROCESSES=many"}));

  EXPECT_EQ(session.wait(), 125);
  EXPECT_THAT(errors(), HasSubstr("MAX_KEEP_PROCESSES is 'many'"));
}

TEST_F(Cleanup, EndsNothingUnlessItIsAskedTo) {
  Holder holder(client("helper", 12, server_line()), 12);

  Session session(run_line({}, server_line({}), {"MAX_KEEP_PROCESSES=2"}));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), SizeIs(12));
}

TEST_F(Cleanup, LeavesAScriptOfTheSameNameElsewhere) {
  const std::string text = "#!/bin/sh\n# " + tag() + "\nwhile read line; do :; done\nsleep 60\n";
  write("one/server.sh", text);
  write("two/server.sh", text);
  std::string configured;
  for (const char* name : {"one", "two"}) {
    configured += std::string("[mcp_servers.") + name + "]\ncommand = \"sh\"\nargs = [\"" +
                  path(std::string(name) + "/server.sh") + "\", \"" + tag() + "\"]\n";
  }
  write("home/.codex/config.toml", configured);
  Holder here(client("helper", 3, {"sh", path("one/server.sh"), tag()}), 3);
  Holder elsewhere(client("helper", 3, {"sh", path("two/server.sh"), tag()}), 3);

  Session session(run_line({"--cleanup", "--keep", "1"}, {"sh", path("one/server.sh"), tag()}));

  EXPECT_TRUE(eventually([&] { return living(here.servers()).empty(); })) << errors();
  EXPECT_THAT(living(elsewhere.servers()), SizeIs(3));
}

TEST_F(Cleanup, FindsCopiesThroughARelativePathAndALink) {
  Holder holder(client("helper", 3, server_line()), 3);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 3; }));
  ASSERT_EQ(symlink(server().c_str(), path("home/link").c_str()), 0);

  Session session(run_line({"--cleanup", "--keep", "1"}, {"./link", "--tag=" + tag()}));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), IsEmpty());
}

// They end with their own sessions; what counts is that they are counted, and that no newer one goes instead.
TEST_F(Cleanup, LeavesCopiesBelowALivingCorral) {
  Session first(run_line({}, server_line({})));
  ASSERT_EQ(first.ask("echo", "ready"), "ready") << errors();
  Session wrapped([&] {
    Launch launch = run_line({}, {});
    launch.argv = {"timeout", "50", programs().corral, "run", "--"};
    const std::vector<std::string> line = server_line({});
    launch.argv.insert(launch.argv.end(), line.begin(), line.end());
    return launch;
  }());
  ASSERT_EQ(wrapped.ask("echo", "ready"), "ready") << errors();
  Holder holder(client("helper", 2, server_line()), 2);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 4; }));

  Session session(run_line({"--cleanup", "--keep", "2"}, server_line({})));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_EQ(first.ask("echo", "still here"), "still here");
  EXPECT_EQ(wrapped.ask("echo", "still here"), "still here");
  EXPECT_THAT(living(holder.servers()), SizeIs(1)) << "of the three oldest it is one; the newest stays";
}

TEST_F(Cleanup, LeavesCopiesOfAnotherUser) {
  if (!running_as_root()) GTEST_SKIP() << "only root can start a process of another user";
  Launch launch = client("helper", 3, server_line());
  launch.uid.reset();
  Holder other(launch, 3);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 3; }));

  Session session(run_line({"--cleanup", "--keep", "1"}, server_line({})));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(other.servers()), SizeIs(3));
}

// An editor with many windows holds language servers of the program whose `mcp-server` a client starts.
TEST_F(Cleanup, LeavesOtherJobsOfTheSameProgram) {
  const std::string program = path("flutter/bin/dart");
  write("flutter/bin/dart", "#!/bin/sh\n# " + tag() + "\n[ \"$1\" = mcp-server ] && exec " + server() +
                                " --tag=" + tag() + "\nwhile read line; do :; done\nsleep 60\n");
  ASSERT_EQ(system(("chmod 755 " + program).c_str()), 0);
  write("home/.codex/config.toml",
        "[mcp_servers.dart]\ncommand = \"" + program + "\"\nargs = [\"mcp-server\"]\n");
  Holder editor(client("helper", 12, {program, "language-server", tag()}), 12);

  Session session(run_line({"--cleanup", "--keep", "1"}, {program, "mcp-server"}));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(editor.servers()), SizeIs(12)) << errors();
}

TEST_F(Cleanup, LeavesWhatDoctorDoesNotCallAServer) {
  write("home/.codex/config.toml", "");
  Holder holder(client("helper", 12, server_line()), 12);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 12; }));
  for (const pid_t pid : holder.servers()) ASSERT_FALSE(has_entry(doctor(), pid));

  Session session(run_line({"--cleanup", "--keep", "1"}, server_line({})));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), SizeIs(12)) << errors();
}

// A process manager holds a server that serves others by TCP.
TEST_F(Cleanup, LeavesACopyWithAPortOfItsOwn) {
  Launch manager = client("helper", 1, server_line());
  manager.before_exec = [inner = manager.before_exec] {
    inner();
    if (listen_at_any_port() < 0) _exit(97);
  };
  Holder holder(manager, 1);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 1; }));

  Session session(run_line({"--cleanup", "--keep", "1"}, server_line({})));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_TRUE(lives(holder.server())) << errors();
}

TEST_F(Cleanup, UsesSigkillOnCopiesThatIgnoreSigterm) {
  Holder holder(client("helper", 3, server_line({"--ignore-eof", "--ignore-term"})), 3);
  ASSERT_TRUE(eventually([&] { return servers_alive() == 3; }));

  Session session(run_line({"--cleanup", "--keep", "2"}, server_line({})));

  ASSERT_EQ(session.ask("echo", "ready"), "ready") << errors();
  EXPECT_THAT(living(holder.servers()), ElementsAreArray(newest(holder.servers(), 1)));
}

}  // namespace
}  // namespace corral::os_tests
