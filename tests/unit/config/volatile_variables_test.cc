#include "config/volatile_variables.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "base/secrets.h"

namespace corral::config {
namespace {

std::string page() {
  std::ifstream file(std::string(DOCS_DIR) + "/sharing.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "A B*" → "`A`, `B*`".
std::string as_in_table(std::string_view names) {
  std::istringstream in{std::string(names)};
  std::string shown;
  for (std::string name; in >> name;) shown.append(shown.empty() ? "`" : ", `").append(name).append("`");
  return shown;
}

TEST(VolatileVariables, AreShownToUsersWithTheReason) {
  const std::string text = page();
  for (const VolatileVariables& group : volatile_variables()) {
    const std::string row = "| " + as_in_table(group.names) + " | " + std::string(group.why) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
  for (const ProjectVariable& variable : project_variables()) {
    const std::string row = "| " + as_in_table(variable.name) + " | " + std::string(variable.evidence) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(VolatileVariables, AreEachThereOnce) {
  std::set<std::string> names;
  for (const VolatileVariables& group : volatile_variables()) {
    std::istringstream in{std::string(group.names)};
    for (std::string name; in >> name;) EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_GE(group.why.size(), 15U) << group.names;
  }
  for (const ProjectVariable& variable : project_variables()) EXPECT_FALSE(is_volatile(variable.name));
}

TEST(VolatileVariables, DoNotIncludeCredentialsByTheirBeginning) {
  for (const VolatileVariables& group : volatile_variables()) {
    std::istringstream in{std::string(group.names)};
    for (std::string name; in >> name;) {
      if (!name.ends_with('*')) continue;
      name.pop_back();
      EXPECT_TRUE(is_volatile(name + "X")) << name;
      EXPECT_FALSE(is_volatile(name + "_API_TOKEN")) << name;
    }
  }
}

TEST(ProjectVariables, AreOnlyWholeNames) {
  EXPECT_TRUE(names_project("CLAUDE_PROJECT_DIR"));
  EXPECT_FALSE(names_project("CLAUDE_PROJECT_DIRS"));
  EXPECT_FALSE(names_project("PROJECT_DIR"));
}

}  // namespace
}  // namespace corral::config
