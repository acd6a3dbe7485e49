#include "reap/copies.h"

#include <gtest/gtest.h>

#include "survey/scene.h"

namespace corral::reap {
namespace {

using survey::Scene;
using survey::ServerCommand;

std::vector<pid_t> copies(const Scene& scene, const ServerCommand& command) {
  std::vector<pid_t> tops;
  for (const survey::Server& copy : copies_of(scene.snapshot(), command, 1000)) tops.push_back(copy.pid);
  return tops;
}

/// Two copies of a script, 50 and 51, held by an unknown program.
Scene two_copies() {
  Scene scene;
  scene.process(40, 1, {"agent"});
  for (const pid_t pid : {50, 51}) {
    scene.process(pid, 40, {"node", "server.js"});
    scene.command(pid).key = "file:/srv/server.js";
    scene.command(pid).script = "/srv/server.js";
    scene.connect(pid, 40);
  }
  return scene;
}

ServerCommand script() {
  ServerCommand command;
  command.key = "file:/srv/server.js";
  command.script = "/srv/server.js";
  return command;
}

TEST(Copies, AreAllThatRunTheSameScriptOldestFirst) {
  EXPECT_EQ(copies(two_copies(), script()), (std::vector<pid_t>{50, 51}));
}

TEST(Copies, OfAProgramThatDoesEverythingHaveTheSameArguments) {
  Scene scene;
  scene.process(40, 1, {"agent"});
  for (const pid_t pid : {50, 51}) {
    scene.process(pid, 40, {"ssh"});
    scene.command(pid).script = "/usr/bin/ssh";  // as understand() says of a plain program
    scene.connect(pid, 40);
  }
  scene.command(50).arguments = {"host", "serve"};
  scene.command(51).arguments = {"-N", "tunnel"};

  EXPECT_EQ(copies(scene, scene.command(50)), (std::vector<pid_t>{50}));
}

TEST(Copies, AreNotOnATerminalNorServicesNorOfAnotherUser) {
  Scene scene = two_copies();
  scene[50].streams[0] = {survey::Stream::Kind::Terminal, 0};
  scene[51].streams[0] = {survey::Stream::Kind::Null, 0};
  EXPECT_TRUE(copies(scene, script()).empty());

  Scene other = two_copies();
  other[50].uid = 1001;
  EXPECT_EQ(copies(other, script()), (std::vector<pid_t>{51}));
}

TEST(Copies, DoNotReachUpToAProgramOnATerminal) {
  Scene scene = two_copies();
  scene[50].streams[0] = {survey::Stream::Kind::Terminal, 0};
  scene[51].parent = 50;

  EXPECT_EQ(copies(scene, script()), (std::vector<pid_t>{51}));
}

TEST(Copies, AreNotInAContainer) {
  Scene scene = two_copies();
  scene.details(50).in_other_pid_namespace = true;

  EXPECT_EQ(copies(scene, script()), (std::vector<pid_t>{51}));
}

TEST(Copies, ThatRunCorralThemselvesAreKept) {
  Scene scene = two_copies();
  scene.process(52, 51, {"corral-keeper"}).comm = "corral-keeper";

  const std::vector<survey::Server> found = copies_of(scene.snapshot(), script(), 1000);

  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].state, survey::Server::State::Kept);
}

TEST(Copies, OfNothingAreNone) { EXPECT_TRUE(copies(two_copies(), ServerCommand{}).empty()); }

}  // namespace
}  // namespace corral::reap
