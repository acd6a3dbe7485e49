#include "proc/container_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::proc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ContainerCommand rewrite(const std::vector<std::string>& argv) {
  EXPECT_TRUE(is_container_run(argv));
  return container_command(argv, {"PATH=/bin", "DOCKER_AUTH_CONFIG=secret"}, "/usr/bin/docker", "id",
                           "/tmp/ours");
}

TEST(ContainerCommand, MarksTheContainerAndKnowsHowToRemoveIt) {
  const ContainerCommand command = rewrite({"docker", "run", "-i", "--rm", "image", "arg"});

  EXPECT_THAT(command.argv, ElementsAre("docker", "run", "--label", "corral.instance=id", "--cidfile",
                                        "/tmp/ours/cid", "-i", "--rm", "image", "arg"));
  EXPECT_THAT(command.removal, ElementsAre("/tmp/ours", "/usr/bin/docker"));
}

TEST(ContainerCommand, KeepsTheOptionsOfTheLauncherItself) {
  const ContainerCommand command =
      rewrite({"docker", "--context", "far", "--debug", "-H=ssh://host", "run", "image"});

  EXPECT_EQ(command.argv[5], "run");
  EXPECT_EQ(command.argv[6], "--label");
  EXPECT_THAT(command.removal,
              ElementsAre("/tmp/ours", "/usr/bin/docker", "--context", "far", "--debug", "-H=ssh://host"));
}

TEST(ContainerCommand, TellsTheRemovalWhereTheEngineIsAndNothingElse) {
  const ContainerCommand command = container_command(
      {"docker", "run", "image"}, {"DOCKER_HOST=unix:///run/far.sock", "DOCKER_HOSTILE=1", "TOKEN=secret"},
      "/usr/bin/docker", "id", "/tmp/ours");

  EXPECT_THAT(command.removal, ElementsAre("/tmp/ours", "/usr/bin/env", "DOCKER_HOST=unix:///run/far.sock",
                                           "/usr/bin/docker"));
  EXPECT_THAT(container_removal(command.removal).argv,
              ElementsAre("/bin/sh", "-c", HasSubstr("rm -f"), "corral", "/tmp/ours", "/usr/bin/env",
                          "DOCKER_HOST=unix:///run/far.sock", "/usr/bin/docker"));
}

TEST(ContainerCommand, KnowsTheLongForm) {
  const ContainerCommand command = rewrite({"/opt/podman", "container", "run", "image"});

  EXPECT_EQ(command.argv[3], "--label");
  EXPECT_THAT(command.removal, ElementsAre("/tmp/ours", "/usr/bin/docker"));
}

TEST(ContainerCommand, DoesNotMistakeTheNameOfAContextForTheLongForm) {
  const ContainerCommand command = rewrite({"docker", "--context", "container", "run", "image"});

  EXPECT_THAT(command.removal, ElementsAre("/tmp/ours", "/usr/bin/docker", "--context", "container"));
}

TEST(ContainerCommand, LeavesTheUsersOwnIdFileAlone) {
  for (const auto& argv :
       std::vector<std::vector<std::string>>{{"docker", "run", "--cidfile", "my.cid", "image"},
                                             {"docker", "run", "--cidfile=my.cid", "image"}}) {
    const ContainerCommand command = rewrite(argv);

    EXPECT_EQ(command.argv.size(), argv.size() + 2);
    EXPECT_THAT(command.removal, ElementsAre("/tmp/ours", "/usr/bin/docker"));
  }
}

TEST(ContainerCommand, LeavesOtherCommandsAlone) {
  EXPECT_FALSE(is_container_run({"docker", "exec", "-i", "box", "server"}));
  EXPECT_FALSE(is_container_run({"docker", "--context", "run"}));
  EXPECT_FALSE(is_container_run({"docker"}));
  EXPECT_FALSE(is_container_run({"node", "run"}));
}

}  // namespace
}  // namespace corral::proc
