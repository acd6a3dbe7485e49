#include "knowledge/known_servers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "survey/temp_files.h"

namespace corral::knowledge {
namespace {

using Words = std::vector<std::string>;

std::string found(const Words& argv, const std::string& directory = "", const std::string& path = "") {
  const KnownServer* server = find_known_server(argv, directory, path);
  return server == nullptr ? "unknown" : std::string(server->package);
}

/// "npm:@x/files" → "@x/files".
std::string bare(std::string_view package) { return std::string(package.substr(package.find(':') + 1)); }

TEST(KnownServers, AreEnoughAndEachHasItsEvidence) {
  std::set<std::string_view> packages;
  int not_shareable = 0;
  for (const KnownServer& server : known_servers()) {
    EXPECT_TRUE(packages.insert(server.package).second) << server.package;
    EXPECT_GE(server.evidence.size(), 20U) << server.package;
    EXPECT_FALSE(server.evidence.ends_with('.')) << server.package;
    EXPECT_EQ(server.evidence.find('\n'), std::string_view::npos) << server.package;
    not_shareable += server.shareable ? 0 : 1;
  }

  EXPECT_GE(packages.size(), 24U);
  EXPECT_GE(not_shareable, 5);
}

// A change to the verdict on a server must be made here too.
TEST(KnownServers, AreNotSharedIfTheyKeepState) {
  std::set<std::string_view> kept_private;
  for (const KnownServer& server : known_servers()) {
    if (!server.shareable) kept_private.insert(server.package);
  }
  const std::set<std::string_view> expected = {
      "npm:@modelcontextprotocol/server-everything",
      "npm:@modelcontextprotocol/server-puppeteer",
      "npm:@modelcontextprotocol/server-sequential-thinking",
      "npm:@playwright/mcp",
      "npm:@wonderwhy-er/desktop-commander",
      "npm:chrome-devtools-mcp",
      "pypi:mcp-server-sqlite",
      "pypi:serena-agent",
      "docker:mcp/puppeteer",
      "docker:mcp/sequentialthinking",
      "docker:mcp/sqlite",
  };
  EXPECT_EQ(kept_private, expected);
  EXPECT_EQ(known_servers().size(), 38U);
}

std::string section_of_page() {
  std::ifstream file(std::string(DOCS_DIR) + "/sharing.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string page = text.str();
  const std::size_t begin = page.find("## What known servers do not notice");
  return begin == std::string::npos ? "" : page.substr(begin, page.find("\n## ", begin) - begin);
}

/// The line of the table that has the package.
std::string row_of(const std::string& section, std::string_view package) {
  const std::size_t at = section.find("`" + bare(package) + "`");
  if (at == std::string::npos) return {};
  const std::size_t begin = section.rfind('\n', at) + 1;
  return section.substr(begin, section.find('\n', at) - begin);
}

// A row says this of the source that was read, so each fact is on the page for users, too.
TEST(KnownServers, AreShownToUsersWithWhatTheyDoNotNoticeAndTheEvidence) {
  const std::string section = section_of_page();
  ASSERT_FALSE(section.empty());
  for (const KnownServer& server : known_servers()) {
    const Unnoticed& facts = server.unnoticed;
    if (facts.version.empty()) {
      EXPECT_TRUE(facts.directory.empty() && facts.path.empty() && facts.other_variables.empty())
          << server.package << ": which version was read?";
      continue;
    }
    const std::string row = row_of(section, server.package);
    std::istringstream variables{std::string(facts.variables)};
    std::string names;
    for (std::string name; variables >> name;)
      names.append(names.empty() ? "`" : ", `").append(name).append("`");
    if (names.empty()) names = facts.other_variables.empty() ? "any" : "none";
    const std::string shown = " | " + std::string(facts.version) + " | " + std::string(facts.directory) +
                              " | " + std::string(facts.path) + " | " + names + " | " +
                              std::string(facts.other_variables) + " |";
    EXPECT_TRUE(row.ends_with(shown)) << server.package << ": " << row << "\nshould end: " << shown;
  }
}

// A change to what is claimed of a server must be made here too.
TEST(KnownServers, NoticeOnlyWhatTheirSourcesShow) {
  std::map<std::string, std::string> unnoticed;
  for (const KnownServer& server : known_servers()) {
    const Unnoticed& facts = server.unnoticed;
    const std::string what = std::string(facts.directory.empty() ? "" : "cwd ") +
                             (facts.path.empty() ? "" : "PATH ") +
                             (facts.other_variables.empty() ? "" : "variables");
    if (!what.empty()) unnoticed[bare(server.package)] = what;
  }
  const std::string all = "cwd PATH variables";
  const std::map<std::string, std::string> expected = {
      {"@brave/brave-search-mcp-server", "PATH variables"},
      {"@modelcontextprotocol/server-brave-search", all},
      {"@modelcontextprotocol/server-everything", "cwd PATH "},
      {"@modelcontextprotocol/server-filesystem", all},
      {"@modelcontextprotocol/server-github", all},
      {"@modelcontextprotocol/server-gitlab", all},
      {"@modelcontextprotocol/server-google-maps", all},
      {"@modelcontextprotocol/server-memory", all},
      {"@modelcontextprotocol/server-postgres", "PATH variables"},
      {"@modelcontextprotocol/server-redis", all},
      {"@modelcontextprotocol/server-slack", all},
      {"@notionhq/notion-mcp-server", all},
      {"@upstash/context7-mcp", all},
      {"exa-mcp-server", all},
      {"mcp-server-fetch", all},
      {"mcp-server-time", all},
      {"mcp/brave-search", all},
      {"mcp/fetch", all},
      {"mcp/time", all},
      {"tavily-mcp", "PATH variables"},
  };
  EXPECT_EQ(unnoticed, expected);
}

TEST(KnownServers, NoticeMoreIfTheirLauncherLetsThem) {
  const auto directory = [](const Words& argv) {
    return !unnoticed_by(find_known_server(argv, "/nowhere"), argv).directory.empty();
  };
  EXPECT_TRUE(directory({"uvx", "mcp-server-time"}));
  EXPECT_FALSE(directory({"pipx", "run", "mcp-server-time"}));
  EXPECT_FALSE(directory({"python3", "-m", "mcp_server_time"}));
  EXPECT_TRUE(directory({"docker", "run", "-i", "--rm", "-e", "A", "mcp/time"}));
  for (const char* const option : {"-v", "-itv", "-v=/a:/b", "--volume=/a:/b", "--volumes-from=x", "--mount",
                                   "--env-host", "--env-file=x", "--device=/dev/x", "--env=A*"}) {
    const Words argv = {"docker", "run", "-i", option, "/a", "mcp/time"};
    EXPECT_EQ(unnoticed_by(find_known_server(argv), argv).path, "") << option;
    EXPECT_FALSE(directory(argv)) << option;
  }
  EXPECT_FALSE(directory({"/opt/server"}));
}

TEST(KnownServers, AreEachFoundByTheUsualCommand) {
  for (const KnownServer& server : known_servers()) {
    const std::string name = bare(server.package);
    Words argv;
    if (server.package.starts_with("npm:")) argv = {"npx", "-y", name + "@latest", "argument"};
    if (server.package.starts_with("pypi:")) argv = {"uvx", name, "argument"};
    if (server.package.starts_with("docker:")) argv = {"docker", "run", "-i", "--rm", name, "argument"};

    EXPECT_EQ(find_known_server(argv), &server) << server.package;
  }
}

TEST(KnownServers, AreFoundThroughEveryLauncher) {
  const std::string memory = "npm:@modelcontextprotocol/server-memory";
  const std::string package = bare(memory);
  const std::vector<Words> commands = {
      {"npx", package},
      {"/usr/local/bin/npx", "--yes", package + "@2025.4.25"},
      {"npm", "exec", "--yes", package},
      {"pnpm", "dlx", package},
      {"bunx", package},
      {"bun", "x", package},
      {"yarn", "dlx", package},
      {"npx", "-y", "-p", package, "mcp-server-memory"},
      {"env", "A=1", "npx", "-y", package},
      {"sh", "-c", "npx -y " + package},
      {"bash", "-lc", "exec npx -y " + package},
      {"node", "/x/node_modules/" + package + "/dist/index.js"},
      {"deno", "run", "-A", "npm:" + package},
  };
  for (const Words& command : commands) EXPECT_EQ(found(command), memory) << command.front();

  EXPECT_EQ(found({"uv", "tool", "run", "mcp-server-time"}), "pypi:mcp-server-time");
  EXPECT_EQ(found({"uvx", "--from", "mcp-server-git==1.0", "mcp-server-git", "-r", "."}),
            "pypi:mcp-server-git");
  EXPECT_EQ(found({"uvx", "MCP_Server_Time@latest"}), "pypi:mcp-server-time");
  EXPECT_EQ(found({"pipx", "run", "mcp-server-fetch"}), "pypi:mcp-server-fetch");
  EXPECT_EQ(found({"uvx", "awslabs.aws-documentation-mcp-server@latest"}),
            "pypi:awslabs-aws-documentation-mcp-server");
  EXPECT_EQ(found({"python3", "-m", "mcp_server_time"}, "/nowhere"), "pypi:mcp-server-time");
  EXPECT_EQ(found({"docker", "run", "-i", "-e", "PROXY=http://u:p@h", "mcp/fetch:latest"}),
            "docker:mcp/fetch");
}

TEST(KnownServers, AreOnlyWhatTheRegistryHas) {
  const std::string memory = "@modelcontextprotocol/server-memory";
  const std::vector<Words> commands = {
      {},
      {""},
      {"npx"},
      {"npx", "-y", "some-server"},
      {"npx", "-y", "server-memory"},
      {"npx", "-y", "mcp-server-time"},  // of that name there is one on PyPI
      {"uvx", "tavily-mcp"},
      {"npx", "-y", memory + "@file:../fork"},
      {"npx", "-y", memory + "@npm:other"},
      {"npx", "-y", "https://example.org/server-memory.tgz"},
      {"npx", "-y", "github:somebody/server-memory"},
      {"npx", "--registry", "https://example.org", "-y", memory},
      {"npx", "-y", "-p", memory, "other-command"},
      {"uvx", "--from", "git+https://example.org/fork", "mcp-server-git"},
      {"uvx", "--from", "./fork", "mcp-server-git"},
      {"uvx", "--from=/srv/fork", "mcp-server-git"},
      {"uvx", "--from", "fork/mcp-server-git", "mcp-server-git"},
      {"pipx", "run", "--spec", "./fork", "mcp-server-git"},
      {"pipx", "run", "--spec=fork", "mcp-server-git"},
      {"uvx", "--from", "mcp-server-git", "python", "server.py"},
      {"uvx", "--with-editable", ".", "mcp-server-git"},
      {"uv", "run", "mcp-server-git"},
      {"uv", "--directory", "/srv/fork", "run", "mcp-server-git"},
      {"docker", "run", "-i", "--entrypoint", "sh", "mcp/time"},
      {"docker", "run", "-i", "example.org/mcp/time"},
      {"docker", "run", "-i", "--rm", "mcp/memory"},  // its file is in the container, so of one session
      {"sh", "-c", "npx -y " + memory + "; other"},
      {"sh", "-c", "cd /srv && npx -y " + memory},
      {"sh", "-c"},
      {"sh"},
      {"python3", "-m", "mcp_server_time"},  // the directory is not known: it may have one of that name
      {"mcp-server-time"},
      {"echo", memory},
  };
  for (const Words& command : commands) {
    EXPECT_EQ(found(command), "unknown") << ::testing::PrintToString(command);
  }
}

TEST(KnownServers, FilesystemIsShareableOnlyWithItsFolders) {
  const std::string package = "@modelcontextprotocol/server-filesystem";

  const KnownServer* with = find_known_server({"npx", "-y", package, "/srv"});
  const KnownServer* without = find_known_server({"npx", "-y", package});

  ASSERT_NE(with, nullptr);
  EXPECT_TRUE(with->shareable);
  ASSERT_NE(without, nullptr);
  EXPECT_FALSE(without->shareable);
  EXPECT_NE(without->evidence.find("roots"), std::string_view::npos);
}

TEST(KnownServers, KeepThoseWithStatePrivate) {
  const std::vector<Words> commands = {
      {"npx", "@playwright/mcp@latest", "--headless"},
      {"npx", "-y", "chrome-devtools-mcp@latest"},
      {"npx", "-y", "@modelcontextprotocol/server-everything"},
      {"npx", "-y", "@modelcontextprotocol/server-sequential-thinking"},
      {"npx", "-y", "@modelcontextprotocol/server-puppeteer"},
      {"npx", "-y", "@wonderwhy-er/desktop-commander@latest"},
      {"uvx", "mcp-server-sqlite", "--db-path", "x.db"},
  };
  for (const Words& command : commands) {
    const KnownServer* server = find_known_server(command);
    ASSERT_NE(server, nullptr) << ::testing::PrintToString(command);
    EXPECT_FALSE(server->shareable) << server->package;
  }
}

class InstalledServer : public survey::TempFiles {};

TEST_F(InstalledServer, IsFoundByItsCommandInPath) {
  const std::string script =
      write("m/node_modules/@modelcontextprotocol/server-memory/dist/index.js", "#!node\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  link("m/node_modules/.bin/mcp-server-memory", "../@modelcontextprotocol/server-memory/dist/index.js");
  const std::string bin = root() + "/m/node_modules/.bin";

  const std::string memory = "npm:@modelcontextprotocol/server-memory";
  EXPECT_EQ(found({"mcp-server-memory"}, "", bin), memory);
  EXPECT_EQ(found({bin + "/mcp-server-memory"}), memory);
  EXPECT_EQ(found({"node", "node_modules/.bin/mcp-server-memory"}, root() + "/m"), memory);
}

TEST_F(InstalledServer, IsNotAModuleOfTheProjectWithTheSameName) {
  write("p/mcp_server_time/__main__.py", "");

  EXPECT_EQ(found({"python3", "-m", "mcp_server_time"}, root() + "/p"), "unknown");
}

}  // namespace
}  // namespace corral::knowledge
