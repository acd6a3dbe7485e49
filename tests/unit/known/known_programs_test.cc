// One test per row of the tables: every launcher with a command line of its own, every client with its facts,
// every name that is certainly no server.
#include "known/known_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "known/server_command.h"

namespace corral::known {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::string test_name(std::string_view id) {
  std::string name(id);
  for (char& c : name) {
    if (isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

// How each client is recognised when it runs: an executable, a package, or a place. Those with "" run inside
// another program or are libraries; they are known by their files or by a manifest.
const std::map<std::string_view, std::string_view> kHowItRuns = {
    {"claude-code", "claude"},
    {"claude-desktop", "claude-desktop"},
    {"codex", "codex"},
    {"copilot-cli", "copilot"},
    {"gemini-cli", "gemini"},
    {"qwen-code", "qwen"},
    {"antigravity", "antigravity"},
    {"cursor", "cursor"},
    {"vscode", "code"},
    {"windsurf", "windsurf"},
    {"trae", "trae"},
    {"zed", "zed-editor"},
    {"cline", "cline"},
    {"roo-code", ""},
    {"kilo-code", "kilo"},
    {"opencode", "opencode"},
    {"crush", "crush"},
    {"amp", "amp"},
    {"kiro", "kiro"},
    {"amazon-q", "qchat"},
    {"jetbrains", "idea"},
    {"lm-studio", "lm-studio"},
    {"droid", "droid"},
    {"copilot-jetbrains", ""},
    {"qoder", "qoder"},
    {"mistral-vibe", "vibe"},
    {"kimi-cli", "kimi"},
    {"goose", "goosed"},
    {"continue", "cn"},
    {"hermes-agent", "hermes"},
    {"openclaw", "openclaw"},
    {"mcporter", "mcporter"},
    {"mcp-inspector", "mcp-inspector"},
    {"supergateway", "supergateway"},
    {"mcp-sdk-v1", ""},
    {"mcp-sdk-v2", ""},
    {"mcp-python-sdk", ""},
};

class KnownClientRow : public ::testing::TestWithParam<KnownClient> {};

TEST_P(KnownClientRow, IsFoundByItsIdAndHasWordsForPeople) {
  const KnownClient& client = GetParam();

  ASSERT_NE(find_client(client.id), nullptr);
  EXPECT_EQ(find_client(client.id)->name, client.name);
  EXPECT_FALSE(client.name.empty());
  EXPECT_FALSE(client.behaviour.orphans.empty());
  EXPECT_FALSE(client.behaviour.orphans.ends_with(".")) << "a clause: the report goes on after it";
}

TEST_P(KnownClientRow, RunsUnderTheNameThatThisTestKnows) {
  const KnownClient& client = GetParam();

  ASSERT_TRUE(kHowItRuns.contains(client.id)) << "add the new client to this test";
  const std::string_view name = kHowItRuns.at(client.id);
  if (name.empty()) {
    EXPECT_TRUE(client.executables.empty());
  } else {
    EXPECT_THAT(client.executables, Contains(name));
  }
}

TEST_P(KnownClientRow, HasNoFactThatWouldFitEverything) {
  const KnownClient& client = GetParam();

  for (const std::string_view executable : client.executables) {
    EXPECT_EQ(executable.find('/'), std::string_view::npos) << executable;
    EXPECT_EQ(find_launcher(executable), nullptr) << executable << " is a launcher";
    EXPECT_FALSE(is_certainly_no_server(executable)) << executable;
  }
  for (const std::string_view part : client.path_parts)
    EXPECT_TRUE(part.starts_with("/") && part.size() > 5) << part;
  for (const std::string_view part : client.cgroup_parts) EXPECT_GT(part.size(), 7U) << part;
  EXPECT_THAT(client.variables, Not(Contains("TERM_PROGRAM")));
  EXPECT_THAT(client.variables, Not(Contains("VSCODE_PID")));
  for (const ConfigFile& file : client.configs) {
    const bool rooted = file.path.starts_with("~/") || file.path.starts_with("$") ||
                        file.path.starts_with("./") || file.path.starts_with("/etc/");
    EXPECT_TRUE(rooted) << file.path;
    EXPECT_EQ(file.format == ConfigFormat::Toml, file.path.ends_with(".toml")) << file.path;
    EXPECT_FALSE(file.servers.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, KnownClientRow,
                         ::testing::ValuesIn(known_clients().begin(), known_clients().end()),
                         [](const auto& row) { return test_name(row.param.id); });

TEST(KnownClients, NoFactBelongsToTwo) {
  std::set<std::string_view> ids;
  std::set<std::string_view> executables;
  std::set<std::string_view> packages;
  std::set<std::string_view> variables;
  std::set<std::pair<std::string_view, std::string_view>> tables;
  for (const KnownClient& client : known_clients()) {
    EXPECT_TRUE(ids.insert(client.id).second) << client.id;
    for (const auto name : client.executables) EXPECT_TRUE(executables.insert(name).second) << name;
    for (const auto name : client.packages) EXPECT_TRUE(packages.insert(name).second) << name;
    for (const auto name : client.variables) EXPECT_TRUE(variables.insert(name).second) << name;
    for (const auto& file : client.configs) {
      EXPECT_TRUE(tables.insert({file.path, file.servers}).second) << file.path << " " << file.servers;
    }
  }
  EXPECT_EQ(ids.size(), kHowItRuns.size());
}

// Everybody else also starts other programs on pipes, so that needs a second piece of evidence.
TEST(KnownClients, FourStartNothingButServers) {
  std::vector<std::string_view> only;
  for (const KnownClient& client : known_clients()) {
    if (client.only_servers_on_pipes) only.push_back(client.id);
  }
  EXPECT_EQ(only,
            (std::vector<std::string_view>{"claude-desktop", "mcporter", "mcp-inspector", "supergateway"}));
}

TEST(KnownClients, AnUnknownIdIsNobody) {
  EXPECT_EQ(find_client("nobody"), nullptr);
  EXPECT_EQ(find_client(""), nullptr);
}

struct LauncherExample {
  std::string_view name;
  std::vector<std::string> argv;
  std::string key;
  std::vector<std::string> arguments;
};

const std::vector<LauncherExample> kLauncherExamples = {
    {"sh", {"sh", "-c", "exec npx -y @x/files ."}, "npm:@x/files", {"."}},
    {"bash", {"bash", "-lc", "npx @x/files"}, "npm:@x/files", {}},
    {"dash", {"dash", "-c", "A=b uvx mcp-server-git"}, "pypi:mcp-server-git", {}},
    {"zsh", {"zsh", "-c", "cd /srv && node server.js"}, "file:/srv/server.js", {}},
    {"ash", {"ash", "/srv/start.sh", "x"}, "file:/srv/start.sh", {"x"}},
    {"ksh", {"ksh", "-c", "npx a"}, "npm:a", {}},
    {"fish", {"fish", "-c", "npx a"}, "npm:a", {}},
    {"npx", {"npx", "-y", "@x/files@1.2.3", "--root", "."}, "npm:@x/files", {"--root", "."}},
    {"npm", {"npm", "exec", "--yes", "--", "@x/files", "."}, "npm:@x/files", {"."}},
    {"pnpm", {"pnpm", "dlx", "@x/files@latest"}, "npm:@x/files", {}},
    {"pnpx", {"pnpx", "files"}, "npm:files", {}},
    {"yarn", {"yarn", "dlx", "-p", "@x/files", "files", "a"}, "npm:@x/files", {"a"}},
    {"bunx", {"bunx", "@x/files", "a"}, "npm:@x/files", {"a"}},
    {"uvx",
     {"uvx", "mcp-server-git==1.0", "--repository", "."},
     "pypi:mcp-server-git",
     {"--repository", "."}},
    {"uv", {"uv", "tool", "uvx", "--from", "Mcp_Server.Git", "serve"}, "pypi:mcp-server-git", {}},
    {"pipx", {"pipx", "run", "mcp-server-git[all]"}, "pypi:mcp-server-git", {}},
    {"node", {"node", "--import", "x", "-r", "y", "/srv/s.js", "a"}, "file:/srv/s.js", {"a"}},
    {"nodejs", {"nodejs", "/srv/s.js"}, "file:/srv/s.js", {}},
    {"tsx", {"tsx", "watch", "/srv/s.ts"}, "file:/srv/s.ts", {}},
    {"ts-node", {"ts-node", "-P", "tsconfig.json", "/srv/s.ts"}, "file:/srv/s.ts", {}},
    {"bun", {"bun", "x", "@x/files", "a"}, "npm:@x/files", {"a"}},
    {"deno", {"deno", "run", "-A", "npm:@x/files@1.0", "a"}, "npm:@x/files", {"a"}},
    {"python", {"python3.12", "-u", "/srv/s.py", "a"}, "file:/srv/s.py", {"a"}},
    {"ruby", {"ruby", "-I", "lib", "/srv/s.rb"}, "file:/srv/s.rb", {}},
    {"php", {"php", "-d", "a=b", "/srv/s.php"}, "file:/srv/s.php", {}},
    {"perl", {"perl", "/srv/s.pl"}, "file:/srv/s.pl", {}},
    {"dotnet", {"dotnet", "run", "--project", "/srv/app.csproj", "--", "a"}, "file:/srv/app.csproj", {"a"}},
    {"java", {"java", "-Xmx1g", "-jar", "/srv/s.jar", "a"}, "file:/srv/s.jar", {"a"}},
    {"mcp", {"mcp", "run", "/srv/s.py"}, "file:/srv/s.py", {}},
    {"fastmcp", {"fastmcp", "run", "-t", "stdio", "/srv/s.py"}, "file:/srv/s.py", {}},
    {"docker", {"docker", "run", "-i", "--rm", "-e", "A=b", "mcp/fetch:1.0", "a"}, "docker:mcp/fetch", {"a"}},
    {"podman", {"podman", "run", "-i", "docker.io/mcp/fetch@sha256:00"}, "docker:mcp/fetch", {}},
    {"env", {"env", "-u", "X", "A=b", "npx", "a"}, "npm:a", {}},
    {"nohup", {"nohup", "npx", "a"}, "npm:a", {}},
    {"nice", {"nice", "-n", "5", "npx", "a"}, "npm:a", {}},
    {"ionice", {"ionice", "-c", "3", "npx", "a"}, "npm:a", {}},
    {"timeout", {"timeout", "-k", "5", "10", "npx", "a"}, "npm:a", {}},
    {"setsid", {"setsid", "-w", "npx", "a"}, "npm:a", {}},
    {"stdbuf", {"stdbuf", "-oL", "npx", "a"}, "npm:a", {}},
    {"sudo", {"sudo", "-u", "me", "npx", "a"}, "npm:a", {}},
    {"xvfb-run", {"xvfb-run", "-a", "npx", "a"}, "npm:a", {}},
    {"bundle", {"bundle", "exec", "ruby", "/srv/s.rb"}, "file:/srv/s.rb", {}},
    {"mise", {"mise", "exec", "--", "npx", "a"}, "npm:a", {}},
    {"dotenvx", {"dotenvx", "run", "-f", ".env", "--", "npx", "a"}, "npm:a", {}},
    {"op", {"op", "run", "--env-file", ".env", "--", "npx", "a"}, "npm:a", {}},
    {"go", {"go", "run", "github.com/x/server@v1.2.3", "a"}, "go:github.com/x/server", {"a"}},
    {"cargo",
     {"cargo", "run", "--manifest-path", "/srv/Cargo.toml", "--", "a"},
     "file:/srv/Cargo.toml",
     {"a"}},
    {"corral", {"corral", "run", "--memory", "1G", "--", "npx", "a", "b"}, "npm:a", {"b"}},
};

class LauncherRow : public ::testing::TestWithParam<KnownLauncher> {};

TEST_P(LauncherRow, LeadsToTheServerBehindIt) {
  const KnownLauncher& launcher = GetParam();
  const auto example = std::find_if(kLauncherExamples.begin(), kLauncherExamples.end(),
                                    [&](const LauncherExample& e) { return e.name == launcher.name; });
  ASSERT_NE(example, kLauncherExamples.end()) << "add an example for the new launcher to this test";

  const ServerCommand command = understand(example->argv, "", "/nowhere", "");

  EXPECT_EQ(command.key, example->key);
  EXPECT_EQ(command.arguments, example->arguments);
  EXPECT_EQ(command.is_shell, launcher.kind == LauncherKind::Shell && launcher.name != "ash");
  EXPECT_EQ(find_launcher(launcher.name), find_launcher(example->argv.front()));
}

INSTANTIATE_TEST_SUITE_P(All, LauncherRow,
                         ::testing::ValuesIn(known_launchers().begin(), known_launchers().end()),
                         [](const auto& row) { return test_name(row.param.name); });

TEST(KnownLaunchers, EachNameStandsOnce) {
  std::set<std::string_view> names;
  for (const KnownLauncher& launcher : known_launchers())
    EXPECT_TRUE(names.insert(launcher.name).second) << launcher.name;
  EXPECT_EQ(names.size(), kLauncherExamples.size());
}

TEST(KnownLaunchers, VersionsOfAnInterpreterAreTheInterpreter) {
  for (const char* name : {"python3", "python3.11", "pypy3.10", "python"}) {
    ASSERT_NE(find_launcher(name), nullptr) << name;
    EXPECT_EQ(find_launcher(name)->name, "python");
  }
  EXPECT_EQ(find_launcher("node20")->name, "node");
  EXPECT_EQ(find_launcher("python3-config"), nullptr);
  EXPECT_EQ(find_launcher("nodemon"), nullptr);
}

class NoServer : public ::testing::TestWithParam<const char*> {};

TEST_P(NoServer, IsKnown) { EXPECT_TRUE(is_certainly_no_server(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Names, NoServer,
                         ::testing::Values("git", "rg", "grep", "ssh", "tail", "cat", "gopls",
                                           "rust-analyzer", "clangd", "gh", "less", "tmux",
                                           "pyright-langserver", "pyright-langserver.js",
                                           "typescript-language-server", "tsserver.js", "eslintServer.js",
                                           "lua-language-server", "bash-language-server", "jsonServerMain.js",
                                           "vscode-json-language-server", "yaml-language-server", "ruff",
                                           "taplo", "zls", "jdtls", "terraform-lsp"));

TEST(NoServers, AnythingElseMayBeOne) {
  for (const char* name :
       {"node", "python3", "mcp-server-git", "github-mcp-server", "server", "", "mcp-language-server"}) {
    EXPECT_FALSE(is_certainly_no_server(name)) << name;
  }
}

TEST(Names, TypicalServersAreHintedAt) {
  for (const char* name :
       {"mcp", "mcp-server-git", "github-mcp", "@modelcontextprotocol/server-everything", "mcp_server",
        "server-mcp", "MyMcpServer", "mcpserver", "@x/mcp", "mcp.js", "MCP"}) {
    EXPECT_TRUE(looks_like_a_server(name)) << name;
  }
}

TEST(Names, EveryLetterOfTheWordCounts) {
  for (const char* word : {"mcp", "MCP", "x.mcp", "gitMcp", "mcpServer", "mcpserver-x", "x_mcp_y"}) {
    EXPECT_TRUE(looks_like_a_server(word)) << word;
  }
  for (const char* word : {"", "m", "mc", "xcp", "mxp", "mcx", "mcpx", "xmcp", "m-cp", "GITMCP"}) {
    EXPECT_FALSE(looks_like_a_server(word)) << word;
  }
}

TEST(Names, OtherWordsAreNot) {
  for (const char* name : {"server.js", "mcpherson", "tmcp3", "", "mc", "http-server", "memcpy", "acmcp"}) {
    EXPECT_FALSE(looks_like_a_server(name)) << name;
  }
}

}  // namespace
}  // namespace corral::known
