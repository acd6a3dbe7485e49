#include "known/server_command.h"

#include <gtest/gtest.h>

#include "survey/temp_files.h"

namespace corral::known {
namespace {

using Words = std::vector<std::string>;

class NpmServer : public survey::TempFiles {
 protected:
  NpmServer() {
    const std::string modules = "npx/node_modules/";
    script_ = write(modules + "@x/files/dist/index.js", "#!/usr/bin/env node\n");
    manifest_ = write(
        modules + "@x/files/package.json",
        R"({"name": "@x/files", "version": "2.1.0", "dependencies": {"@modelcontextprotocol/sdk": "^1.30.0"}})");
    write(modules + "@modelcontextprotocol/sdk/package.json", R"({"name": "sdk", "version": "1.32.2"})");
    std::filesystem::permissions(script_, std::filesystem::perms::owner_all);
    link(modules + ".bin/mcp-files", "../@x/files/dist/index.js");
    command_ = root() + "/npx/node_modules/.bin/mcp-files";
  }

  std::string script_;
  std::string manifest_;
  std::string command_;
};

TEST_F(NpmServer, AProcessWithoutAScriptIsCalledAsItCallsItself) {
  EXPECT_EQ(understand({"/opt/node"}, "/usr/bin/node", root()).name, "/opt/node");
  EXPECT_EQ(understand({"/opt/node"}, "", root()).name, "node");
}

TEST_F(NpmServer, HasOneKeyAllAlongTheChainThatNpxStarts) {
  const std::string node = "/usr/bin/node";
  const Words title = {"npm exec @x/files .", "", "", ""};

  EXPECT_EQ(understand({"npx", "-y", "@x/files@2", "."}, "", root()).key, "npm:@x/files");
  EXPECT_EQ(understand({"node", "/opt/npm/bin/npx-cli.js", "-y", "@x/files", "."}, node, root()).key,
            "npm:@x/files");
  EXPECT_EQ(understand(title, node, root()).key, "npm:@x/files");
  EXPECT_EQ(understand({"node", command_, "."}, node, root()).key, "npm:@x/files");
  EXPECT_EQ(understand({"node", script_, "."}, node, root()).key, "npm:@x/files");
  EXPECT_EQ(understand({command_, "."}, "", root()).key, "npm:@x/files");
  EXPECT_EQ(understand({"mcp-files", "."}, "", root(), "/nowhere:" + root() + "/npx/node_modules/.bin").key,
            "npm:@x/files");
  EXPECT_EQ(understand({"npx", "mcp-files", "."}, "", root() + "/npx").key, "npm:@x/files");
}

TEST_F(NpmServer, HasTheSameArgumentsAllAlongTheChain) {
  const Words expected = {"--root", "."};

  EXPECT_EQ(understand({"npx", "-y", "@x/files@2", "--root", "."}, "", root()).arguments, expected);
  EXPECT_EQ(understand({"npm exec @x/files --root .", ""}, "/usr/bin/node", root()).arguments, expected);
  EXPECT_EQ(understand({"node", command_, "--root", "."}, "/usr/bin/node", root()).arguments, expected);
  EXPECT_EQ(understand({"node", "/opt/npm/bin/npx-cli.js", "@x/files", "--root", "."}, "", root()).arguments,
            expected);
}

TEST_F(NpmServer, IsDescribedByItsManifest) {
  const ServerCommand command = understand({"node", command_}, "/usr/bin/node", root());

  EXPECT_EQ(command.name, "@x/files");
  EXPECT_EQ(command.version, "2.1.0");
  EXPECT_EQ(command.script, script_);
  EXPECT_EQ(command.manifest, manifest_);
  EXPECT_TRUE(command.depends_on_mcp);
  EXPECT_EQ(command.mcp_dependency, "@modelcontextprotocol/sdk 1.32.2");
  EXPECT_EQ(command.launcher, "node");
}

TEST_F(NpmServer, IsNotTakenForTheProjectAroundItsPackages) {
  write("npx/package.json", R"({"name": "around", "dependencies": {"fastmcp": "1"}})");
  const std::string other = write("npx/node_modules/plain/index.js", "");

  const ServerCommand command = understand({"node", other}, "/usr/bin/node", root());

  EXPECT_EQ(command.key, "npm:plain");
  EXPECT_FALSE(command.depends_on_mcp);
  EXPECT_EQ(command.manifest, "");
}

TEST_F(NpmServer, SurvivesAHostileManifest) {
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string(2 << 20, ' '), std::string("{\"name\": 7}"),
        std::string(5000, '['), std::string("{\"name\":\"a\",\"dependencies\":[1]}")}) {
    write(manifest_, text);
    const ServerCommand command = understand({"node", command_}, "/usr/bin/node", root());
    EXPECT_EQ(command.key, "npm:@x/files");
    EXPECT_FALSE(command.depends_on_mcp);
  }
}

