// Why we think what we think of a server, in the words that a person reads: all of it, in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "survey/scene.h"

namespace corral::survey {
namespace {

using testing::ElementsAre;

constexpr const char* kNamed = "configuration: 'files' in /home/me/.config/codex names its command";
constexpr const char* kPackage = "package: its package depends on @modelcontextprotocol/sdk 1.32.2";
constexpr const char* kClosed = "pipe: nobody has the other end of its stdin and stdout";
constexpr const char* kBelowInit = "parent: its parent is process 1 (systemd), not a client";
constexpr const char* kBelowCodex = "parent: below Codex (pid 40)";
constexpr const char* kAfterCodex = "start-time: started 10 s after Codex";
constexpr const char* kToCodex = "pipe: its stdin and stdout lead to Codex (pid 40)";

std::vector<std::string> evidence_of(const Scene& scene, pid_t pid) {
  const Survey survey = scene.judged();
  const Server* const server = server_at(survey, pid);
  std::vector<std::string> told;
  if (server == nullptr) return {"no server"};
  for (const Evidence& evidence : server->evidence) {
    told.push_back(std::string(name_of(evidence.kind)) + ": " + evidence.text);
  }
  return told;
}

Client client_of(const Scene& scene, pid_t pid) { return server_at(scene.judged(), pid)->client; }

/// Codex (40) with a server of the SDK (50) that it is configured to start.
Scene codex_with_server() {
  Scene scene;
  scene.process(40, 1, {"codex"});
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files");
  scene.connect(50, 40);
  scene.configure("codex", "files", "npm:@x/files");
  return scene;
}

TEST(ToldEvidence, OfAServerInUse) {
  const Scene scene = codex_with_server();

  EXPECT_THAT(evidence_of(scene, 50), ElementsAre(kNamed, kToCodex, kPackage, kBelowCodex, kAfterCodex));
  EXPECT_EQ(client_of(scene, 50).name, "Codex");
}

TEST(ToldEvidence, OfAServerOfAnUnknownProgram) {
  Scene scene;
  scene.process(40, 1, {"node"});
  scene.command(40).script = "/srv/agent.js";
  scene.process(50, 40, {"node"});
  scene.make_mcp_package(50, "@x/files");
  scene.connect(50, 40);
  scene.configure("codex", "files", "npm:@x/files");

  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre(kNamed, kPackage,
                          "pipe: its stdin leads to node agent.js (pid 40), which is not a known client",
                          "parent: its parent is process 40 (node), not a client",
                          "start-time: started 10 s after node agent.js"));
  EXPECT_EQ(client_of(scene, 50).name, "node agent.js");
  scene.command(40).script = "/usr/bin/node";
  EXPECT_EQ(client_of(scene, 50).name, "node");
  EXPECT_EQ(client_of(scene, 50).id, "");
}

TEST(ToldEvidence, OfAnOrphanWhoseClientIsGone) {
  Scene scene = codex_with_server();
  scene.strand(50);
  scene[50].parent = 1;
  scene.process(40, 1, {"bash"});
  EXPECT_THAT(evidence_of(scene, 50), ElementsAre(kNamed, kPackage, kClosed, kBelowInit));

  scene.details(50).environment = {"CLAUDECODE=1"};
  scene.details(50).environment_readable = true;
  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre(kNamed, kPackage, kClosed, kBelowInit,
                          "environment: CLAUDECODE is in its environment, as Claude Code sets it"));

  scene.details(50).environment.clear();
  scene.details(50).cgroup = "/user.slice/app-cursor-12.scope";
  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre(kNamed, kPackage, kClosed, kBelowInit, "cgroup: its cgroup is one of Cursor"));
}

TEST(ToldEvidence, OfAnOrphanThatItsClientLetGo) {
  Scene scene = codex_with_server();
  scene.strand(50);

  EXPECT_THAT(evidence_of(scene, 50), ElementsAre(kNamed, kPackage, kClosed, kBelowCodex, kAfterCodex));
}

TEST(ToldEvidence, OfAServerThatItsClientOnlyReads) {
  Scene scene = codex_with_server();
  scene[50].parent = 1;
  scene.far_ends(50).in = {FarEnd::State::Closed, {}};

  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre(kNamed, kPackage, "pipe: nobody can write to its stdin any more",
                          "pipe: its stdout still leads to Codex (pid 40)", kBelowInit, kAfterCodex));
}

TEST(ToldEvidence, OfAServerWithTheGroupOfItsClient) {
  Scene scene = codex_with_server();
  scene.strand(50);
  scene[50].parent = 1;
  scene[50].group = scene[50].session = 40;
  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre(kNamed, kPackage, kClosed, kBelowInit,
                          "session: in the process group of Codex (pid 40)", kAfterCodex));

  scene[50].session = 7;
  EXPECT_THAT(evidence_of(scene, 50), ElementsAre(kNamed, kPackage, kClosed, kBelowInit));
}

TEST(ToldEvidence, OfAServerThatOthersUse) {
  Scene scene = codex_with_server();
  scene.listen(50, 8080);
  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre(kNamed, kToCodex, kPackage, "socket: it waits for connections at TCP port 8080",
                          kBelowCodex, kAfterCodex));

  Scene linked = codex_with_server();
  linked.process(60, 1, {"hub"});
  linked.link(50, 60);
  EXPECT_THAT(evidence_of(linked, 50), ElementsAre(kNamed, kToCodex, kPackage,
                                                   "socket: it is connected to process 60 by a Unix socket",
                                                   kBelowCodex, kAfterCodex));
}

TEST(ToldEvidence, OfAServerWithCorralsMark) {
  Scene scene = codex_with_server();
  scene.strand(50);
  scene[50].parent = 1;
  scene.mark(50);

  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre("tag: carries corral's mark (instance 01234567)", kNamed, kPackage, kBelowInit));
}

TEST(ToldEvidence, OfATreeIsSaidOnce) {
  Scene scene = codex_with_server();
  scene.process(51, 50, {"node"});
  scene.make_mcp_package(51, "@x/files");
  scene.share_pipes(51, 50);

  EXPECT_THAT(evidence_of(scene, 50), ElementsAre(kNamed, kToCodex, kPackage, kBelowCodex, kAfterCodex));
}

TEST(ToldEvidence, OfANameAlone) {
  Scene scene;
  scene.process(40, 1, {"agent"});
  scene.process(50, 40, {"mcp-server-x"});
  scene.connect(50, 40);
  EXPECT_THAT(evidence_of(scene, 50),
              ElementsAre("name: its name looks like one of an MCP server",
                          "pipe: its stdin leads to agent (pid 40), which is not a known client",
                          "parent: its parent is process 40 (agent), not a client",
                          "start-time: started 10 s after agent"));

  scene[50].streams[0] = {Stream::Kind::Null, 0};
  EXPECT_THAT(evidence_of(scene, 50), ElementsAre("no server"));
  scene.connect(50, 40);
  scene[50].streams[1] = {Stream::Kind::Null, 0};
  EXPECT_THAT(evidence_of(scene, 50), ElementsAre("no server"));
}

}  // namespace
}  // namespace corral::survey
