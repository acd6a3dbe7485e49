// The project of a session: what counts as one, and what stands for it.
#include "shim/root.h"

#include <gtest/gtest.h>

#include "shim/fallback.h"
#include "survey/temp_files.h"

namespace corral::shim {
namespace {

using RootTest = survey::TempFiles;

TEST_F(RootTest, IsTheFolderBehindEveryLink) {
  write("project/file", "x");
  link("link", root() + "/project");

  const Result<std::string> found = find_root(root() + "/link");

  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, root() + "/project");
}

TEST_F(RootTest, MustBeADirectoryThatExists) {
  write("file", "x");

  EXPECT_NE(find_root(root() + "/file").error().message.find("is not a directory"), std::string::npos);
  EXPECT_NE(find_root(root() + "/missing").error().message.find("cannot be found"), std::string::npos);
}

TEST(WithRoot, ReplacesWhatTheClientSays) {
  EXPECT_EQ(with_root({"A=1", "CORRAL_ROOT=/mine"}, "/project"),
            (std::vector<std::string>{"A=1", "CORRAL_ROOT=/project"}));
}

TEST(FallbackRoot, TheServerStartsInTheProject) {
  config::Server server;
  server.name = "files";
  server.argv = {"server", "${CORRAL_ROOT}"};
  server.share = config::Share::Root;
  config::Configuration configuration;
  configuration.servers = {server};
  ConnectOptions options;
  options.root = "/project";

  const Result<proc::LaunchSpec> spec = launch_configured("files", configuration, {}, options);

  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->directory, "/project");
  EXPECT_EQ(spec->argv.back(), "/project");
}

TEST(FallbackSession, DoesNotRunWithoutItsDaemon) {
  ConnectOptions options;
  options.argv = {"/bin/true"};
  options.session = "s-1";

  const Instead instead = find_instead(options);

  EXPECT_FALSE(instead.spec.has_value());
  EXPECT_EQ(instead.exit_code, kNoDaemon);
  EXPECT_NE(instead.refusal.find("session s-1 exists only in the daemon"), std::string::npos);
}

}  // namespace
}  // namespace corral::shim