class Script : public survey::TempFiles {};

TEST_F(Script, IsTheSameByAnyWayThatLeadsToIt) {
  const std::string script = write("app/server.js", "");
  link("link.js", script);

  const std::string key = "file:" + script;
  EXPECT_EQ(understand({"node", script}, "/usr/bin/node", "/").key, key);
  EXPECT_EQ(understand({"node", "server.js"}, "/usr/bin/node", root() + "/app").key, key);
  EXPECT_EQ(understand({"node", "--import", "tsx", "../app/./server.js"}, "", root() + "/app").key, key);
  EXPECT_EQ(understand({"/opt/other/node20", root() + "/link.js"}, "", "").key, key);
  EXPECT_EQ(understand({script}, "", "").key, key);
}

TEST_F(Script, OfTheSameNameElsewhereIsAnotherServer) {
  const std::string one = write("a/server.js", "");
  const std::string two = write("b/server.js", "");

  EXPECT_NE(understand({"node", one}, "", "").key, understand({"node", two}, "", "").key);
}

TEST_F(Script, WithANameThatSaysNothingIsCalledLikeItsPackage) {
  write("notes/package.json", R"({"name": "notes-mcp", "version": "1"})");
  const std::string usual = write("notes/dist/index.js", "");
  const std::string special = write("notes/dist/search.js", "");

  EXPECT_EQ(understand({"node", usual}, "/usr/bin/node", "/").name, "notes-mcp");
  EXPECT_EQ(understand({"node", usual}, "/usr/bin/node", "/").key, "file:" + usual);
  EXPECT_EQ(understand({"node", special}, "/usr/bin/node", "/").name, "search.js");
}

TEST_F(Script, InAFolderThatWeDoNotKnowHasNoKey) {
  EXPECT_EQ(understand({"node", "server.js"}, "/usr/bin/node", "").key, "");
  EXPECT_EQ(understand({"node", "server.js"}, "/usr/bin/node", "").name, "server.js");
  EXPECT_EQ(understand({"bash", "/dev/fd/3"}, "/usr/bin/bash", "/").key, "")
      << "a file of that process, not of this one";
  EXPECT_EQ(understand({"node", "/proc/self/fd/3"}, "/usr/bin/node", "/").key, "");
}

TEST_F(Script, TakesTheNearestManifestWithAName) {
  write("app/package.json",
        R"({"name": "app", "version": "3", "dependencies": {"@modelcontextprotocol/server": "2.4"}})");
  write("app/dist/package.json", R"({"type": "module"})");
  const std::string script = write("app/dist/src/server.js", "");

  const ServerCommand command = understand({"node", script}, "", "");

  EXPECT_EQ(command.key, "file:" + script);
  EXPECT_EQ(command.manifest, root() + "/app/package.json");
  EXPECT_EQ(command.mcp_dependency, "@modelcontextprotocol/server 2.4");
}

TEST_F(Script, IsNotSoughtBeyondSixLevels) {
  write("package.json", R"({"name": "far", "dependencies": {"fastmcp": "1"}})");
  const std::string script = write("1/2/3/4/5/6/7/server.js", "");

  EXPECT_FALSE(understand({"node", script}, "", "").depends_on_mcp);
}

TEST_F(Script, ThatNpmRunsIsNamedByItsProject) {
  write("app/package.json", R"({"name": "app", "dependencies": {"@modelcontextprotocol/sdk": "1"}})");

  const ServerCommand configured = understand({"npm", "--prefix", root() + "/app", "run", "start"}, "", "");
  const ServerCommand running = understand({"npm run start", ""}, "/usr/bin/node", root() + "/app");

  EXPECT_EQ(configured.key, "file:" + root() + "/app/package.json start");
  EXPECT_EQ(configured.key, running.key);
  EXPECT_TRUE(running.depends_on_mcp);
}

class PythonServer : public survey::TempFiles {
 protected:
  PythonServer() {
    write("venv/pyvenv.cfg", "home = /usr/bin\n");
    script_ = write("venv/bin/mcp-server-git", "#!/x/python\n");
    const std::string packages = "venv/lib/python3.11/site-packages/";
    metadata_ = write(packages + "mcp_server_git-2026.1.2.dist-info/METADATA",
                      "Metadata-Version: 2.1\nName: mcp-server-git\nRequires-Dist: click>=8\nRequires-Dist: "
                      "mcp[cli]>=1.0\n");
    write(packages + "mcp-1.9.4.dist-info/METADATA", "Name: mcp\n");
    write(packages + "serena_agent-0.1.dist-info/METADATA", "Name: serena-agent\n");
    write(packages + "serena_agent-0.1.dist-info/entry_points.txt",
          "[console_scripts]\nserena = serena.cli:main\n");
    serena_ = write("venv/bin/serena", "");
    python_ = root() + "/venv/bin/python";
  }

