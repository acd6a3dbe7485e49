// Sessions as objects: a program that never closes a pipe ends a session by its id, and what was started for
// it is gone when the answer comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/eventually.h"
#include "support/hub_test.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kRefused = 125;
constexpr const char* kQuick = R"("stdin_grace":"200ms","term_grace":"200ms")";

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class SessionObjects : public HubTest {
 protected:
  void add_private(const std::string& name) {
    add_server(name, {"--grow=mixed:6", "--ignore-eof", "--ignore-term"},
               std::string(R"("share":"session",)") + kQuick);
  }
  void add_shared(const std::string& name) {
    add_server(name, {"--grow=mixed:3"}, std::string(R"("share":"shared",)") + kQuick);
  }

  Words session(const std::vector<std::string>& words) const { return say("session", words); }
  /// The id of a new one.
  std::string create(std::vector<std::string> words) const {
    words.insert(words.begin(), "create");
    return trimmed(session(words).out);
  }
  Launch attach(const std::string& id, const std::string& server) const {
    return connect({"--session", id, server});
  }
  std::string list() const { return session({"list", "--json"}).out; }

  bool servers_run() const {
    const auto all = processes();
    return std::any_of(all.begin(), all.end(), [](const Process& process) {
      return process.comm == "rude-server" || process.comm == "adv-helper";
    });
  }
};

