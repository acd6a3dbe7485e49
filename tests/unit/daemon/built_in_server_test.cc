#include "daemon/built_in_server.h"

#include <gtest/gtest.h>

namespace corral::daemon {
namespace {

// Nothing about it has to be found out, so the first client is answered at once.
TEST(BuiltInServer, IsOneForAllAndNeedsNoProbe) {
  const config::Server server = built_in_server("/run/place");

  EXPECT_EQ(server.name, kBuiltInServer);
  ASSERT_EQ(server.argv.size(), 4U);
  EXPECT_TRUE(server.argv[0].ends_with("/unit_tests")) << server.argv[0];
  EXPECT_EQ(server.argv[1], "mcp");
  EXPECT_EQ(server.argv[2], "--runtime-dir");
  EXPECT_EQ(server.argv[3], "/run/place");
  EXPECT_EQ(server.cwd, "/");
  EXPECT_EQ(server.share, config::Share::Shared);
  EXPECT_TRUE(server.stateless);
  EXPECT_EQ(server.modern, false);
  EXPECT_TRUE(server.built_in);
}

}  // namespace
}  // namespace corral::daemon
