#include "survey/findings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "survey/scene.h"

namespace corral::survey {
namespace {

std::vector<Finding> of_kind(const std::vector<Finding>& findings, Finding::Kind kind) {
  std::vector<Finding> some;
  for (const Finding& finding : findings) {
    if (finding.kind == kind) some.push_back(finding);
  }
  return some;
}

/// A codex with pid 40 that holds `count` copies from pid 50 on.
Scene pile(int count) {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.configure("codex", "files", "file:/usr/bin/files");
  for (pid_t pid = 50; pid < 50 + count; ++pid) {
    scene.process(pid, 40, {"files"});
    scene.connect(pid, 40);
  }
  return scene;
}

TEST(Findings, NothingIsFoundOnAHealthyMachine) { EXPECT_TRUE(find(pile(3).judged(), 9).empty()); }

TEST(Findings, MoreThanNCopiesAreAPileUp) {
  EXPECT_TRUE(find(pile(9).judged(), 9).empty());

  const std::vector<Finding> findings = find(pile(10).judged(), 9);

  ASSERT_EQ(of_kind(findings, Finding::Kind::PileUp).size(), 1U);
  EXPECT_EQ(findings[0].servers.size(), 10U);
  EXPECT_EQ(findings[0].next, "corral reap --pile-ups --parent 40");
  EXPECT_EQ(findings[0].title, "10 copies of files held by Codex (pid 40)");
}

TEST(Findings, ServersOfABackgroundProcessThatNobodyIsAttachedToAreNamedOnce) {
  Scene scene = pile(2);
  EXPECT_TRUE(find(scene.judged(), 9).empty());
  scene.attend(40, Attendance::Attended);
  EXPECT_TRUE(find(scene.judged(), 9).empty());
  scene.attend(40, Attendance::Unknown);
  EXPECT_TRUE(find(scene.judged(), 9).empty());
  scene.attend(40, Attendance::Unattended);

  const std::vector<Finding> findings = find(scene.judged(), 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, Finding::Kind::Unattended);
  EXPECT_EQ(findings[0].title, "Codex (pid 40) keeps 2 servers although nobody is attached to it");
  EXPECT_EQ(findings[0].next, "corral adopt codex");
}

TEST(Findings, CopiesWithOtherArgumentsAreNotCounted) {
  Scene scene = pile(10);
  scene.command(50).arguments = {"/elsewhere"};

  EXPECT_TRUE(find(scene.judged(), 9).empty());
}

TEST(Findings, OrphansOfOneCommandAreOneFinding) {
  Scene scene;
  scene.configure("codex", "files", "file:/usr/bin/files");
  for (const pid_t pid : {50, 51, 52}) {
    scene.process(pid, 1, {"files"});
    scene.strand(pid);
  }

  const std::vector<Finding> findings = find(scene.judged(), 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, Finding::Kind::Orphan);
  EXPECT_EQ(findings[0].title, "3 orphans of files, left by Codex");
  EXPECT_EQ(findings[0].next, "corral reap --orphans --client codex");
  EXPECT_NE(findings[0].explanation.find("background daemon"), std::string::npos)
      << "what is known about Codex explains it: " << findings[0].explanation;
}

TEST(Findings, TheNextCommandForAnUnknownClientIsQuotedForTheShell) {
  Scene scene;
  scene.process(50, 1, {"node"});
  scene.make_mcp_package(50, "it's my mcp server");
  scene.strand(50);

  const std::vector<Finding> findings = find(scene.judged(), 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].next, "corral reap --orphans --match 'it'\\''s my mcp server'");
}

TEST(Findings, TheNextCommandForAnotherUsersServersRunsAsThatUser) {
  Scene scene = pile(10);
  for (pid_t pid = 50; pid < 60; ++pid) scene[pid].uid = 1007;

  const std::vector<Finding> findings = find(scene.judged(), 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].next, "sudo -u '#1007' corral reap --pile-ups --parent 40");
}

TEST(Findings, TheNextCommandRepeatsN) {
  EXPECT_EQ(find(pile(3).judged(), 2).at(0).next, "corral reap --pile-ups --parent 40 --keep 2");
}

TEST(Findings, AClientThatIsOnlyConfiguredIsNotSaidToBeGone) {
  Scene scene;
  scene.process(41, 1, {"codex"});
  scene.process(50, 1, {"files"});
  scene.strand(50);
  scene.configure("codex", "files", "file:/usr/bin/files");

  const std::vector<Finding> findings = find(scene.judged(), 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].explanation.find("Codex is gone"), std::string::npos) << findings[0].explanation;
  EXPECT_NE(findings[0].explanation.find("Codex, by its configuration"), std::string::npos);
}

TEST(Findings, PossibleServersAreNoFindings) {
  Scene scene;
  scene.process(50, 1, {"mcp-server-foo"});
  scene.strand(50);

  EXPECT_TRUE(find(scene.judged(), 9).empty());
}

TEST(Findings, OneCommandInOneDirectoryForTwoClientsIsADuplicate) {
  Scene scene = pile(1);
  scene.process(41, 1, {"claude"});
  scene.process(60, 41, {"files"});
  scene.connect(60, 41);

  const std::vector<Finding> findings = find(scene.judged(), 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, Finding::Kind::Duplicate);

  scene[60].directory = "/home/me/another";
  EXPECT_TRUE(find(scene.judged(), 9).empty());
}

TEST(Findings, CodeThatChangedIsStaleUnlessItsServerIsAnOrphan) {
  Survey survey = pile(1).judged();
  survey.servers[0].stale_file = "/srv/files.js";

  const std::vector<Finding> findings = find(survey, 9);

  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, Finding::Kind::Stale);
  EXPECT_NE(findings[0].explanation.find("/srv/files.js"), std::string::npos);

  survey.servers[0].state = Server::State::Orphan;
  EXPECT_TRUE(of_kind(find(survey, 9), Finding::Kind::Stale).empty());
}

TEST(Findings, AnOrphanThatBurnsProcessorTimeIsARunaway) {
  Scene scene;
  scene.configure("codex", "files", "file:/usr/bin/files");
  scene.process(50, 1, {"files"});
  scene.strand(50);
  Survey survey = scene.judged();
  survey.servers[0].cpu = 0.97;

  const std::vector<Finding> findings = find(survey, 9);

  ASSERT_EQ(of_kind(findings, Finding::Kind::Runaway).size(), 1U);
  EXPECT_EQ(findings[0].kind, Finding::Kind::Runaway) << "the worst first";
  EXPECT_NE(findings[0].title.find("97%"), std::string::npos);
}

}  // namespace
}  // namespace corral::survey
