#include <gtest/gtest.h>

#include "survey/scene.h"

namespace corral::survey {
namespace {

using State = Server::State;
using Cause = Server::Cause;
using Kind = Evidence::Kind;

// ---- states

TEST(JudgeState, AServerWhosePipesNobodyHasIsAnOrphan) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->state, State::Orphan);
  EXPECT_EQ(server_at(survey, 50)->cause, Cause::ClientGone);
}

TEST(JudgeState, AServerBelowProcessOneThatHasAClientIsNotAnOrphan) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.connect(50, 40);

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->state, State::Serving);
  EXPECT_EQ(server_at(survey, 50)->client.pid, 40);
}

TEST(JudgeState, AServerWithAnUnknownLivingClientIsNotAnOrphan) {
  Scene scene;
  scene.process(40, 1, {"my-agent"});
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.connect(50, 40);

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->state, State::Serving);
  EXPECT_EQ(server_at(survey, 50)->client.pid, 40);
  EXPECT_EQ(server_at(survey, 50)->client.id, "");
  EXPECT_EQ(server_at(survey, 50)->client.name, "my-agent");
}

TEST(JudgeState, AServerWhoseOutputIsStillReadIsNotAnOrphan) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);
  scene.far_ends(50).out = {FarEnd::State::Open, {1}};

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Serving);
}

TEST(JudgeState, AnEndOfAPipeThatCannotBeReadIsNotAProof) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);
  scene.far_ends(50).in.state = FarEnd::State::Unknown;

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Serving);
}

TEST(JudgeState, ServersThatOnlyHoldEachOtherAreOrphans) {
  Scene scene;
  for (const pid_t pid : {50, 51}) {
    scene.process(pid, 1, {"node"});
    scene.make_mcp_package(pid, "@x/files-mcp");
  }
  scene.connect(50, 51);
  scene.connect(51, 50);
  // Both are built on the SDK and hold each other, so the configuration must say that they are servers.
  scene.configure("codex", "files", "npm:@x/files-mcp");

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->state, State::Orphan);
  EXPECT_EQ(server_at(survey, 51)->state, State::Orphan);
}

TEST(JudgeState, ServersThatHoldEachOtherAndAreHeldByAClientAreNot) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  for (const pid_t pid : {50, 51}) scene.process(pid, 40, {"files"});
  scene.configure("codex", "files", "file:/usr/bin/files");
  scene.connect(50, 51);
  scene.connect(51, 50);
  scene.far_ends(51).in.holders = {40, 50};

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 51)->state, State::Serving);
  EXPECT_EQ(server_at(survey, 50)->state, State::Serving) << "51 lives, so its holds count";
}

TEST(JudgeState, WithAHiddenProcessOfTheSameUserHeldOnlyByOrphansIsNotAProof) {
  Scene scene;
  scene.process(30, 1, {"hidden"}).streams[0].kind = Stream::Kind::Unknown;
  for (const pid_t pid : {50, 51}) scene.process(pid, 1, {"files"});
  scene.configure("codex", "files", "file:/usr/bin/files");
  scene.connect(50, 51);
  scene.connect(51, 50);

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Serving);
}

TEST(JudgeState, AClientThatLivesAndClosedThePipesHasLetGo) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->state, State::Orphan);
  EXPECT_EQ(server_at(survey, 50)->cause, Cause::LetGo);
  EXPECT_EQ(server_at(survey, 50)->client.pid, 40);
}

TEST(JudgeState, AServerWhoseLauncherIsGoneIsKnownByItsGroup) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  Process& server = scene.process(50, 1, {"node"});
  server.group = server.session = 40;
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->cause, Cause::LauncherGone);
  EXPECT_EQ(server_at(survey, 50)->client.pid, 40);
  EXPECT_TRUE(has_evidence(*server_at(survey, 50), Kind::Session));
}

TEST(JudgeState, AServerThatOnlyItsClientStillReadsHasLostItsLauncher) {
  // What node does when its direct child, a launcher, dies: it closes stdin and keeps reading stdout.
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);
  scene.far_ends(50).out = {FarEnd::State::Open, {40}};

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->state, State::Orphan);
  EXPECT_EQ(server_at(survey, 50)->cause, Cause::LauncherGone);
  EXPECT_EQ(server_at(survey, 50)->client.pid, 40);
}

