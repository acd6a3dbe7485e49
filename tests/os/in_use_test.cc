// Servers that look like orphans by their pipes, and are in use in another way: each was ended once. The last
// tests of each kind take the use away, and then it is ended.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <thread>

#include "base/unique_fd.h"
#include "support/eventually.h"
#include "support/survey_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

class InUse : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    configure_codex(server());
  }
  Said reap() const { return run_corral({"reap", "--orphans", "--match", tag(), "--yes"}); }
  /// A client whose servers inherit this descriptor.
  Launch client_with(int fd) const {
    Launch launch = client("codex", 1, server_line());
    launch.before_exec = [inner = launch.before_exec, fd] {
      inner();
      fcntl(fd, F_SETFD, 0);
    };
    return launch;
  }
  std::string state_of(pid_t server) const { return text_of(entry_of(doctor(), server), "state"); }
  /// The configuration names the server with all its arguments.
  void configure_exactly() const {
    std::string arguments;
    const std::vector<std::string> line = server_line();
    for (std::size_t i = 1; i < line.size(); ++i) arguments += (i == 1 ? "\"" : ", \"") + line[i] + "\"";
    write("home/.codex/config.toml",
          "[mcp_servers.files]\ncommand = \"" + server() + "\"\nargs = [" + arguments + "]\n");
  }
};

// It is configured over stdio, and also runs with --http.
TEST_F(InUse, APortOfAServerWithOtherArgumentsThanConfigured) {
  UniqueFd port(listen_at_any_port());
  ASSERT_TRUE(port.valid());
  Holder dead(client_with(port.get()), 1);
  dead.die();
  port.reset();

  const Said said = reap();

  EXPECT_TRUE(lives(dead.server())) << said.out;
  EXPECT_THAT(said.out, HasSubstr("it waits for connections at TCP port"));
  EXPECT_EQ(state_of(dead.server()), "apart");
}

TEST_F(InUse, AConnectionToThePortOfAConfiguredServer) {
  configure_exactly();
  UniqueFd port(listen_at_any_port());
  ASSERT_TRUE(port.valid());
  Holder dead(client_with(port.get()), 1);
  dead.die();
  UniqueFd user(connect_to(port_of(port.get())));
  ASSERT_TRUE(user.valid());
  port.reset();

  EXPECT_EQ(reap().code, 0);
  EXPECT_TRUE(lives(dead.server()));

  user.reset();
  ASSERT_TRUE(eventually([&] { return state_of(dead.server()) == "orphan"; }))
      << "what a client starts over pipes is its own, although it has a port";
  EXPECT_EQ(reap().code, 0);
  EXPECT_FALSE(lives(dead.server()));
}

// As with `ip netns exec`: no list that we can read shows who is connected there.
TEST_F(InUse, APortInAnotherNetworkNamespace) {
  bool may = false;
  std::thread([&] { may = unshare(CLONE_NEWNET) == 0; }).join();
  if (!may) GTEST_SKIP() << "no network namespace may be made here";
  Launch launch = client("codex", 1, server_line());
  launch.before_exec = [inner = launch.before_exec] {
    if (unshare(CLONE_NEWNET) != 0) _exit(97);
    const int port = socket(AF_INET, SOCK_STREAM, 0);  // its servers inherit it
    if (port < 0 || listen(port, 1) != 0) _exit(98);
    inner();
  };
  Holder dead(launch, 1);
  dead.die();

  const Said said = reap();

  EXPECT_TRUE(lives(dead.server())) << said.out;
  EXPECT_EQ(state_of(dead.server()), "apart");
}

TEST_F(InUse, AUnixSocketOnWhichAHubWaits) {
  UniqueFd hub(listen_at(path("hub")));
  ASSERT_TRUE(hub.valid());
  Holder dead(client_with(hub.get()), 1);
  dead.die();
  hub.reset();

  const Said said = reap();

  EXPECT_TRUE(lives(dead.server())) << said.out;
  EXPECT_THAT(said.out, HasSubstr("waits for connections at the Unix socket"));
}

TEST_F(InUse, AUnixSocketThatConnectsItToALivingProcess) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd user(ends[0]);
  UniqueFd hub(ends[1]);
  Holder dead(client_with(hub.get()), 1);
  dead.die();
  hub.reset();

  const Said said = reap();
  EXPECT_TRUE(lives(dead.server())) << said.out;
  EXPECT_EQ(state_of(dead.server()), "apart");

  user.reset();
  EXPECT_EQ(reap().code, 0);
  EXPECT_FALSE(lives(dead.server())) << "nobody is connected any more";
}

// `printf log | server | claude`: printf is done, and claude waits for what the server makes of it.
TEST_F(InUse, AShellsPipelineIntoAClient) {
  const std::string claude = install(programs().leaky_client, "clients/claude");
  std::string line = "printf log |";
  for (const std::string& word : server_line()) line += " " + word;
  Launch launch;
  launch.argv = {"sh", "-c", line + " | " + claude + " --count=0 -- true; :"};
  launch.in = Stdio::Null;
  Session session(in_this_world(launch));
  ASSERT_TRUE(eventually([&] { return find_server(tag()).has_value(); })) << errors();
  const pid_t server = find_server(tag())->pid;
  ASSERT_TRUE(eventually([&] { return has_entry(doctor(), server); }));

  const Said said = reap();

  EXPECT_TRUE(lives(server)) << said.out;
  EXPECT_EQ(state_of(server), "serving");
  end_tagged(tag());
}

}  // namespace
}  // namespace corral::os_tests
