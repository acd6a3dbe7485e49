// Which windows of one user share a process: a table of what people's windows differ in, and the hints.
// random_windows_test.cc has the same rule as a property.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "daemon/separation.h"
#include "daemon/windows_desk.h"
#include "proc/command_lookup.h"

namespace corral::daemon {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// ---- the table

struct Row {
  const char* what;
  Words argv;
  const char* shared;  // "one": one process for five windows, "five"
  const char* differs = "";
  Words ignore = {};
  const char* varies = "";  // a variable that has another value in each window
};

const std::vector<Row> kRows = {
    {"memory", {"npx", "-y", kMemory}, "one"},
    {"everything", {"npx", "-y", kEverything}, "one"},
    {"files with a directory", {"npx", "-y", kFiles, "/srv"}, "one"},
    {"files below a shell", {"sh", "-c", "npx -y " + kFiles + " /srv"}, "one"},
    {"files here", {"npx", "-y", kFiles, "."}, "five", "the directory"},
    {"files in a directory here", {"npx", "-y", kFiles, "./x"}, "five", "the directory"},
    {"files here, below a shell", {"sh", "-c", "npx -y " + kFiles + " ."}, "five", "the directory"},
    {"files in the project that the client names",
     {"sh", "-c", "npx -y " + kFiles + " $CLAUDE_PROJECT_DIR"},
     "five",
     "the directory",
     {"cwd", "PATH"}},
    {"context7", {"npx", "-y", "@upstash/context7-mcp"}, "one"},
    {"notion", {"npx", "-y", "@notionhq/notion-mcp-server"}, "one"},
    {"exa", {"npx", "-y", "exa-mcp-server"}, "one"},
    {"tavily reads .env", {"npx", "-y", "tavily-mcp"}, "five", "the directory"},
    {"sentry may start a browser", {"npx", "-y", "@sentry/mcp-server"}, "five", "PATH"},
    {"time", {"uvx", "mcp-server-time"}, "one"},
    {"fetch", {"uv", "tool", "run", "mcp-server-fetch"}, "one"},
    {"git resolves relative paths", {"uvx", "mcp-server-git"}, "five", "the directory"},
    {"a module is looked for here", {"python3", "-m", "mcp_server_time"}, "five", "the directory"},
    {"a package is looked for here", {"pipx", "run", "mcp-server-fetch"}, "five", "the directory"},
    {"a container", {"docker", "run", "-i", "--rm", "mcp/time"}, "one"},
    {"a container with a volume", {"docker", "run", "-v", "/srv:/srv", "mcp/fetch"}, "five", "the directory"},
    {"a container with a mount",
     {"docker", "run", "-i", "--mount=type=bind,src=/srv,dst=/srv", "mcp/fetch"},
     "five",
     "the directory"},
    {"an unknown server", {"/opt/server"}, "five", "the directory"},
    {"a declared server", {"/opt/server"}, "one", "", {"cwd", "PATH"}},
    {"a declared server without PATH", {"/opt/server"}, "five", "PATH", {"cwd"}},
    {"a declared server with a path", {"/opt/server", "--at=./x"}, "five", "the directory", {"cwd", "PATH"}},
    // variables
    {"memory, another theme", {"npx", "-y", kMemory}, "one", "", {}, "THEME"},
    {"memory, another file", {"npx", "-y", kMemory}, "five", "MEMORY_FILE_PATH", {}, "MEMORY_FILE_PATH"},
    {"memory, another Node.js", {"npx", "-y", kMemory}, "five", "NODE_OPTIONS", {}, "NODE_OPTIONS"},
    {"memory, another proxy", {"npx", "-y", kMemory}, "five", "HTTPS_PROXY", {}, "HTTPS_PROXY"},
    {"memory, other settings", {"npx", "-y", kMemory}, "five", "XDG_CONFIG_HOME", {}, "XDG_CONFIG_HOME"},
    {"memory, a client's folder", {"npx", "-y", kMemory}, "one", "", {}, "WORKSPACE_FOLDER_PATHS"},
    {"everything shows all", {"npx", "-y", kEverything}, "five", "THEME", {}, "THEME"},
    {"slack, another team",
     {"npx", "-y", "@modelcontextprotocol/server-slack"},
     "five",
     "SLACK_TEAM_ID",
     {},
     "SLACK_TEAM_ID"},
    {"a container, another theme", {"docker", "run", "-i", "mcp/time"}, "one", "", {}, "THEME"},
    {"a container with a theme", {"docker", "run", "-e", "THEME", "mcp/time"}, "five", "THEME", {}, "THEME"},
    {"a container with everything",
     {"podman", "run", "--env-host", "mcp/time"},
     "five",
     "THEME",
     {"cwd", "PATH"},
     "THEME"},
    {"an unknown server, another theme", {"/opt/server"}, "five", "THEME", {"cwd", "PATH"}, "THEME"},
    {"an unknown server in VS Code", {"/opt/server"}, "one", "", {"cwd", "PATH"}, "VSCODE_IPC_HOOK_CLI"},
};

Variables desk_of(int window, const std::string& home) {
  const std::string number = std::to_string(window);
  return {{"HOME", home},
          {"PATH", "/opt/tools-" + number + "/bin:/usr/bin:/bin:"},
          {"EDITOR", "editor-" + number},
          {"TERM", "xterm-" + number},
          {"PS1", number + "> "},
          {"HISTFILE", "/history-" + number},
          {"SHLVL", number},
          {"TERM_SESSION_ID", "session-" + number},
          {"CLAUDE_PROJECT_DIR", home + "/project" + number},
          {"CLAUDE_EFFORT", "effort-" + number},
          {"POSH_PID", number},
          {"ZDOTDIR", "/zsh-" + number}};
}

TEST_F(Windows, FiveOfThemShareWhatCannotTellThemApart) {
  for (const Row& row : kRows) {
    std::set<std::string> keys;
    std::vector<pool::ServerSpec> specs;
    for (int window = 0; window < 5; ++window) {
      const std::string number = std::to_string(window);
      write("home/project" + number + "/x/y", "");
      Origin origin;
      origin.server = "server";
      origin.argv = row.argv;
      origin.cwd = at("home/project" + number);
      Variables variables = desk_of(window, at("home"));
      if (row.varies[0] != '\0') variables[row.varies] = "/of/window-" + number;
      origin.environment = environment_of(variables);
      origin.ignore = row.ignore;
      specs.push_back(*resolve(origin, {}));
      keys.insert(specs.back().key);
    }
    EXPECT_EQ(keys.size(), std::string(row.shared) == "one" ? 1U : 5U) << row.what;
    const Words differs = separation_of(specs[0], specs[1]).differs;
    if (row.differs[0] != '\0') {
      EXPECT_THAT(differs, testing::Contains(row.differs)) << row.what;
    } else {
      EXPECT_THAT(differs, IsEmpty()) << row.what;
    }
  }
}

TEST_F(Windows, OfAnEntryAreApartByWhatItsOwnVariablesSay) {
  std::set<std::string> keys;
  config::Configuration configuration;
  config::Server server;
  server.name = "memory";
  server.argv = {"npx", "-y", kMemory};
  server.env = {{"THEME", "${CLAUDE_PROJECT_DIR}"}, {"CLAUDE_PROJECT_DIR", "${THEME:-x}"}};
  configuration.servers = {server};
  for (int window = 0; window < 5; ++window) {
    Origin origin;
    origin.server = "memory";
    origin.cwd = at("home/p0");
    origin.environment = environment_of(desk_of(window, at("home")));
    const pool::ServerSpec spec = *resolve(origin, configuration);
    keys.insert(spec.key);
    EXPECT_EQ(proc::environment_value(spec.launch.environment, "THEME"),
              at("home/project" + std::to_string(window)));
    EXPECT_EQ(proc::environment_value(spec.launch.environment, "CLAUDE_PROJECT_DIR"), "x");
  }
  EXPECT_EQ(keys.size(), 5U);
}

TEST_F(Windows, OneWithATokenOfItsOwnHasAProcessOfItsOwn) {
  for (const Row& row : kRows) {
    Origin origin;
    origin.server = "server";
    origin.argv = row.argv;
    origin.cwd = at("home/p0");
    Variables variables = desk_of(1, at("home"));
    origin.ignore = row.ignore;
    origin.environment = environment_of(variables);
    const pool::ServerSpec one = *resolve(origin, {});
    variables["SERVICE_TOKEN"] = "of this window";
    origin.environment = environment_of(variables);
    const pool::ServerSpec other = *resolve(origin, {});

    EXPECT_NE(one.key, other.key) << row.what;
    EXPECT_EQ(separation_of(one, other).differs, Words{"SERVICE_TOKEN"}) << row.what;
    EXPECT_EQ(separation_of(one, other).hint, "processes with different credentials are never shared");
  }
}

// ---- the hints

TEST_F(Windows, AreToldWhatWouldMakeThemOne) {
  Origin one;
  one.server = "tool";
  one.argv = {"/opt/server"};
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}, {"THEME", "dark"}});
  Origin other = one;
  other.cwd = at("home/p1");
  other.environment = environment_of({{"HOME", at("home")}, {"PATH", "/usr/bin"}, {"THEME", "light"}});
  const auto hint = [](const Origin& a, const Origin& b) {
    return separation_of(*resolve(a, {}), *resolve(b, {})).hint;
  };
  EXPECT_EQ(hint(one, other),
            "to share it: corral connect --ignore cwd --ignore PATH --ignore THEME -- COMMAND");

  one.argv = other.argv = {"/opt/server", "."};
  EXPECT_THAT(hint(one, other), HasSubstr("with absolute paths it could be shared"));

  other.argv = {"/opt/server", "--other"};
  EXPECT_EQ(hint(one, other), "") << "they are not the same server at all";
}