  std::string script_;
  std::string metadata_;
  std::string serena_;
  std::string python_;
};

TEST(UvCommand, ThatRunsNoServerIsUvItself) {
  for (const Words& words :
       {Words{"uv", "pip", "list"}, Words{"uv", "sync"}, Words{"uv", "pip", "install", "x"}}) {
    const ServerCommand command = understand(words, "/opt/bin/uv", "/");
    EXPECT_EQ(command.key, "file:uv") << words[1];
    EXPECT_EQ(command.name, "uv") << words[1];
    EXPECT_EQ(command.arguments.front(), words[1]);
  }
}

TEST_F(PythonServer, HasOneKeyAllAlongTheChainThatUvStarts) {
  const std::string key = "pypi:mcp-server-git";

  EXPECT_EQ(understand({"uvx", "--python", "3.12", "mcp-server-git@latest", "-r", "."}, "", "").key, key);
  EXPECT_EQ(understand({"/opt/uv", "tool", "uvx", "mcp-server-git"}, "/opt/uv", "/").key, key);
  EXPECT_EQ(understand({"uv", "tool", "run", "mcp_server_git"}, "", "").key, key);
  EXPECT_EQ(understand({python_, script_}, "/usr/bin/python3.11", "/").key, key);
  EXPECT_EQ(understand({python_, "-m", "mcp_server_git"}, "/usr/bin/python3.11", "/").key, key);
  EXPECT_EQ(understand({"mcp-server-git"}, "", "", root() + "/venv/bin").key, "file:mcp-server-git")
      << "not executable";
}

TEST_F(PythonServer, IsDescribedByItsMetadata) {
  const ServerCommand command = understand({python_, script_, "-r", "."}, "/usr/bin/python3.11", "/");

  EXPECT_EQ(command.version, "2026.1.2");
  EXPECT_EQ(command.manifest, metadata_);
  EXPECT_TRUE(command.depends_on_mcp);
  EXPECT_EQ(command.mcp_dependency, "mcp 1.9.4");
  EXPECT_EQ(command.arguments, (Words{"-r", "."}));
}

TEST_F(PythonServer, IsFoundByTheCommandThatItsPackageInstalls) {
  const ServerCommand command = understand({python_, serena_}, "", "/");

  EXPECT_EQ(command.key, "pypi:serena-agent");
  EXPECT_FALSE(command.depends_on_mcp) << "an SDK next to it that it does not ask for is not evidence";
}

TEST_F(PythonServer, OfAProjectIsTheSameThroughUvRun) {
  const std::string script = write("app/server.py", "");

  EXPECT_EQ(understand({"uv", "--directory", root() + "/app", "run", "server.py"}, "", "").key,
            "file:" + script);
  EXPECT_EQ(understand({python_, "server.py"}, "/usr/bin/python3.11", root() + "/app").key, "file:" + script);
  EXPECT_EQ(understand({"uv", "run", "--with", "mcp", "mcp", "run", script}, "", "").key, "file:" + script);
}

TEST_F(PythonServer, AModuleInTheWorkingFolderIsThatFile) {
  const std::string file = write("app/server/__main__.py", "");

  EXPECT_EQ(understand({"python3", "-m", "server"}, "", root() + "/app").key, "file:" + file);
  EXPECT_EQ(understand({"python3", "-m", "server"}, "", root() + "/venv").key, "module:server");
}

TEST(Shell, IsNeverMoreThanAWrapper) {
  for (const Words& words :
       {Words{"sh", "-c", "npx a | tee log"}, Words{"sh", "-c", "$SERVER"}, Words{"bash"}, Words{"-bash"},
        Words{"sh", "-c", "a; b"}, Words{"sh", "-c", "a && b"}, Words{"sh", "-c", "`a`"}, Words{"sh", "-c"},
        Words{"sh", "-c", "'open"}, Words{"sh", "-c", "mcp-files stdio"}}) {
    const ServerCommand command = understand(words, "/usr/bin/dash", "/");
    EXPECT_TRUE(command.is_shell) << words.back();
    EXPECT_EQ(command.key, "") << words.back();
  }
}

