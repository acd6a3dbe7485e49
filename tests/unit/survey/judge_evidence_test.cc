#include <gtest/gtest.h>

#include "survey/scene.h"

namespace corral::survey {
namespace {

using State = Server::State;
using Cause = Server::Cause;
using Certainty = Server::Certainty;

// ---- what makes a process a server

TEST(JudgeEvidence, AConfiguredCommandIsAServer) {
  Scene scene;
  scene.process(50, 1, {"files"});
  scene.configure("codex", "files", "file:/usr/bin/files");

  const Survey survey = scene.judged();

  const Server* server = server_at(survey, 50);
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(server->certainty, Certainty::Confirmed);
  EXPECT_EQ(server->configured_as, std::vector<std::string>{"codex: files"});
  EXPECT_EQ(server->client.id, "codex");
  EXPECT_EQ(server->state, State::Apart) << "its stdin is /dev/null: nobody speaks to it over pipes";
}

TEST(JudgeEvidence, APackageBuiltOnTheSdkWithPipesIsAServer) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->certainty, Certainty::Confirmed);
}

TEST(JudgeEvidence, APackageBuiltOnTheSdkThatMayBeAClientIsOnlyPossible) {
  for (const char* package : {"@x/files", "mcp-agent", "@x/mcp-client"}) {
    Scene scene;
    scene.process(50, 1, {"node"});
    scene.make_mcp_package(50, package);
    scene.strand(50);

    const Survey survey = scene.judged();

    ASSERT_NE(server_at(survey, 50), nullptr) << package;
    EXPECT_EQ(server_at(survey, 50)->certainty, Certainty::Possible) << package;
  }
}

TEST(JudgeEvidence, APackageOfTheClientHalfOfTheSdkIsNone) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "my-server");
  scene.command(50).mcp_dependency = "@modelcontextprotocol/client 2.4.0";
  scene.strand(50);

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeEvidence, APackageBuiltOnTheSdkWithAClientAtItsPipesIsAServer) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files");
  scene.connect(50, 40);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->certainty, Certainty::Confirmed);
}

TEST(JudgeEvidence, AnSdkProgramWithAServerBelowItIsAClient) {
  Scene scene;
  scene.process(40, 1, {"node", "app.mjs"});
  scene.make_mcp_package(40, "app-server");
  scene.strand(40);
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 40), nullptr);
  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->cause, Cause::LetGo);
}

TEST(JudgeEvidence, APackageBuiltOnTheSdkWithoutPipesIsNone) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/web-app");

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeEvidence, ANameAloneIsOnlyPossible) {
  Scene scene;
  scene.process(50, 1, {"mcp-server-foo"});
  scene.strand(50);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->certainty, Certainty::Possible);
}

TEST(JudgeEvidence, ANameAndPipesToAClientAreEnough) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"mcp-server-foo"});
  scene.connect(50, 40);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->certainty, Certainty::Confirmed);
}

TEST(JudgeEvidence, PipesToAClientThatAlsoRunsToolsAreNotEnough) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"python3", "build.py"});
  scene.connect(50, 40);

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeEvidence, PipesToAClientThatRunsNothingElseAreEnough) {
  Scene scene;
  scene.process(40, 1, {"claude-desktop"});
  scene.process(50, 40, {"python3", "server.py"});
  scene.connect(50, 40);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->certainty, Certainty::Confirmed);
}

TEST(JudgeEvidence, ALanguageServerIsNone) {
  Scene scene;
  scene.process(40, 1, {"claude-desktop"});
  scene.process(50, 40, {"rust-analyzer"});
  scene.connect(50, 40);

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeEvidence, AnInterpreterWithoutPipesOrNameIsNone) {
  Scene scene;
  scene.process(50, 1, {"node", "app.js"});

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeEvidence, ZombiesAndThisProcessAreNone) {
  Scene scene;
  scene.process(50, 1, {"files"}).state = 'Z';
  scene.configure("codex", "files", "file:/usr/bin/files");

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeEvidence, AProgramThatDoesEverythingIsAServerOnlyWithTheArgumentsOfItsEntry) {
  Scene scene;
  scene.process(50, 1, {"ssh", "host", "serve", "-v"});
  scene.command(50).arguments = {"host", "serve", "-v"};
  scene.process(51, 1, {"ssh", "-N", "tunnel"});
  scene.command(51).arguments = {"-N", "tunnel"};
  scene.process(52, 1, {"ssh"});
  scene.configure("codex", "remote", "file:/usr/bin/ssh");
  Snapshot snapshot = scene.snapshot();
  snapshot.configurations.servers[0].command.arguments = {"host", "serve"};

  const Survey survey = judge(snapshot);

  ASSERT_EQ(survey.servers.size(), 1U);
  EXPECT_EQ(survey.servers[0].pid, 50);
}