TEST_F(Windows, WithPrivateProcessesAreToldWhatElseMustBeIgnored) {
  const std::string hint = "to share it: corral connect --share shared -- COMMAND";
  Origin one;
  one.server = "tool";
  one.argv = {"/opt/server"};
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}});
  Origin other = one;
  const auto both = [&] { return hint_for_both(hint, *resolve(one, {}), *resolve(other, {})); };
  EXPECT_EQ(both(), hint) << "they differ in nothing";

  other.cwd = at("home/p1");
  EXPECT_EQ(both(), "to share it: corral connect --share shared --ignore cwd -- COMMAND");
  other.environment =
      environment_of({{"HOME", at("home")}, {"PATH", "/usr/bin"}, {"CLAUDE_PROJECT_DIR", at("home/p1")}});
  EXPECT_EQ(both(), "to share it: corral connect --share shared --ignore cwd --ignore PATH -- COMMAND");
  other.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}, {"API_TOKEN", "t"}});
  EXPECT_EQ(both(), hint) << "that would not help";

  config::Configuration configuration;
  config::Server server;
  server.name = "tool";
  server.argv = {"/opt/server"};
  configuration.servers = {server};
  one.argv = other.argv = {};
  EXPECT_EQ(hint_for_both(R"(to share it: "corral": {"share": "shared"} in the entry "tool")",
                          *resolve(one, configuration), *resolve(other, configuration)),
            R"(to share it: "corral": {"share": "shared", "ignore": ["cwd"]} in the entry "tool")");
}