TEST(Shell, OverASimpleCommandHasItsKey) {
  const ServerCommand command =
      understand({"sh", "-c", "cd '/srv/a b' && exec node \"server.js\" 'x y'"}, "/usr/bin/dash", "/");

  EXPECT_TRUE(command.is_shell);
  EXPECT_EQ(command.key, "file:/srv/a b/server.js");
  EXPECT_EQ(command.arguments, (Words{"x y"}));
}

TEST(Interpreters, ThatDoNotSayWhatTheyRunHaveNoKey) {
  for (const Words& words : {Words{"node"}, Words{"node", "-e", "x"}, Words{"python3", "-c", "x"},
                             Words{"node", "-p", "1"}, Words{"npx"}}) {
    EXPECT_EQ(understand(words, "", "/").key, "") << words.back();
  }
}

TEST(Interpreters, WithATitleInsteadOfACommandLineAreTellableApart) {
  const ServerCommand command = understand({"my-mcp-server", "", ""}, "/usr/bin/node", "/");

  EXPECT_EQ(command.key, "file:/usr/bin/node my-mcp-server");
  EXPECT_EQ(command.name, "my-mcp-server");
}

TEST(Launchers, TheOutermostOneIsNamed) {
  EXPECT_EQ(understand({"corral", "run", "--", "npx", "a"}, "", "/").launcher, "corral");
  EXPECT_EQ(understand({"timeout", "5", "node", "/x.js"}, "", "/").launcher, "timeout");
  EXPECT_EQ(understand({"node", "/opt/npm/bin/npx", "a"}, "", "/").launcher, "npx");
  EXPECT_EQ(understand({"bun", "x", "a"}, "", "/").launcher, "bunx");
  EXPECT_EQ(understand({"/usr/bin/server"}, "/usr/bin/server", "/").launcher, "");
}

TEST(Launchers, InsideEachOtherWithoutEndAreGivenUp) {
  Words words(10000, "env");
  words.emplace_back("npx");
  EXPECT_EQ(understand(words, "", "/").key, "");
}

TEST(Packages, VersionsAndSourcesAreNotPartOfTheKey) {
  EXPECT_EQ(understand({"npx", "@x/y@1.2.3"}, "", "").key, "npm:@x/y");
  EXPECT_EQ(understand({"npx", "@x/y@1.2.3"}, "", "").version, "1.2.3");
  EXPECT_EQ(understand({"npx", "y@latest"}, "", "").version, "");
  EXPECT_EQ(understand({"npx", "github:x/y#main"}, "", "").key, "npm:github:x/y");
  EXPECT_EQ(understand({"npx", "--package=@x/y@2", "-c", "y"}, "", "").key, "npm:@x/y");
  EXPECT_EQ(understand({"uvx", "y[all]>=1"}, "", "").key, "pypi:y");
  EXPECT_EQ(understand({"uvx", "--from", "git+https://h/x/y@v1", "serve"}, "", "").key, "pypi:serve");
  EXPECT_EQ(understand({"uvx", "y==1.0"}, "", "").version, "1.0");
}

TEST(Containers, AreNamedByTheirImage) {
  const Words words = {"docker",
                       "--context",
                       "x",
                       "run",
                       "-i",
                       "--rm",
                       "-v",
                       "/a:/b",
                       "--mount=type=bind",
                       "registry:5000/mcp/git:1.2",
                       "--x"};

  const ServerCommand command = understand(words, "", "/");

  EXPECT_EQ(command.key, "docker:registry:5000/mcp/git");
  EXPECT_EQ(command.version, "1.2");
  EXPECT_EQ(command.arguments, (Words{"--x"}));
  EXPECT_EQ(understand({"docker", "mcp", "gateway", "run"}, "", "/").key, "file:docker mcp gateway");
}

TEST(Containers, WithoutAnImageHaveNoName) {
  EXPECT_EQ(understand({"docker", "run"}, "", "/").name, "docker");
  EXPECT_EQ(understand({"docker", "run", "-i", "--rm"}, "", "/").name, "docker");
}

TEST(Programs, ArePlainFiles) {
  EXPECT_EQ(understand({"github-mcp-server", "stdio"}, "/opt/github-mcp-server", "/").key,
            "file:/opt/github-mcp-server");
  EXPECT_EQ(understand({"no-such-program-x"}, "", "/", "/usr/bin").key, "file:no-such-program-x");
  EXPECT_EQ(understand({}, "", "").key, "");
  EXPECT_EQ(understand({""}, "", "").key, "");
}

TEST(ShownName, HasNoSecretOfAUrl) {
  const ServerCommand command = understand({"uvx", "git+https://me:hunter2@host/x.git"}, "", "/");

  EXPECT_EQ(command.name.find("hunter2"), std::string::npos) << command.name;
}

}  // namespace
}  // namespace corral::known
