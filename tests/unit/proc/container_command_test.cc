#include "proc/container_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::proc {
namespace {

using testing::ElementsAre;

std::optional<ContainerCommand> rewrite(const std::vector<std::string>& argv) {
  return container_command(argv, "/usr/bin/docker", "id", "/tmp", "/home/me");
}

/// What the removal is given behind its script: the id file, whose it is, and the launcher.
std::vector<std::string> removal(const ContainerCommand& command) {
  return {command.removal.argv.begin() + 4, command.removal.argv.end()};
}

TEST(ContainerCommand, MarksTheContainerAndKnowsHowToRemoveIt) {
  const auto command = rewrite({"docker", "run", "-i", "--rm", "image", "arg"});

  ASSERT_TRUE(command);
  EXPECT_THAT(command->argv, ElementsAre("docker", "run", "--label", "corral.instance=id", "--cidfile",
                                         "/tmp/corral-id.cid", "-i", "--rm", "image", "arg"));
  EXPECT_THAT(removal(*command), ElementsAre("/tmp/corral-id.cid", "ours", "/usr/bin/docker"));
}

TEST(ContainerCommand, KeepsTheOptionsOfTheLauncherItself) {
  const auto command = rewrite({"docker", "--context", "far", "--debug", "-H=ssh://host", "run", "image"});

  ASSERT_TRUE(command);
  EXPECT_EQ(command->argv[5], "run");
  EXPECT_EQ(command->argv[6], "--label");
  EXPECT_THAT(removal(*command), ElementsAre("/tmp/corral-id.cid", "ours", "/usr/bin/docker", "--context",
                                             "far", "--debug", "-H=ssh://host"));
}

TEST(ContainerCommand, KnowsTheLongForm) {
  const auto command = rewrite({"/opt/podman", "container", "run", "image"});

  ASSERT_TRUE(command);
  EXPECT_EQ(command->argv[3], "--label");
  EXPECT_THAT(removal(*command), ElementsAre("/tmp/corral-id.cid", "ours", "/usr/bin/docker"));
}

TEST(ContainerCommand, UsesTheIdFileThatTheUserAskedFor) {
  for (const auto& argv :
       std::vector<std::vector<std::string>>{{"docker", "run", "--cidfile", "my.cid", "image"},
                                             {"docker", "run", "--cidfile=my.cid", "image"}}) {
    const auto command = rewrite(argv);

    ASSERT_TRUE(command);
    EXPECT_EQ(command->argv.size(), argv.size() + 2);
    EXPECT_THAT(removal(*command), ElementsAre("/home/me/my.cid", "theirs", "/usr/bin/docker"));
  }
}

TEST(ContainerCommand, LeavesOtherCommandsAlone) {
  EXPECT_FALSE(rewrite({"docker", "exec", "-i", "box", "server"}));
  EXPECT_FALSE(rewrite({"docker", "--context", "run"}));
  EXPECT_FALSE(rewrite({"docker"}));
  EXPECT_FALSE(rewrite({"node", "run"}));
}

}  // namespace
}  // namespace corral::proc
