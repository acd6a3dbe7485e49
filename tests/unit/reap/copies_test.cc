#include "reap/copies.h"

#include <gtest/gtest.h>

#include "survey/scene.h"

namespace corral::reap {
namespace {

using known::ServerCommand;
using survey::Scene;
using survey::Survey;

std::vector<pid_t> pids(const Survey& survey, const std::vector<std::size_t>& servers) {
  std::vector<pid_t> tops;
  for (const std::size_t index : servers) tops.push_back(survey.servers[index].pid);
  return tops;
}

std::vector<pid_t> copies(const Scene& scene, const known::ServerCommand& command) {
  const Survey survey = scene.judged();
  return pids(survey, copies_of(survey, command, 1000));
}

std::vector<pid_t> ended(const Scene& scene, const known::ServerCommand& command, std::size_t keep) {
  const Survey survey = scene.judged();
  return pids(survey, choose_copies(survey, command, keep, {1000, {}}).end);
}

void add_script(Scene& scene, pid_t pid, pid_t parent) {
  scene.process(pid, parent, {"node", "server.js"});
  scene.command(pid).key = "file:/srv/server.js";
  scene.command(pid).script = "/srv/server.js";
  scene.connect(pid, parent);
}

/// Two copies of a script that Codex is configured to start, 50 and 51, held by an unknown program.
Scene two_copies() {
  Scene scene;
  scene.process(40, 1, {"agent"});
  for (const pid_t pid : {50, 51}) add_script(scene, pid, 40);
  scene.configure("codex", "mine", "file:/srv/server.js");
  return scene;
}

known::ServerCommand script() {
  known::ServerCommand command;
  command.key = "file:/srv/server.js";
  command.script = "/srv/server.js";
  return command;
}

TEST(Copies, AreAllThatRunTheSameScriptOldestFirst) {
  EXPECT_EQ(copies(two_copies(), script()), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, AreTheSameServerWithOtherPathsAndOptions) {
  Scene scene = two_copies();
  scene.command(50).arguments = {"--root", "/elsewhere"};

  EXPECT_EQ(copies(scene, script()), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, OfAProgramThatDoesEverythingHaveTheSameArguments) {
  Scene scene;
  scene.process(40, 1, {"agent"});
  for (const pid_t pid : {50, 51}) {
    scene.process(pid, 40, {"ssh"});
    scene.command(pid).script = "/usr/bin/ssh";  // as understand() says of a plain program
    scene.command(pid).arguments = {"host", pid == 50 ? "serve" : "elsewhere"};
    scene.connect(pid, 40);
    scene.configure("codex", "remote", "file:/usr/bin/ssh", scene.command(pid).arguments);
  }

  EXPECT_EQ(copies(scene, scene.command(50)), (std::vector<pid_t>{50}));
}

// An editor's language servers and an MCP server may be one program.
TEST(Copies, AreNotOtherJobsOfTheSameProgram) {
  Scene scene;
  scene.process(40, 1, {"code"});
  for (pid_t pid = 50; pid < 62; ++pid) {
    scene.process(pid, 40, {"dart"});
    scene.command(pid).key = "file:/home/me/flutter/bin/dart";
    scene.command(pid).script = "/home/me/flutter/bin/dart";
    scene.command(pid).arguments = {pid % 2 == 0 ? "language-server" : "tooling-daemon"};
    scene.connect(pid, 40);
  }
  known::ServerCommand wanted = scene.command(50);
  wanted.arguments = {"mcp-server"};

  EXPECT_TRUE(copies(scene, wanted).empty());
  scene.configure("codex", "dart", wanted.key, wanted.arguments);
  EXPECT_TRUE(copies(scene, wanted).empty()) << "also if a client is configured to start one";
}

// A program of the SDK in the hands of a client is a server by that evidence, whatever it does.
TEST(Copies, AreNotOtherJobsOfAProgramThatSpeaksMcp) {
  Scene scene;
  scene.process(40, 1, {"code"});
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "acme-cli");
  scene.command(50).arguments = {"lsp"};
  scene.connect(50, 40);
  ASSERT_NE(survey::server_at(scene.judged(), 50), nullptr);
  known::ServerCommand wanted = scene.command(50);
  wanted.arguments = {"mcp"};

  EXPECT_TRUE(copies(scene, wanted).empty());
}

TEST(Copies, AreOnlyWhatDoctorCallsAServer) {
  Scene scene;
  scene.process(40, 1, {"agent"});
  for (const pid_t pid : {50, 51}) add_script(scene, pid, 40);

  ASSERT_TRUE(scene.judged().servers.empty());
  EXPECT_TRUE(copies(scene, script()).empty());
}

TEST(Copies, AreNotOnlyPossibleServers) {
  Scene scene;
  scene.process(50, 1, {"mcp-server-foo"});
  scene.strand(50);

  EXPECT_TRUE(copies(scene, scene.command(50)).empty());
}

TEST(Copies, AreNotOnATerminalNorServicesNorOfAnotherUser) {
  Scene scene = two_copies();
  for (const pid_t pid : {50, 51}) scene.disconnect(pid);
  scene[50].streams[0] = {survey::Stream::Kind::Terminal, 0};
  EXPECT_TRUE(copies(scene, script()).empty());

  Scene other = two_copies();
  other[50].uid = 1001;
  EXPECT_EQ(copies(other, script()), (std::vector<pid_t>{51}));
}

TEST(Copies, AreNotServersWithAPortOfTheirOwn) {
  Scene scene = two_copies();
  scene.command(50).arguments = {"--port", "18932"};
  scene.listen(50, 18932);

  EXPECT_EQ(copies(scene, script()), (std::vector<pid_t>{51}));
}

TEST(Copies, BelowAProgramOnATerminalBelongToIt) {
  Scene scene = two_copies();
  scene.disconnect(50);
  scene[50].streams[0] = {survey::Stream::Kind::Terminal, 0};
  scene[51].parent = 50;

  EXPECT_TRUE(copies(scene, script()).empty());
}

TEST(Copies, AreNotInAContainer) {
  Scene scene = two_copies();
  scene.details(50).in_other_pid_namespace = true;

  EXPECT_EQ(copies(scene, script()), (std::vector<pid_t>{51}));
}

TEST(Copies, ThatRunCorralThemselvesCountAndStay) {
  Scene scene = two_copies();
  scene.process(52, 50, {"corral-keeper"}).comm = "corral-keeper";

  EXPECT_EQ(copies(scene, script()), (std::vector<pid_t>{50, 51}));
  EXPECT_EQ(ended(scene, script(), 2), (std::vector<pid_t>{})) << "51 is the newest, and in use";
  EXPECT_EQ(ended(scene, script(), 1), (std::vector<pid_t>{51}));
}

TEST(Copies, ThatMustStayDoNotPassTheirTurnOnToNewerOnes) {
  Scene scene = two_copies();
  for (pid_t pid = 52; pid < 60; ++pid) add_script(scene, pid, 40);
  for (pid_t pid = 50; pid < 59; ++pid) {
    scene.process(pid + 100, pid, {"corral-keeper"}).comm = "corral-keeper";
  }

  ASSERT_EQ(copies(scene, script()).size(), 10U);
  EXPECT_EQ(ended(scene, script(), 9), (std::vector<pid_t>{}));
}

TEST(Copies, BeyondTheNewestAreEndedWithTheNewOneAmongThem) {
  EXPECT_EQ(ended(two_copies(), script(), 9), (std::vector<pid_t>{}));
  EXPECT_EQ(ended(two_copies(), script(), 2), (std::vector<pid_t>{50}));
  EXPECT_EQ(ended(two_copies(), script(), 1), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, ThatADebuggerHoldsOrAClientRunsInAreNotEnded) {
  Scene scene = two_copies();
  scene.details(50).tracer = 77;
  scene.process(60, 51, {"claude"});

  EXPECT_TRUE(ended(scene, script(), 1).empty());
}

TEST(Copies, OfNothingAreNone) { EXPECT_TRUE(copies(two_copies(), known::ServerCommand{}).empty()); }

/// Two servers of one key, 50 and 51, that differ in a path only.
std::vector<pid_t> with_other_paths(const std::string& key, const std::string& script, bool speaks_mcp) {
  Scene scene;
  scene.process(40, 1, {"agent"});
  for (const pid_t pid : {50, 51}) {
    scene.process(pid, 40, {"tool"});
    scene.command(pid).key = key;
    scene.command(pid).script = script;
    scene.command(pid).name = "tool";
    scene.command(pid).arguments = {pid == 50 ? "/here" : "/there"};
    scene.connect(pid, 40);
    scene.configure("codex", "tool", key, scene.command(pid).arguments);
  }
  scene.command(51).depends_on_mcp = speaks_mcp;
  return copies(scene, scene.command(50));
}

TEST(Copies, OfAProgramOfTheSystemHaveTheSamePathsToo) {
  for (const char* folder : {"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/snap/bin/"}) {
    const std::string path = folder + std::string("tool");
    EXPECT_EQ(with_other_paths("file:" + path, path, false), (std::vector<pid_t>{50})) << path;
    EXPECT_EQ(with_other_paths("file:" + path, path, true), (std::vector<pid_t>{50, 51})) << path;
  }
  EXPECT_EQ(with_other_paths("file:/opt/bin/tool", "/opt/bin/tool", false), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, OfAPackageHaveTheSamePathsUnlessItSpeaksMcp) {
  EXPECT_EQ(with_other_paths("npm:tool", "", false), (std::vector<pid_t>{50}));
  EXPECT_EQ(with_other_paths("npm:tool", "", true), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, NoneStaysIfNoneMay) {
  EXPECT_EQ(ended(two_copies(), script(), 0), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, AreNotOtherScripts) {
  known::ServerCommand other = script();
  other.key = "file:/srv/other.js";
  EXPECT_TRUE(copies(two_copies(), other).empty());
}

}  // namespace
}  // namespace corral::reap