TEST(JudgeEvidence, AnMcpServerIsItsEntryWithAnyArguments) {
  Scene scene;
  scene.process(50, 1, {"mcp-files", "/elsewhere"});
  scene.command(50).arguments = {"/elsewhere"};
  scene.configure("codex", "files", "file:/usr/bin/mcp-files");
  Snapshot snapshot = scene.snapshot();
  snapshot.configurations.servers[0].command.arguments = {"/here"};

  EXPECT_NE(server_at(judge(snapshot), 50), nullptr);
}

TEST(JudgeEvidence, ADependencyThatIsAUrlIsShownWithoutIt) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.command(50).mcp_dependency = "@modelcontextprotocol/sdk git+https://me:hunter2@host/sdk.git";
  scene.strand(50);

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 1U);
  for (const Evidence& evidence : survey.servers[0].evidence) {
    EXPECT_EQ(evidence.text.find("hunter2"), std::string::npos) << evidence.text;
  }
}

TEST(JudgeEvidence, AClientIsAServerOnlyIfItIsConfiguredWithTheseVeryArguments) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"codex", "mcp-server"});
  scene.command(50).arguments = {"mcp-server"};
  scene.configure("claude-code", "codex", "file:/usr/bin/codex");
  Snapshot snapshot = scene.snapshot();
  snapshot.configurations.servers[0].command.arguments = {"mcp-server"};

  const Survey survey = judge(snapshot);

  ASSERT_EQ(survey.servers.size(), 1U);
  EXPECT_EQ(survey.servers[0].pid, 50);
}

TEST(JudgeEvidence, TheEntryWithTheSameArgumentsWins) {
  Scene scene;
  scene.process(50, 1, {"files"});
  scene.command(50).arguments = {"/a"};
  scene.configure("codex", "other", "file:/usr/bin/files");
  scene.configure("codex", "mine", "file:/usr/bin/files");
  Snapshot snapshot = scene.snapshot();
  snapshot.configurations.servers[0].command.arguments = {"/b"};
  snapshot.configurations.servers[1].command.arguments = {"/a"};

  const Survey survey = judge(snapshot);

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->configured_as, std::vector<std::string>{"codex: mine"});
}

// ---- trees

TEST(JudgeTree, LaunchersThatHandTheirPipesOnBelongToTheServer) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"npm exec @x/files-mcp"});
  scene.command(50).key = "npm:@x/files-mcp";
  scene.command(50).launcher = "npx";
  scene.process(51, 50, {"sh", "-c", "files"});
  scene.make_shell(51);
  scene.process(52, 51, {"node"});
  scene.make_mcp_package(52, "@x/files-mcp", "2.3.4");
  scene.connect(50, 40);
  scene.share_pipes(51, 50);
  scene.share_pipes(52, 50);

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 1U);
  EXPECT_EQ(survey.servers[0].pid, 50);
  EXPECT_EQ(survey.servers[0].tree, (std::vector<pid_t>{50, 51, 52}));
  EXPECT_EQ(survey.servers[0].command.version, "2.3.4") << "known only at the end of the line";
  EXPECT_EQ(survey.servers[0].client.pid, 40);
}

TEST(JudgeTree, AProgramThatIsNotALauncherDoesNotBelongToTheServer) {
  Scene scene;
  scene.process(45, 1, {"node", "harness.mjs"});
  scene.command(45).launcher = "node";
  scene.process(50, 45, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.connect(50, 1);
  scene.share_pipes(45, 50);

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 1U);
  EXPECT_EQ(survey.servers[0].pid, 50);
}

TEST(JudgeTree, AHelperOfAServerIsNotASeparateServer) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/browser-mcp");
  scene.strand(50);
  scene.process(51, 50, {"node"});
  scene.make_mcp_package(51, "@x/helper");
  scene.connect(51, 50);
  // 50 holds the pipes of 51, so it could be a client; the configuration says that it is a server.
  scene.configure("codex", "browser", "npm:@x/browser-mcp");

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 1U);
  EXPECT_EQ(survey.servers[0].tree, (std::vector<pid_t>{50, 51}));
}

TEST(JudgeTree, AnSdkProgramThatHoldsAServerIsItsClient) {
  Scene scene;
  scene.process(40, 1, {"node", "agent.mjs"});
  scene.make_mcp_package(40, "agent");
  scene.connect(40, 1);
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.connect(50, 40);

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 1U);
  EXPECT_EQ(survey.servers[0].pid, 50);
  EXPECT_EQ(survey.servers[0].client.id, "mcp-sdk-v1");
  EXPECT_EQ(survey.servers[0].client.pid, 40);
  ASSERT_EQ(survey.clients.size(), 1U);
  EXPECT_EQ(survey.clients[0].servers, std::vector<pid_t>{50});
}

}  // namespace
}  // namespace corral::survey