TEST_F(SessionObjects, AnIdStandsAloneOnALine) {
  add_private("one");
  start_daemon();

  const Words said = session({"create", "--server", "one"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, testing::MatchesRegex("s-[0-9a-f]{16}\n"));
  EXPECT_THAT(list(), HasSubstr(trimmed(said.out)));
}

TEST_F(SessionObjects, TheEndEndsEveryTreeAlthoughNobodyClosesAPipe) {
  add_private("one");
  add_shared("two");
  start_daemon();
  const std::string id = create({"--server", "one", "--server", "two"});
  McpClient one(attach(id, "one"));
  McpClient two(attach(id, "two"));
  ASSERT_TRUE(one.initialize()) << errors_of_shim() << errors();
  ASSERT_TRUE(two.initialize()) << errors_of_shim() << errors();
  const int call = one.begin("block", "50000");
  ASSERT_TRUE(eventually([&] { return counter("messages") >= 5; })) << status();

  const Words said = session({"end", id, "--json"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_FALSE(servers_run()) << testing::PrintToString(processes());
  EXPECT_THAT(said.out, HasSubstr(R"("survivors":[],"leaked":false,)"));
  EXPECT_THAT(said.out, HasSubstr(R"("server":"one")"));
  EXPECT_THAT(said.out, HasSubstr(R"("server":"two")"));
  EXPECT_THAT(said.out, HasSubstr(R"("cause":"session-ended")"));
  EXPECT_THAT(said.out, HasSubstr(R"("kept":[])"));
  EXPECT_THAT(one.answer_to(call), HasSubstr("the session is ending: session-ended"));
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(two.wait(), 0);
  EXPECT_THAT(errors_of_shim(), HasSubstr("the session ended"));
  EXPECT_EQ(list(), "{\"sessions\":[]}\n");
}

TEST_F(SessionObjects, WhatOthersUseStaysAndIsNamed) {
  add_shared("two");
  start_daemon();
  const std::string id = create({"--server", "two"});
  McpClient mine(attach(id, "two"));
  ASSERT_TRUE(mine.initialize()) << errors_of_shim();
  McpClient other(connect({"two"}));
  ASSERT_TRUE(other.initialize()) << errors_of_shim();
  const std::string server = other.call("pid");
  ASSERT_EQ(mine.call("pid"), server) << "not shared";

  const Words said = session({"end", id, "--json"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr(R"("ended":[],"kept":[{"server":"two",)"));
  EXPECT_THAT(said.out, HasSubstr(R"("sessions":1)"));
  EXPECT_EQ(mine.wait(), 0);
  EXPECT_EQ(other.call("pid"), server);
}

TEST_F(SessionObjects, TheEndWaitsForTheTreeOfAClientThatHasJustLeft) {
  add_private("one");
  start_daemon();
  const std::string id = create({"--server", "one"});
  McpClient client(attach(id, "one"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  client.session().close_stdin();
  ASSERT_TRUE(eventually([&] { return status().find(R"("state":"ending")") != std::string::npos; }) ||
              !servers_run());

  const Words said = session({"end", id, "--json"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_FALSE(servers_run()) << testing::PrintToString(processes());
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(SessionObjects, TwoWhoEndTheSameSessionGetTheSameEvidence) {
  add_server("slow", {"--ignore-eof", "--ignore-term"},
             R"("share":"session","stdin_grace":"1500ms","term_grace":"1500ms")");
  start_daemon();
  const std::string id = create({"--server", "slow"});
  McpClient client(attach(id, "slow"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  Launch ending = command("session", {"end", id, "--json"});
  Session first(ending);
  ASSERT_TRUE(eventually([&] { return list().find(R"("state":"ending")") != std::string::npos; }));

  const Words second = session({"end", id, "--json"});

  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr(R"("server":"slow")"));
  EXPECT_EQ(first.output_to_end(), second.out);
  EXPECT_EQ(first.wait(), 0);
}

TEST_F(SessionObjects, TheListCountsAndNamesThemForPeople) {
  add_private("one");
  start_daemon();
  const Words none = session({"list"});
  const std::string id = create({"--server", "one"});

  const Words one = session({"list"});

  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.out, HasSubstr("Sessions: 0"));
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, HasSubstr("Sessions: 1"));
  EXPECT_THAT(one.out, HasSubstr(id));
}

TEST_F(SessionObjects, AnIdWithoutASessionIsRefusedWithAHint) {
  add_private("one");
  start_daemon();

  const Words ended = session({"end", "s-0000000000000000"});
  McpClient client(attach("s-0000000000000000", "one"));

  EXPECT_EQ(ended.code, kRefused);
  EXPECT_THAT(ended.err, HasSubstr("no session is called 's-0000000000000000'"));
  EXPECT_THAT(ended.err, HasSubstr("`corral session list`"));
  EXPECT_EQ(client.wait(), kRefused);
  EXPECT_THAT(errors_of_shim(), HasSubstr("no session is called 's-0000000000000000'"));
}

TEST_F(SessionObjects, TheDeathOfTheOwnerEndsIt) {
  add_private("one");
  start_daemon();
  Launch launch;
  launch.argv = {"/bin/sleep", "600"};
  launch.env = {"CORRAL_TEST_TAG=" + tag()};
  Session owner(launch);
  const std::string id = create({"--server", "one", "--owner", std::to_string(owner.pid())});
  McpClient client(attach(id, "one"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  ASSERT_THAT(list(), HasSubstr("\"owner\":" + std::to_string(owner.pid())));

  kill(owner.pid(), SIGKILL);

  EXPECT_EQ(client.wait(), 0);
  EXPECT_TRUE(eventually([&] { return !servers_run(); })) << testing::PrintToString(processes());
  EXPECT_TRUE(eventually([&] { return list() == "{\"sessions\":[]}\n"; })) << list();
  EXPECT_THAT(errors(), HasSubstr("its owner is gone"));
}

TEST_F(SessionObjects, AnOwnerThatIsGoneAlreadyIsRefused) {
  start_daemon();
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);

  const Words said = session({"create", "--owner", std::to_string(gone)});

  EXPECT_EQ(said.code, kRefused);
  EXPECT_THAT(said.err, HasSubstr("is gone already"));
  EXPECT_EQ(list(), "{\"sessions\":[]}\n");
}

TEST_F(SessionObjects, SilenceEndsIt) {
  add_private("one");
  start_daemon();
  const std::string id = create({"--server", "one", "--ttl", "700ms"});
  McpClient client(attach(id, "one"));
  client.initialize();

  EXPECT_EQ(client.wait(), 0) << errors_of_shim();
  EXPECT_TRUE(eventually([&] { return !servers_run(); })) << testing::PrintToString(processes());
  EXPECT_THAT(errors(), HasSubstr("session " + id + " is ending: silent for"));
}

TEST_F(SessionObjects, ACallInFlightCountsAsActivity) {
  add_private("one");
  start_daemon();
  const std::string id = create({"--server", "one", "--ttl", "2s"});
  McpClient client(attach(id, "one"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_EQ(client.call("block", "3000"), "unblocked");
  EXPECT_EQ(client.wait(), 0);
}

TEST_F(SessionObjects, AMessageOfWhoIsAttachedEndsTheSilence) {
  add_private("one");
  start_daemon();
  const std::string id = create({"--server", "one", "--ttl", "10m"});
  McpClient client(attach(id, "one"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();
  // When it was heard last, since its beginning: the same in every list until it is heard again.
  const auto last_heard = [this] {
    const std::string now = list();
    return std::stol(field(now, "age_ms")) - std::stol(field(now, "silent_ms"));
  };
  const long before = last_heard();

  EXPECT_TRUE(eventually([&] { return client.call("pid") != "" && last_heard() > before + 50; }));
}

TEST_F(SessionObjects, WithoutAnOwnerItLivesForAnHour) {
  start_daemon();
  create({});

  EXPECT_THAT(list(), HasSubstr(R"("owner":null,"ttl_ms":3600000,)"));
}

TEST_F(SessionObjects, CommandsOfItsOwnAreFoundByName) {
  add_private("one");
  start_daemon();
  std::vector<std::string> words = {"create", "--json", "--server", "one", "--"};
  const std::vector<std::string> line = rude();
  words.insert(words.end(), line.begin(), line.end());
  words.emplace_back("--");
  words.insert(words.end(), line.begin(), line.end());
  words.emplace_back("--life=600");

  const Words said = session(words);

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr(R"("servers":["one","rude_server","rude_server-2"])"));
  const std::string id = field(said.out, "id");
  McpClient first(attach(id, "rude_server"));
  McpClient second(attach(id, "rude_server-2"));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_TRUE(second.initialize()) << errors_of_shim();
  EXPECT_NE(first.call("pid"), second.call("pid"));
  EXPECT_EQ(session({"end", id}).code, 0);
  EXPECT_FALSE(servers_run()) << testing::PrintToString(processes());
}

TEST_F(SessionObjects, NothingIsCreatedWithAServerThatCannotBeHad) {
  add_private("one");
  start_daemon();

  const Words unknown = session({"create", "--server", "on"});
  const Words twice = session({"create", "--server", "one", "--server", "one"});

  EXPECT_EQ(unknown.code, kRefused);
  EXPECT_THAT(unknown.err, HasSubstr("no server is called 'on' (perhaps 'one')"));
  EXPECT_EQ(twice.code, kRefused);
  EXPECT_THAT(twice.err, HasSubstr("'one' is named twice"));
  EXPECT_EQ(list(), "{\"sessions\":[]}\n");
}

TEST_F(SessionObjects, AConfinedProcessBringsNoCommands) {
  add_private("one");
  start_daemon();
  const auto confined = [this](const std::vector<std::string>& words) {
    Launch launch = command("session", words);
    launch.before_exec = [] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); };
    Session session(launch);
    session.output_to_end();
    return session.wait();
  };

  EXPECT_EQ(confined({"create", "--", "/bin/cat"}), kRefused);
  EXPECT_THAT(file("stderr-session"), HasSubstr("more confined than the daemon (no_new_privs)"));
  EXPECT_EQ(list(), "{\"sessions\":[]}\n");
  EXPECT_EQ(confined({"create", "--server", "one"}), 0);
}

TEST_F(SessionObjects, ADaemonWithASessionStaysAlthoughNobodyIsAttached) {
  const std::string file = path("config.json");
  std::ofstream(file) << R"({"mcpServers":{},"corral":{"linger":"300ms","drain":"200ms"}})";
  chmod(file.c_str(), 0644);
  Serving daemon(serve({"--config", file, "--auto"}));
  ASSERT_TRUE(ready()) << errors();
  const std::string id = create({});
  ASSERT_THAT(id, HasSubstr("s-"));

  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_TRUE(answers());
  EXPECT_EQ(session({"end", id}).code, 0);

  EXPECT_EQ(daemon.wait(), 0) << errors();
  EXPECT_THAT(errors(), HasSubstr("no session for"));
}

TEST_F(SessionObjects, ShutdownEndsThem) {
  add_private("one");
  start_daemon();
  const std::string id = create({"--server", "one"});
  McpClient client(attach(id, "one"));
  ASSERT_TRUE(client.initialize()) << errors_of_shim();

  EXPECT_EQ(say("shutdown").code, 0);

  EXPECT_FALSE(servers_run()) << testing::PrintToString(processes());
  EXPECT_EQ(client.wait(), 0);
  EXPECT_EQ(session({"list"}).code, 1);
}

TEST_F(SessionObjects, WithoutADaemonThereIsNoneToEnd) {
  const Words said = session({"end", "s-1"});

  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("no daemon is running"));
}

class Roots : public SessionObjects {
 protected:
  void SetUp() override {
    SessionObjects::SetUp();
    for (const char* name : {"a", "b"}) mkdir(path(name).c_str(), 0777);
    add_shared("two");
    start_daemon();
  }
  Launch in_root(const std::string& name) const {
    return connect({"--share", "root", "--root", path(name), "two"});
  }
};

TEST_F(Roots, EveryProjectHasOneServer) {
  McpClient first(in_root("a"));
  McpClient second(in_root("a"));
  McpClient other(in_root("b"));
  ASSERT_TRUE(first.initialize()) << errors_of_shim();
  ASSERT_TRUE(second.initialize()) << errors_of_shim();
  ASSERT_TRUE(other.initialize()) << errors_of_shim();

  const std::string server = first.call("pid");
  EXPECT_EQ(second.call("pid"), server);
  EXPECT_NE(other.call("pid"), server);
  EXPECT_THAT(say("ps", {"-v"}).out, AllOf(HasSubstr("this one is for"), HasSubstr(path("a"))));
  EXPECT_EQ(std::filesystem::read_symlink("/proc/" + server + "/cwd"), std::filesystem::canonical(path("a")));
}

TEST_F(Roots, OneThatIsNotAFolderIsRefused) {
  std::ofstream(path("file")) << "x";
  McpClient missing(in_root("missing"));
  EXPECT_EQ(missing.wait(), kRefused);
  EXPECT_THAT(errors_of_shim(), HasSubstr("cannot be found"));

  McpClient no_folder(in_root("file"));
  EXPECT_EQ(no_folder.wait(), kRefused);
  EXPECT_THAT(errors_of_shim(), HasSubstr("is not a directory"));
}

}  // namespace
}  // namespace corral::os_tests