TEST_F(Windows, OfAConfiguredServerAreToldTheLineOfItsEntry) {
  config::Configuration configuration;
  config::Server server;
  server.name = "files";
  server.argv = {"/opt/server"};
  server.ignore = {"LANG"};
  configuration.servers = {server};
  Origin one;
  one.server = "files";
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}});
  Origin other = one;
  other.cwd = at("home/p1");

  EXPECT_EQ(separation_of(*resolve(one, configuration), *resolve(other, configuration)).hint,
            R"(to share it: "corral": {"ignore": ["LANG", "cwd"]} in the entry "files")");
}

TEST_F(Windows, OfTwoTokensNeverShare) {
  Origin one;
  one.server = "tool";
  one.argv = {"npx", "-y", kMemory};
  one.cwd = at("home/p0");
  one.environment = environment_of({{"HOME", at("home")}, {"PATH", "/bin"}});
  Origin other = one;
  other.principal = "ci";

  const Separation separation = separation_of(*resolve(one, {}), *resolve(other, {}));

  EXPECT_EQ(separation.differs, Words{"the access token"});
  EXPECT_THAT(separation.hint, HasSubstr("never shared"));
}

TEST(Separation, IsSaidInOneSentence) {
  EXPECT_EQ(show_separation({}, 7), "");
  EXPECT_EQ(show_separation({"PATH"}, 1040), "separate from process 1040: PATH differs");
  EXPECT_EQ(show_separation({"the limits"}, 7), "separate from process 7: the limits differ");
  EXPECT_EQ(show_separation({"A", "B"}, 7), "separate from process 7: A and B differ");
  EXPECT_EQ(show_separation({"A", "B", "C", "D", "E", "F", "G"}, 7),
            "separate from process 7: A, B, C, D, E and 2 more differ");
}

}  // namespace
}  // namespace corral::daemon
