// Each protection alone: a server that every command would end, and one thing about it that spares it. The
// mutants in tests/mutants/protection-*.patch switch the protections off one by one.
#include "survey/protection.h"

#include <gtest/gtest.h>

#include "reap/every_ending.h"
#include "survey/scene.h"

namespace corral::reap {
namespace {

using survey::Scene;
using survey::Server;
using survey::Survey;

constexpr pid_t kServer = 50;
constexpr pid_t kHelper = 51;  // below the server
constexpr pid_t kOther = 60;   // somebody else's process

/// A server of the SDK that no client holds, with a helper below it.
Scene leaked() {
  Scene scene;
  scene.process(kServer, 1, {"node"});
  scene.make_mcp_package(kServer, "@x/files-mcp");
  scene.strand(kServer);
  scene.process(kHelper, kServer, {"helper"});
  scene.process(kOther, 1, {"other"});
  return scene;
}

/// Whether any command would end the server; `possible` as with --possible.
bool is_ended(const Scene& scene, const survey::Asker& asker = kMe, bool possible = false) {
  const survey::Snapshot snapshot = scene.snapshot();
  const Survey survey = survey::judge(snapshot);
  Selectors selectors;
  selectors.possible = possible;
  selectors.keep = 0;
  return ended_by_reap(survey, selectors, asker).contains(kServer) ||
         ended_by_watch(survey, selectors, asker).contains(kServer) ||
         ended_by_cleanup(snapshot, survey, 0, asker).contains(kServer);
}

TEST(Protection, WithoutAnyTheServerIsEnded) {
  const survey::Snapshot snapshot = leaked().snapshot();
  const Survey survey = survey::judge(snapshot);

  EXPECT_TRUE(ended_by_reap(survey, {}, kMe).contains(kServer));
  EXPECT_TRUE(ended_by_watch(survey, {}, kMe).contains(kServer));
  EXPECT_TRUE(ended_by_cleanup(snapshot, survey, 1, kMe).contains(kServer));
}

TEST(Protection, AnotherUsersServer) {
  Scene scene = leaked();
  scene[kServer].uid = 1001;
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AServerInsideWhichTheCommandRuns) { EXPECT_FALSE(is_ended(leaked(), {1000, {kHelper}})); }

TEST(Protection, ADebuggersTarget) {
  Scene scene = leaked();
  scene.details(kHelper).tracer = kOther;
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AContainer) {
  Scene scene = leaked();
  scene.details(kServer).in_other_pid_namespace = true;
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AClientInside) {
  Scene scene = leaked();
  scene.process(70, kHelper, {"claude"});
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, ALivingCorralAbove) {
  Scene scene = leaked();
  scene.process(45, 1, {"corral-keeper"}).comm = "corral-keeper";
  scene[kServer].parent = 45;
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, NoEvidenceOfMcp) {
  Scene scene;
  scene.process(kServer, 1, {"mcp-server-foo"});
  scene.strand(kServer);
  EXPECT_FALSE(is_ended(scene));
  EXPECT_TRUE(is_ended(scene, kMe, true)) << "--possible takes it";
}

TEST(Protection, OtherArgumentsThanConfigured) {
  Scene scene = leaked();
  scene.command(kServer).arguments = {"lsp"};
  EXPECT_TRUE(is_ended(scene));
  scene.configure("codex", "files", "npm:@x/files-mcp", {"mcp"});
  EXPECT_FALSE(is_ended(scene));
  EXPECT_FALSE(is_ended(scene, kMe, true)) << "--possible does not take it";
}

TEST(Protection, AListeningTcpSocket) {
  Scene scene = leaked();
  scene.listen(kHelper);
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AListeningUnixSocket) {
  Scene scene = leaked();
  scene.listen_unix(kHelper, "/tmp/hub");
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AListeningUnixSocketForItselfIsNoneUntilSomebodyElseIsConnected) {
  Scene scene = leaked();
  scene.listen_unix(kServer, "/tmp/tsx-1000/50.pipe");
  scene.listen_unix(kHelper, "/tmp/.org.chromium.Chromium.aB3/SingletonSocket");
  EXPECT_TRUE(is_ended(scene));
  scene.link(kOther, kHelper, "/tmp/.org.chromium.Chromium.aB3/SingletonSocket");
  EXPECT_FALSE(is_ended(scene));
}

// A user who develops a server has it configured over stdio, and also runs it with --http.
TEST(Protection, AListeningSocketWithOtherOptionsThanConfigured) {
  Scene scene = leaked();
  scene.configure("claude-code", "browser", "npm:@x/files-mcp");
  scene.command(kServer).arguments = {"--port", "18931"};
  scene.listen(kServer, 18931);
  EXPECT_FALSE(is_ended(scene));
}

// Its transport may have been chosen by a variable, which its arguments do not show.
TEST(Protection, AListeningSocketOfExactlyWhatAClientStartsOverPipesUnlessAPersonAsks) {
  Scene scene = leaked();
  scene.configure("claude-code", "browser", "npm:@x/files-mcp");
  scene.listen(kServer, 18931);
  const survey::Snapshot snapshot = scene.snapshot();
  const Survey survey = survey::judge(snapshot);

  EXPECT_TRUE(ended_by_reap(survey, {}, kMe).contains(kServer));
  EXPECT_FALSE(ended_by_watch(survey, {}, kMe).contains(kServer));
  EXPECT_FALSE(ended_by_watch(survey, unasked(1), kMe).contains(kServer));
  EXPECT_FALSE(ended_by_cleanup(snapshot, survey, 1, kMe).contains(kServer));
}

TEST(Protection, AListeningSocketIsOneIfNobodySaysWhoAsks) {
  Server server;
  server.certainty = Server::Certainty::Confirmed;
  server.arguments = survey::Arguments::Same;
  server.listens = "TCP port 1";
  EXPECT_EQ(survey::protection_of(server, {}), survey::Protection::Listening);
  EXPECT_EQ(survey::protection_of(server, {.asked = true}), std::nullopt);
}

TEST(Protection, AConnectionToItsPort) {
  Scene scene = leaked();
  scene.configure("claude-code", "browser", "npm:@x/files-mcp");
  scene.listen(kServer, 18931);
  scene.call(18931);
  EXPECT_FALSE(is_ended(scene));
}

// A server that steers a browser below it by the browser's port.
TEST(Protection, AConnectionOfTheTreeToItsOwnPortIsNone) {
  Scene scene = leaked();
  scene.configure("claude-code", "browser", "npm:@x/files-mcp");
  scene.listen(kHelper, 9222);
  scene.call(9222, kServer);
  EXPECT_TRUE(is_ended(scene));
  scene.call(9222, kOther);
  EXPECT_FALSE(is_ended(scene)) << "somebody else has called, too";
}

TEST(Protection, AUnixSocketThatConnectsItToSomebodyElse) {
  Scene scene = leaked();
  scene.link(kHelper, kOther);
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AUnixSocketToSomebodyWhoCannotBeSeen) {
  Scene scene = leaked();
  scene.link(kHelper, 0);
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, UnixSocketsWithinTheTreeOrToTheSystemsServicesAreNone) {
  Scene scene = leaked();
  scene.link(kHelper, kServer);
  scene.link(kServer, 0, "/run/user/1000/bus");
  scene.link(kServer, 0, "/run/systemd/journal/stdout");
  scene.link(kServer, 0, "/run/postgresql/.s.PGSQL.5432");
  scene.link(kHelper, 0, "/run/user/1000/pulse/native");
  EXPECT_TRUE(is_ended(scene));
}

TEST(Protection, AWindowOfAServerThatSomebodyCanSpeakTo) {
  Scene scene = leaked();
  scene.link(kHelper, kOther, "@/tmp/.X11-unix/X0");
  EXPECT_TRUE(is_ended(scene)) << "nobody has its pipes";
  scene.process(40, 1, {"codex"});
  scene.far_ends(kServer).out = {survey::FarEnd::State::Open, {40}};
  EXPECT_FALSE(is_ended(scene)) << "somebody still reads what it writes";
}

TEST(Protection, AWindowOfATreeWithAHelperThatSomebodyCanSpeakTo) {
  Scene scene = leaked();
  scene.link(kHelper, 0, "/run/user/1000/wayland-0");
  scene.connect(kHelper, kServer);
  EXPECT_TRUE(is_ended(scene)) << "the helper's pipes lead to the server";
  scene.connect(kHelper, kOther);
  EXPECT_FALSE(is_ended(scene));
}

/// `printf log | server | claude`: printf is gone, and claude reads.
Scene pipeline() {
  Scene scene = leaked();
  scene.process(30, 1, {"-bash"});
  scene[kServer].parent = 30;
  scene.process(61, 30, {"claude"});
  scene.pipe_into(kServer, 61);
  return scene;
}

TEST(Protection, AShellsPipeline) { EXPECT_FALSE(is_ended(pipeline())); }

TEST(Protection, AShellsPipelineWhoseReaderHasMovedItsStdin) {
  Scene scene = pipeline();
  scene.make_shell(30);
  scene[61].streams[0] = {survey::Stream::Kind::Terminal, 0};
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, AClientThatReadsFromAServerWhoseLauncherIsGoneIsNotAPipeline) {
  Scene scene = leaked();
  scene.process(40, 1, {"codex"});
  scene.far_ends(kServer).out = {survey::FarEnd::State::Open, {40}};
  EXPECT_TRUE(is_ended(scene));
}

TEST(Protection, APipelineOfALivingServerIsNotCleanedUp) {
  Scene scene = leaked();
  scene.process(61, 1, {"cat", "requests"});
  scene.connect(kServer, 61);
  scene[61].streams[1] = scene[kServer].streams[0];
  EXPECT_FALSE(is_ended(scene));
}

// Two connections to one client are not two users.
TEST(Protection, ASecondConnectionToItsOwnClientIsNone) {
  Scene scene = leaked();
  scene.process(40, 1, {"codex"});
  scene.connect(kServer, 40);
  scene.link(kServer, 40);
  EXPECT_TRUE(is_ended(scene)) << "--keep 0 ends what the client holds";
}

TEST(Protection, OurOwnRemnantsAreProvedWhateverTheyDo) {
  Scene scene = leaked();
  scene.mark(kServer);
  scene.listen(kServer);
  scene.link(kServer, kOther);
  EXPECT_TRUE(is_ended(scene));
  scene.details(kServer).tracer = kOther;
  EXPECT_FALSE(is_ended(scene)) << "but not while somebody debugs them";
}

TEST(Protection, WhatOnlyCopiedTheEnvironmentOfAServerIsProtectedLikeAnybody) {
  Scene scene = leaked();
  scene.mark(kServer);
  scene.details(kServer).rttime_limit = 0;
  EXPECT_TRUE(is_ended(scene)) << "nobody uses it";
  scene.link(kServer, kOther);
  EXPECT_FALSE(is_ended(scene));
}

TEST(Protection, OfOneProcessInTheInstantBeforeASignal) {
  using survey::Protection;
  EXPECT_EQ(survey::protection_of(survey::OneProcess{1000, 1000, 0, false}, 1000), std::nullopt);
  EXPECT_EQ(survey::protection_of(survey::OneProcess{1000, 1000, 0, true}, 1000), Protection::OwnLine);
  EXPECT_EQ(survey::protection_of(survey::OneProcess{1000, 0, 0, false}, 1000), Protection::OtherUser);
  EXPECT_EQ(survey::protection_of(survey::OneProcess{1001, 1000, 0, false}, 1000), Protection::OtherUser);
  EXPECT_EQ(survey::protection_of(survey::OneProcess{1000, 1000, 7, false}, 1000), Protection::Debugger);
}

TEST(Protection, EachHasAReasonForAPerson) {
  Server server;
  for (int i = 0; i <= static_cast<int>(survey::Protection::Pipeline); ++i) {
    EXPECT_GT(survey::reason_of(static_cast<survey::Protection>(i), server).size(), 10U) << i;
  }
}

}  // namespace
}  // namespace corral::reap
