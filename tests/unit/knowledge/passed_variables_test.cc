#include "knowledge/passed_variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace corral::knowledge {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAreArray;
using Words = std::vector<std::string>;

Words left(Words environment, const Unnoticed& unnoticed, Directory directory, Words argv = {"server"}) {
  proc::LaunchSpec launch;
  launch.argv = std::move(argv);
  launch.environment = std::move(environment);
  withhold_variables(launch, unnoticed, directory);
  return launch.environment;
}

const Unnoticed kReadsOne = {.variables = "FILE NAMES_*", .other_variables = "it reads no other"};

TEST(PassedVariables, OfAnUnknownServerAreAll) {
  const Words all = {"CLAUDE_PROJECT_DIR=/p", "FOO=1", "HOME=/h", "TOKEN=t"};
  EXPECT_EQ(left(all, {}, Directory::Counts), all);
  EXPECT_THAT(left(all, {}, Directory::Ignored), ElementsAre("FOO=1", "HOME=/h", "TOKEN=t"));
}

TEST(PassedVariables, OfAKnownServerAreThoseThatMatter) {
  const Words matter = {"FILE=/f",
                        "NAMES_A=1",
                        "HOME=/h",
                        "PATH=/bin",
                        "LC_TIME=C",
                        "XDG_CONFIG_HOME=/c",
                        "https_proxy=p",
                        "NODE_OPTIONS=--x",
                        "PYTHONPATH=/x",
                        "npm_config_registry=r",
                        "SSL_CERT_FILE=/c",
                        "LD_LIBRARY_PATH=/l",
                        "API_TOKEN=t",
                        "ACCOUNT=sk-abcdefghijklmnop0123456789",
                        "CLAUDE_PROJECT_DIR_TOKEN=t"};
  Words all = matter;
  for (const char* const other : {"FOO=1", "FILES=/f", "NAMES=1", "DISPLAY=:0", "CLAUDE_PROJECT_DIR=/p"})
    all.emplace_back(other);
  EXPECT_THAT(left(all, kReadsOne, Directory::Counts), UnorderedElementsAreArray(matter));
  EXPECT_THAT(left(all, kReadsOne, Directory::Ignored), UnorderedElementsAreArray(matter));
}

TEST(PassedVariables, MayBeNamedInTheCommandLine) {
  const Words all = {"FOO=1", "FOOD=2"};
  EXPECT_THAT(left(all, kReadsOne, Directory::Counts, {"docker", "run", "-e", "FOO"}), ElementsAre("FOO=1"));
  EXPECT_THAT(left(all, kReadsOne, Directory::Counts, {"docker", "run", "-eFOOD"}), ElementsAre());
  EXPECT_THAT(left(all, kReadsOne, Directory::Counts, {"sh", "-c", "x --at=${FOOD}/y"}),
              ElementsAre("FOOD=2"));
}

TEST(PassedVariables, OfEveryRuntimeAreShownToUsersWithTheReason) {
  std::ifstream file(std::string(DOCS_DIR) + "/sharing.md");
  std::stringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  for (const RuntimeVariables& group : runtime_variables()) {
    std::istringstream in{std::string(group.names)};
    std::string row;
    for (std::string name; in >> name;) row.append(row.empty() ? "| `" : ", `").append(name).append("`");
    row.append(" | ").append(group.why).append(" |");
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace corral::knowledge
