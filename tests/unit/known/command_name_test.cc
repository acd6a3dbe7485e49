// What corral calls a command that has no name in a configuration.
#include "known/command_name.h"

#include <gtest/gtest.h>

#include "survey/temp_files.h"

namespace corral::known {
namespace {

using Words = std::vector<std::string>;

class CommandNames : public survey::TempFiles {
 protected:
  std::string name(const Words& argv) const { return command_name(argv, root(), "/usr/bin:/bin").name; }
  std::string identity(const Words& argv) const {
    return command_name(argv, root(), "/usr/bin:/bin").identity;
  }
};

TEST_F(CommandNames, AreThoseOfThePackage) {
  EXPECT_EQ(name({"npx", "-y", "some-server"}), "some-server");
  EXPECT_EQ(name({"npx", "-y", "@modelcontextprotocol/server-memory@2026.8.31"}), "server-memory");
  EXPECT_EQ(name({"npx", "-y", "@sentry/mcp-server"}), "sentry-mcp-server");
  EXPECT_EQ(name({"npx", "@playwright/mcp@latest", "--headless"}), "playwright-mcp");
  EXPECT_EQ(name({"pnpm", "dlx", "exa-mcp-server"}), "exa-mcp-server");
  EXPECT_EQ(name({"uvx", "mcp-server-git", "--repository", "/srv"}), "mcp-server-git");
  EXPECT_EQ(name({"docker", "run", "-i", "--rm", "ghcr.io/github/github-mcp-server:v1"}),
            "github-mcp-server");
  EXPECT_EQ(name({"sh", "-c", "npx -y some-server"}), "some-server");
}

TEST_F(CommandNames, AreThoseOfTheScriptOrOfItsProject) {
  write("weather.py", "");
  write("notes/dist/index.js", "");
  write("tasks/server.js", "");
  EXPECT_EQ(name({"python3", root() + "/weather.py"}), "weather.py");
  EXPECT_EQ(name({"python3", "weather.py"}), "weather.py");
  EXPECT_EQ(name({"node", root() + "/notes/dist/index.js"}), "notes");
  EXPECT_EQ(name({"node", "tasks/server.js"}), "tasks");
}

TEST_F(CommandNames, OfAProgramIsItsFile) {
  EXPECT_EQ(name({"/opt/bin/my-server", "--stdio"}), "my-server");
  EXPECT_EQ(name({"nosuchcmd"}), "nosuchcmd");
}

TEST_F(CommandNames, AreFitForTablesAndMetrics) {
  EXPECT_EQ(name({"/opt/my server\n"}), "my-server");
  EXPECT_EQ(name({"/opt/corral-server/corral"}), "corral-command");
  EXPECT_EQ(name({"/opt/" + std::string(100, 'x')}), std::string(64, 'x'));
  EXPECT_EQ(name({"/opt/.."}), "command");
}

TEST_F(CommandNames, TellProgramsApartThatHaveTheSameName) {
  write("one/server.py", "");
  write("two/one/server.py", "");
  const Words first{"python3", root() + "/one/server.py"};
  const Words second{"python3", root() + "/two/one/server.py"};
  EXPECT_EQ(name(first), name(second));
  EXPECT_NE(identity(first), identity(second));
  EXPECT_EQ(identity(first), identity({"python3", root() + "/one/server.py", "--fast"}));
  EXPECT_NE(identity({"a b"}), identity({"a", "b"}));
}

TEST(ChosenName, IsShortAndPlain) {
  EXPECT_EQ(objection_to_name("files"), "");
  EXPECT_EQ(objection_to_name("my_files-2.0"), "");
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a/b"), std::string("-x"),
                                  std::string(".x"), std::string(65, 'x'), std::string("ä")})
    EXPECT_NE(objection_to_name(name), "") << name;
  EXPECT_NE(objection_to_name("corral"), "");
}

}  // namespace
}  // namespace corral::known