TEST(JudgeState, AServerBelowTheClientThatStillReadsItMayBeAtWork) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);
  scene.far_ends(50).out = {FarEnd::State::Open, {40}};

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Serving);
}

TEST(JudgeState, AGroupWithTwoClientsNamesNone) {
  Scene scene;
  for (const pid_t pid : {40, 41}) {
    Process& client = scene.process(pid, 1, {"codex"});
    client.group = client.session = 30;
  }
  Process& server = scene.process(50, 1, {"node"});
  server.group = server.session = 30;
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  EXPECT_EQ(server_at(scene.judged(), 50)->client.pid, 0);
}

TEST(JudgeState, TheDeadPipesOfAHelperMakeNoOrphanOfTheServiceAboveIt) {
  Scene scene;
  scene.process(50, 1, {"files"});
  scene.configure("codex", "files", "file:/usr/bin/files");
  scene.process(51, 50, {"cat"});
  scene.strand(51);

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Apart);
}

TEST(JudgeState, AServerWithAPortIsNotAnOrphan) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/web-mcp");
  scene.strand(50);
  scene.process(51, 50, {"node", "worker"});
  scene.listen(51);

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Apart);
}

TEST(JudgeState, AConfiguredServerWithDeadPipesIsAnOrphanDespiteItsPort) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/web-mcp");
  scene.strand(50);
  scene.listen(50);
  scene.configure("codex", "web", "npm:@x/web-mcp");

  EXPECT_EQ(server_at(scene.judged(), 50)->state, State::Orphan);
}

TEST(JudgeState, ATreeWithAKeeperInItIsKept) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(45, 40, {"wrapper"});
  scene.configure("codex", "files", "file:/usr/bin/wrapper");
  scene.connect(45, 40);
  scene.process(46, 45, {"corral", "run", "--", "files"});
  scene.command(46).launcher = "corral";
  scene.process(47, 46, {"corral-keeper"}).comm = "corral-keeper";

  for (const Server& server : scene.judged().servers) EXPECT_EQ(server.state, State::Kept) << server.pid;
}

TEST(JudgeState, AServerBelowAKeeperIsKept) {
  Scene scene;
  scene.process(45, 40, {"corral", "run", "--", "files"});
  scene.command(45).launcher = "corral";
  scene.process(46, 45, {"corral-keeper"}).comm = "corral-keeper";
  scene.process(50, 46, {"files"});
  scene.mark(50);
  scene.configure("codex", "files", "file:/usr/bin/files");

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 1U) << "the wrapper is not a server";
  EXPECT_EQ(survey.servers[0].pid, 50);
  EXPECT_EQ(survey.servers[0].state, State::Kept);
}

TEST(JudgeState, AServerWithCorralsMarkAndNoKeeperIsAnOrphan) {
  Scene scene;
  scene.process(50, 1, {"anything"});
  scene.mark(50);

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->state, State::Orphan);
  EXPECT_EQ(server_at(survey, 50)->cause, Cause::CorralKilled);
}

// An `at` job, a service, a terminal: somebody copied the environment of a server.
TEST(JudgeState, ACopiedEnvironmentIsNotAMark) {
  Scene scene;
  scene.process(50, 1, {"anything"});
  scene.mark(50);
  for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1'000'000}, ~std::uint64_t{0}}) {
    scene.details(50).rttime_limit = limit;
    EXPECT_EQ(server_at(scene.judged(), 50), nullptr) << limit;
  }
}

TEST(JudgeState, ACopiedEnvironmentDoesNotMakeAServerAnOrphan) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"files"});
  scene.connect(50, 40);
  scene.configure("codex", "files", "file:/usr/bin/files");
  scene.mark(50);
  scene.details(50).rttime_limit = 0;

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->state, State::Serving);
  EXPECT_FALSE(has_evidence(*server_at(survey, 50), Kind::Tag));
}

