// A server in a container is a child of the container engine's daemon and not of corral. corral marks
// the container and removes it. Shown with a fake engine whose container is a real process, and with
// podman where that runs.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/eventually.h"
#include "support/os_test.h"

namespace corral::os_tests {
namespace {

class Docker : public OsTest {
 protected:
  void SetUp() override {
    std::filesystem::create_symlink(programs().fake_docker, path("docker"));
    Launch launch;
    launch.argv = {programs().fake_docker, "daemon", "--tag=" + engine_.tag()};
    launch.env = environment();
    launch.in = launch.out = Stdio::Null;
    launch.stderr_path = path("daemon");
    daemon_.emplace(launch);
    ASSERT_TRUE(eventually([this] { return access(path("socket").c_str(), F_OK) == 0; })) << file("daemon");
  }

  void TearDown() override {
    if (daemon_ && kill_now(daemon_->pid())) daemon_->wait();
    end_tagged(engine_.tag());
  }

  std::vector<std::string> environment() const {
    const char* const path_before = std::getenv("PATH");
    return {"FAKE_DOCKER_SOCKET=" + path("socket"), "FAKE_DOCKER_LOG=" + path("log"),
            "PATH=" + path("") + ':' + (path_before != nullptr ? path_before : "/usr/bin:/bin")};
  }

