// How the shim starts a configured server itself, and what it leaves behind for a daemon.
#include "shim/fallback.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "shim/daemon_process.h"

namespace corral::shim {
namespace {

config::Configuration two_servers() {
  config::Configuration configuration;
  configuration.file = "/etc/config.json";
  config::Server files;
  files.name = "filesystem";
  files.argv = {"npx", "${ROOT}"};
  files.env = {{"TOKEN", "secret"}, {"PATH", "/opt"}};
  files.cwd = "/srv";
  files.limits.processes = 7;
  config::Server memory;
  memory.name = "memory";
  memory.argv = {"node"};
  memory.disabled = true;
  configuration.servers = {files, memory};
  return configuration;
}

TEST(Fallback, StartsTheServerAsConfigured) {
  const Result<proc::LaunchSpec> spec =
      launch_configured("filesystem", two_servers(), {"ROOT=/data", "PATH=/bin", "HOME=/h", "API_KEY=1"});

  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->argv, (std::vector<std::string>{"npx", "/data"}));
  EXPECT_EQ(spec->environment, (std::vector<std::string>{"HOME=/h", "PATH=/opt", "TOKEN=secret"}));
  EXPECT_EQ(spec->directory, "/srv");
  EXPECT_EQ(spec->limits.processes, 7U);
}

TEST(Fallback, StartsAServerForARootInThatRootUnlessItHasAFolderOfItsOwn) {
  config::Configuration configuration = two_servers();
  const auto folder = [&](const std::string& share, config::Share configured, const std::string& cwd) {
    configuration.servers[0].share = configured;
    configuration.servers[0].cwd = cwd;
    ConnectOptions options;
    options.share = share;
    options.root = "/project";
    return launch_configured("filesystem", configuration, {"ROOT=/data"}, options)->directory;
  };
  EXPECT_EQ(folder("root", config::Share::Session, ""), "/project");
  EXPECT_EQ(folder("", config::Share::Root, ""), "/project");
  EXPECT_EQ(folder("", config::Share::Session, ""), "");
  EXPECT_EQ(folder("session", config::Share::Root, ""), "");
  EXPECT_EQ(folder("root", config::Share::Root, "/srv"), "/srv");
}

TEST(Fallback, AListOfToolsNeedsTheDaemonUnlessItNamesAll) {
  config::Server entry;
  EXPECT_FALSE(needs_daemon(entry));
  entry.tools = std::vector<std::string>{"read_*"};
  EXPECT_TRUE(needs_daemon(entry));
  entry.tools = std::vector<std::string>{"read_*", "*"};
  EXPECT_FALSE(needs_daemon(entry));
  entry.deny = {"delete_*"};
  EXPECT_TRUE(needs_daemon(entry)) << "a list of denied tools as well";
  entry.deny.clear();
  entry.tools = std::vector<std::string>{};
  EXPECT_TRUE(needs_daemon(entry)) << "so does a list that allows none";
}

TEST(Fallback, NamesTheNearestServerAndAllOthers) {
  const Result<proc::LaunchSpec> spec = launch_configured("filesytem", two_servers(), {});

  ASSERT_FALSE(spec);
  EXPECT_NE(spec.error().message.find("did you mean filesystem"), std::string::npos) << spec.error().message;
  EXPECT_NE(spec.error().message.find("filesystem, memory"), std::string::npos) << spec.error().message;
}

TEST(Fallback, ADisabledServerDoesNotStart) { EXPECT_FALSE(launch_configured("memory", two_servers(), {})); }

TEST(Fallback, AMissingVariableIsAnErrorWithoutAnyValue) {
  const Result<proc::LaunchSpec> spec = launch_configured("filesystem", two_servers(), {"PATH=/bin"});

  ASSERT_FALSE(spec);
  EXPECT_NE(spec.error().message.find("ROOT"), std::string::npos) << spec.error().message;
  EXPECT_EQ(spec.error().message.find("secret"), std::string::npos) << spec.error().message;
}

TEST(DaemonEnvironment, HoldsNothingOfOneSession) {
  for (const char* kept : {"HOME=/root", "PATH=/bin", "LC_ALL=C", "XDG_RUNTIME_DIR=/run", "TZ=UTC"}) {
    EXPECT_TRUE(is_for_daemon(kept)) << kept;
  }
  for (const char* dropped : {"API_KEY=x", "PWD=/", "SSH_AUTH_SOCK=/x", "HOMEDIR=/", "LD_PRELOAD=x.so",
                              "NODE_OPTIONS=x", "XDG_SESSION_ID=2", "XDG_ACTIVATION_TOKEN=x", "junk", ""}) {
    EXPECT_FALSE(is_for_daemon(dropped)) << dropped;
  }
}

}  // namespace
}  // namespace corral::shim