TEST(JudgeState, TheMarkOfAnInstanceWhoseKeeperLivesProvesNothingElsewhere) {
  Scene scene;
  scene.process(50, 1, {"anything"});
  scene.mark(50);
  scene.process(46, 1, {"corral-keeper"}).comm = "corral-keeper";
  scene.details(46).environment = {"CORRAL_INSTANCE=fedcba9876543210fedcba9876543210"};

  ASSERT_NE(server_at(scene.judged(), 50), nullptr) << "the keeper is another's";
  scene.details(46).environment = scene.details(50).environment;
  EXPECT_EQ(server_at(scene.judged(), 50), nullptr);
}

TEST(JudgeState, AServerBelowAKeeperIsKnownByItsVariableAlone) {
  Scene scene;
  scene.process(46, 1, {"corral-keeper"}).comm = "corral-keeper";
  scene.process(50, 46, {"anything"});
  scene.mark(50);
  scene.details(50).rttime_limit = 0;  // where the limit leaves no room for a tag

  const Survey survey = scene.judged();

  ASSERT_NE(server_at(survey, 50), nullptr);
  EXPECT_EQ(server_at(survey, 50)->state, State::Kept);
}

TEST(JudgeState, TheMarkDoesNotMakeAProcessBelowAGuardAnOrphan) {
  Scene scene;
  scene.process(40, 1, {"corral", "guard", "--", "agent"}).comm = "corral";
  scene.command(40).launcher = "corral";
  scene.process(50, 40, {"agent"});
  scene.mark(50);

  const Survey survey = scene.judged();

  for (const Server& server : survey.servers) EXPECT_NE(server.state, State::Orphan);
}

// ---- clients that are gone

TEST(JudgeClient, AGoneClientIsKnownByTheVariablesItSets) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);
  scene.details(50).environment = {"HOME=/home/me", "CLAUDECODE=1"};

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->client.id, "claude-code");
  EXPECT_FALSE(server_at(survey, 50)->client.alive());
  EXPECT_TRUE(has_evidence(*server_at(survey, 50), Kind::Environment));
}

TEST(JudgeClient, AGoneClientIsKnownByItsConfiguration) {
  Scene scene;
  scene.process(50, 1, {"files"});
  scene.strand(50);
  scene.configure("gemini-cli", "files", "file:/usr/bin/files");

  EXPECT_EQ(server_at(scene.judged(), 50)->client.id, "gemini-cli");
}

TEST(JudgeClient, WithoutAnyTraceItIsUnknown) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "@x/files-mcp");
  scene.strand(50);

  EXPECT_EQ(server_at(scene.judged(), 50)->client.name, "unknown");
}

TEST(JudgeClient, VariablesAloneMakeNoServer) {
  Scene scene;
  scene.process(50, 1, {"npm", "run", "dev"});
  scene.strand(50);
  scene.details(50).environment = {"CLAUDECODE=1"};

  EXPECT_TRUE(scene.judged().servers.empty());
}

TEST(JudgeOrder, OldestFirst) {
  Scene scene;
  for (const pid_t pid : {60, 50, 70}) scene.process(pid, 1, {"files"});
  scene.configure("codex", "files", "file:/usr/bin/files");

  const Survey survey = scene.judged();

  ASSERT_EQ(survey.servers.size(), 3U);
  EXPECT_EQ(survey.servers[0].pid, 50);
  EXPECT_EQ(survey.servers[2].pid, 70);
}

TEST(JudgeClient, IsTheProcessThatHoldsThePipesEvenIfAnotherIsAbove) {
  Scene scene;
  scene.process(40, 1, {"code"});
  scene.process(45, 40, {"runner"});
  scene.process(50, 45, {"files"});
  scene.configure("vscode", "files", "file:/usr/bin/files");
  scene.connect(50, 45);

  const Survey survey = scene.judged();

  EXPECT_EQ(server_at(survey, 50)->client.pid, 45);
  EXPECT_EQ(server_at(survey, 50)->client.id, "");
}

TEST(JudgeClient, AClientThatRunsInsideAServerIsNoted) {
  Scene scene;
  scene.process(50, 1, {"files"});
  scene.strand(50);
  scene.configure("codex", "files", "file:/usr/bin/files");
  scene.process(51, 50, {"claude"});

  EXPECT_EQ(server_at(scene.judged(), 50)->client_inside, 51);
}

}  // namespace
}  // namespace corral::survey