  Launch docker(const std::vector<std::string>& arguments, bool through_a_client = false) const {
    std::vector<std::string> command = {"docker"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    Launch launch = through_a_client ? through_client({.command = command}) : corral({.command = command});
    const auto more = environment();
    launch.env.insert(launch.env.end(), more.begin(), more.end());
    return launch;
  }

  bool container_runs() const {
    const auto all = tagged(engine_.tag());
    return std::any_of(all.begin(), all.end(),
                       [](const Process& one) { return one.comm == "fake-container"; });
  }

  bool container_is_removed() const {
    return eventually([this] { return !container_runs(); });
  }

  // Every command line that the fake engine got, in order.
  std::vector<std::string> commands() const {
    std::vector<std::string> lines;
    std::istringstream log(file("log"));
    for (std::string line; std::getline(log, line);) lines.push_back(line);
    return lines;
  }

  bool was_called_with(const std::string& line) const {
    const auto all = commands();
    return std::find(all.begin(), all.end(), line) != all.end();
  }

 private:
  TagGuard engine_;
  std::optional<Session> daemon_;
};

TEST_F(Docker, ContainerIsMarkedAndRemovedWhenTheSessionEnds) {
  Session session(docker({"run", "-i", "image"}));
  const auto id = session.ask("echo");
  ASSERT_TRUE(id) << errors();
  ASSERT_TRUE(eventually([this] { return container_runs(); }));

  session.close_stdin();
  EXPECT_EQ(session.wait(), 0);

  EXPECT_TRUE(container_is_removed());
  const Report result = report();
  const std::string wanted = "run --label corral.instance=" + result.instance + " --cidfile ";
  ASSERT_TRUE(commands()[0].starts_with(wanted)) << commands()[0];
  EXPECT_TRUE(commands()[0].ends_with(" -i image")) << commands()[0];
  EXPECT_TRUE(was_called_with("rm -f " + *id)) << file("log");
  ASSERT_EQ(result.terminators.size(), 1U);
  EXPECT_EQ(result.terminators[0].kind, "container");
  EXPECT_EQ(result.terminators[0].exit, 0);
  const std::string cidfile =
      commands()[0].substr(wanted.size(), commands()[0].rfind(" -i image") - wanted.size());
  EXPECT_NE(access(cidfile.c_str(), F_OK), 0) << "left behind: " << cidfile;
}

TEST_F(Docker, ContainerIsRemovedWhenTheOuterWasKilled) {
  Session client(docker({"run", "-i", "image"}, true));
  ASSERT_TRUE(client.ask("echo")) << errors();
  ASSERT_TRUE(eventually([this] { return container_runs(); }));

  ASSERT_TRUE(kill_now(client.notice("server").value()));

  EXPECT_TRUE(container_is_removed()) << file("log");
}

TEST_F(Docker, ContainerIsRemovedWhenTheKeeperWasKilled) {
  Session client(docker({"run", "-i", "image"}, true));
  ASSERT_TRUE(client.ask("echo")) << errors();
  const auto keeper = find_keeper(tag(), client.notice("server").value());

  ASSERT_TRUE(keeper && kill_now(keeper->pid));

  EXPECT_TRUE(container_is_removed()) << file("log");
}

TEST_F(Docker, ContainerIsRemovedWhenTheClientWasKilled) {
  Session client(docker({"run", "-i", "image"}, true));
  ASSERT_TRUE(client.ask("echo")) << errors();

  ASSERT_TRUE(kill_now(client.pid()));

  EXPECT_TRUE(container_is_removed()) << file("log");
}

// The outer one would give what is left of a gateway half a second; to remove a container takes longer.
TEST_F(Docker, ContainerOfAGatewaysBackendIsRemovedWhenTheGatewayIsKilled) {
  std::filesystem::remove(path("docker"));
  std::ofstream(path("docker")) << "#!/bin/sh\ncase \"$*\" in *rm*) sleep 1.5 ;; esac\nexec "
                                << programs().fake_docker << " \"$@\"\n";
  std::filesystem::permissions(path("docker"), std::filesystem::perms{0755});
  Launch launch = corral(
      {.command = {programs().relay_client, programs().corral, "run", "--", "docker", "run", "-i", "image"}});
  const auto more = environment();
  launch.env.insert(launch.env.end(), more.begin(), more.end());
  Session session(launch);
  const auto id = session.ask("echo");
  ASSERT_TRUE(id) << errors();
  const auto all = processes();
  const auto gateway =
      std::find_if(all.begin(), all.end(), [](const Process& one) { return one.comm == "relay-client"; });
  ASSERT_NE(gateway, all.end());

  ASSERT_TRUE(kill_now(gateway->pid));

  EXPECT_TRUE(session.wait()) << errors();
  EXPECT_FALSE(container_runs()) << file("log");
  EXPECT_TRUE(was_called_with("rm -f " + *id)) << file("log");
  EXPECT_TRUE(all_gone()) << testing::PrintToString(processes());
}

TEST_F(Docker, NothingIsRemovedThatCorralDidNotMark) {
  const std::string foreign(64, 'a');
  std::ofstream(path("cid")) << foreign;
  Session session(docker({"run", "-i", "--cidfile", path("cid"), "image", "--cidfile=" + foreign}));
  session.ask("echo");

  session.close_stdin();
  EXPECT_TRUE(session.wait());

  EXPECT_FALSE(was_called_with("rm -f " + foreign)) << file("log");
}

TEST_F(Docker, GlobalOptionsBeforeRunAreKeptForTheRemoval) {
  Session session(docker({"--context", "elsewhere", "run", "-i", "image"}));
  const auto id = session.ask("echo");
  ASSERT_TRUE(id) << errors();

  session.close_stdin();
  EXPECT_EQ(session.wait(), 0);

  EXPECT_TRUE(container_is_removed());
  EXPECT_TRUE(commands()[0].starts_with("--context elsewhere run --label corral.instance=")) << commands()[0];
  EXPECT_TRUE(was_called_with("--context elsewhere rm -f " + *id)) << file("log");
}

TEST_F(Docker, TheUsersOwnCidfileIsRespected) {
  Session session(docker({"run", "--cidfile", path("theirs"), "-i", "image"}));
  const auto id = session.ask("echo");
  ASSERT_TRUE(id) << errors();

  session.close_stdin();
  EXPECT_EQ(session.wait(), 0);

  EXPECT_TRUE(container_is_removed());
  EXPECT_EQ(commands()[0].find("--cidfile"), commands()[0].rfind("--cidfile")) << commands()[0];
  EXPECT_EQ(file("theirs"), *id);  // not ours to remove
}

TEST_F(Docker, OtherCommandsAreLeftAlone) {
  Session session(docker({"ps", "--filter", "label=run"}));

  EXPECT_EQ(session.wait(), 0) << errors();
  EXPECT_EQ(commands(), std::vector<std::string>{"ps --filter label=run"});
}

// Without corral the same container stays: the engine does not care that its client is gone.
TEST_F(Docker, WithoutCorralTheContainerStays) {
  Launch launch = docker({"run", "-i", "image"});
  launch.argv = {programs().relay_client, "docker", "run", "-i", "image"};
  Session client(launch);
  ASSERT_TRUE(client.ask("echo")) << errors();

  ASSERT_TRUE(kill_now(client.pid()));
  ASSERT_TRUE(all_gone());

  EXPECT_TRUE(eventually([this] { return container_runs(); }));
}

}  // namespace
}  // namespace corral::os_tests
