// What runs behind a launcher, case by case: key, name and arguments.
#include <gtest/gtest.h>

#include "base/secrets.h"
#include "known/server_command.h"
#include "survey/temp_files.h"

namespace corral::known {
namespace {

using Words = std::vector<std::string>;

struct Row {
  Words words;
  std::string key;
  std::string name;
  Words arguments;
};

void expect_rows(const std::vector<Row>& rows, const std::string& directory, const std::string& path = "") {
  for (const Row& row : rows) {
    const ServerCommand command = understand(row.words, "", directory, path);
    const std::string shown = show_command(row.words);
    EXPECT_EQ(command.key, row.key) << shown;
    EXPECT_EQ(command.name, row.name) << shown;
    EXPECT_EQ(command.arguments, row.arguments) << shown;
  }
}

class LaunchedServer : public survey::TempFiles {
 protected:
  LaunchedServer() {
    app_ = root() + "/app";
    script_ = write("app/notes.py", "");
    main_ = write("app/pkg/mod.py", "");
    write("app/package.json", R"({"name": "app", "version": "3"})");
    tool_ = write("app/node_modules/tool/cli.js", "");
    write("app/node_modules/tool/package.json", R"({"name": "tool"})");
    link("app/node_modules/.bin/tool", "../tool/cli.js");
    program_ = write("bin/program", "");
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    std::filesystem::create_directories(app_ + "/a/b/c/d");
  }

  std::string app_, script_, main_, tool_, program_;
};

TEST_F(LaunchedServer, OfNpmIsAPackageOrALocalCommandOrAScript) {
  expect_rows({{{"npx", "tool", "x"}, "npm:tool", "tool", {"x"}},
               {{"npx", "./node_modules/tool/cli.js", "x"}, "npm:tool", "tool", {"x"}},
               {{"npx", script_, "x"}, "file:" + script_, "notes.py", {"x"}},
               {{"npx", "-p", "@a/b@2", "run", "x"}, "npm:@a/b", "@a/b", {"x"}},
               {{"npx", "-p", "@a/b"}, "npm:@a/b", "@a/b", {}},
               {{"npx", "-p", "@a/b", "-c", "run x"}, "npm:@a/b", "@a/b", {}},
               {{"pnpm", "dlx", "@a/b", "x"}, "npm:@a/b", "@a/b", {"x"}}},
              app_);
  expect_rows({{{"npm", "--prefix", app_, "exec", "./node_modules/tool/cli.js"}, "npm:tool", "tool", {}}},
              "/");
}

TEST_F(LaunchedServer, IsALocalCommandOfAFolderUpToThreeAbove) {
  EXPECT_EQ(understand({"npx", "tool"}, "", app_ + "/a/b/c").script, tool_);
  EXPECT_EQ(understand({"npx", "tool"}, "", app_ + "/a/b/c/d").script, "");
  EXPECT_EQ(understand({"npx", "tool"}, "", "").script, "");
  EXPECT_EQ(understand({"npx", "tool@1"}, "", app_).script, "") << "a version is fetched";
  EXPECT_EQ(understand({"npx", "-p", "tool", "tool"}, "", app_).script, "") << "a package is named";
  EXPECT_EQ(understand({"npx", "other"}, "", app_).key, "npm:other");
}

TEST_F(LaunchedServer, OfAProjectIsItsScript) {
  const std::string key = "file:" + app_ + "/package.json start";
  expect_rows({{{"npm", "run", "start", "x"}, key, "npm start", {"x"}},
               {{"npm", "run-script", "start"}, key, "npm start", {}},
               {{"npm", "run", "--silent", "start", "x", "y"}, key, "npm start", {"x", "y"}},
               {{"yarn", "start"}, key, "yarn start", {}},
               {{"npm", "run"}, "", "npm", {}},
               {{"npm", "run", "-s"}, "", "npm", {}}},
              app_);
  EXPECT_EQ(understand({"npm", "run", "start"}, "", "").key, "");
  EXPECT_EQ(understand({"npm", "run", "start"}, "", root()).key, "") << "no project";
  EXPECT_EQ(understand({"npm", "run", "start"}, "", root() + "/missing").key, "");
  EXPECT_EQ(understand({"npm", "run", "start"}, "", app_).version, "3");
}

TEST_F(LaunchedServer, OfUvIsAPackageAScriptOrAModule) {
  expect_rows({{{"uvx", "git-mcp", "x"}, "pypi:git-mcp", "git-mcp", {"x"}},
               {{"uv", "run", "notes.py", "x"}, "file:" + script_, "notes.py", {"x"}},
               {{"uv", "run", "./notes.py"}, "file:" + script_, "notes.py", {}},
               {{"uv", "run", "-m", "pkg.mod", "x"}, "file:" + main_, "pkg.mod", {"x"}},
               {{"uv", "run", "git-mcp", "x"}, "pypi:git-mcp", "git-mcp", {"x"}},
               {{"uv", "run", "python", "notes.py", "x"}, "file:" + script_, "notes.py", {"x"}},
               {{"uv", "tool", "run", "git-mcp"}, "pypi:git-mcp", "git-mcp", {}},
               {{"uvx", "--from", "mcp", "mcp", "run", "notes.py"}, "file:" + script_, "notes.py", {}},
               {{"uvx", "--from", "other", "git-mcp", "x"}, "pypi:other", "other", {"x"}},
               {{"uvx", "node", "x"}, "pypi:node", "node", {"x"}},
               {{"uv", "run"}, "", "uv", {}},
               {{"uvx"}, "", "uvx", {}}},
              app_);
}

TEST_F(LaunchedServer, OfAnInterpreterIsItsScript) {
  expect_rows({{{"python3", "notes.py", "x"}, "file:" + script_, "notes.py", {"x"}},
               {{"python3", "-m", "pkg.mod", "x"}, "file:" + main_, "pkg.mod", {"x"}},
               {{"python3", "-m"}, "", "python3", {}},
               {{"bun", "x", "@a/b", "y"}, "npm:@a/b", "@a/b", {"y"}},
               {{"bun", "run", "notes.py"}, "file:" + script_, "notes.py", {}},
               {{"deno", "run", "-A", "npm:@a/b@2", "y"}, "npm:@a/b", "@a/b", {"y"}},
               {{"deno", "run", "jsr:@a/b"}, "jsr:@a/b", "@a/b", {}},
               {{"node", "file://" + script_}, "file:" + script_, "notes.py", {}},
               {{"node", "gone/../gone/./x.js"}, "file:" + app_ + "/gone/x.js", "x.js", {}},
               {{"node", "/../x-that-is-not.js"}, "file:/x-that-is-not.js", "x-that-is-not.js", {}},
               {{"java", "-jar", "notes.py", "y"}, "file:" + script_, "notes.py", {"y"}},
               {{"java", "-Dx=1", "org.Main", "y"}, "class:org.Main", "org.Main", {"y"}},
               {{"java"}, "", "java", {}},
               {{"dotnet", "run", "--project", "notes.py"}, "file:" + script_, "notes.py", {}},
               {{"fastmcp", "run", "notes.py", "y"}, "file:" + script_, "notes.py", {"y"}},
               {{"fastmcp", "version"}, "file:fastmcp", "fastmcp", {"version"}}},
              app_);
}

TEST_F(LaunchedServer, OfARunnerIsWhatItRuns) {
  expect_rows({{{"timeout", "5", "npx", "@a/b", "x"}, "npm:@a/b", "@a/b", {"x"}},
               {{"env", "A=1", "npx", "@a/b"}, "npm:@a/b", "@a/b", {}},
               {{"env", "-C", app_, "python3", "notes.py"}, "file:" + script_, "notes.py", {}},
               {{"go", "run", "example.org/x/cmd@v1", "y"}, "go:example.org/x/cmd", "cmd", {"y"}},
               {{"go", "run", app_ + "/notes.py", "y"}, "file:" + script_, "notes.py", {"y"}},
               {{"go", "run"}, "", "go", {}},
               {{"go", "build"}, "file:go", "go", {"build"}},
               {{"corral", "run", "--", "npx", "@a/b", "x"}, "npm:@a/b", "@a/b", {"x"}},
               {{"corral", "run"}, "", "corral", {}},
               {{"corral", "status"}, "file:corral", "corral", {"status"}}},
              "/");
}

TEST_F(LaunchedServer, OfAShellIsItsSimpleCommand) {
  expect_rows({{{"sh", script_, "x"}, "file:" + script_, "notes.py", {"x"}},
               {{"bash", "-lc", "npx @a/b x"}, "npm:@a/b", "@a/b", {"x"}},
               {{"sh", "-c", "program x y"}, "file:" + program_, "program", {"x", "y"}},
               {{"sh", "-c", "unknown x y"}, "", "unknown", {"x", "y"}}},
              "/", root() + "/bin");
  EXPECT_FALSE(understand({"sh", script_}, "", "/").is_shell);
  EXPECT_TRUE(understand({"sh", "-c", "npx a"}, "", "/").is_shell);
}

TEST_F(LaunchedServer, OfAContainerIsItsImage) {
  expect_rows({{{"docker", "run", "-i", "mcp/git:latest", "x"}, "docker:mcp/git", "mcp/git", {"x"}},
               {{"docker", "run", "docker.io/library/git:2"}, "docker:git", "git", {}},
               {{"podman", "run", "h:5000/git@sha256:abc"}, "docker:h:5000/git", "h:5000/git", {}},
               {{"docker", "run", "git"}, "docker:git", "git", {}},
               {{"docker", "ps"}, "", "docker", {}},
               {{"docker", "exec", "box"}, "file:docker exec box", "docker", {}}},
              "/");
  EXPECT_EQ(understand({"docker", "run", "git:latest"}, "", "/").version, "");
  EXPECT_EQ(understand({"docker", "run", "git:2"}, "", "/").version, "2");
  EXPECT_EQ(understand({"docker", "run", "h:5000/git"}, "", "/").version, "");
}

TEST_F(LaunchedServer, IsLookedForThroughEightLaunchersAtMost) {
  const auto inside = [](std::size_t runners) {
    Words words(runners, "env");
    words.insert(words.end(), {"npx", "@a/b"});
    return understand(words, "", "/").key;
  };
  EXPECT_EQ(inside(7), "npm:@a/b");
  EXPECT_EQ(inside(8), "");
}

TEST_F(LaunchedServer, IsFoundByTheFileThatRunsWhateverItCallsItself) {
  EXPECT_EQ(understand({"my-title", script_, "x"}, "/usr/bin/python3.11", "/").key, "file:" + script_);
  EXPECT_EQ(understand({"my-title", script_}, "/usr/bin/bash", "/").key, "file:/usr/bin/bash")
      << "a shell under another name is a program";
  EXPECT_EQ(understand({"my-title", script_}, "", "/").key, "file:my-title");
  EXPECT_EQ(understand({"-python3", script_}, "", "/").key, "file:" + script_) << "as a login starts it";
}

TEST_F(LaunchedServer, IsFoundInThePathWhereItMayBeExecuted) {
  const std::string key = "file:" + program_;
  write("other/program", "");  // not executable
  std::filesystem::create_directories(root() + "/folder/program");
  for (const std::string& path :
       {root() + "/bin", "/nowhere:" + root() + "/bin", root() + "/bin:/nowhere", ":" + root() + "/bin",
        root() + "/other:" + root() + "/folder:" + root() + "/bin", "relative:" + root() + "/bin:"}) {
    EXPECT_EQ(understand({"program"}, "", "/", path).key, key) << path;
  }
  EXPECT_EQ(understand({"program"}, "", root(), "bin").key, "file:program") << "whose folder nobody knows";
  EXPECT_EQ(understand({"program"}, "", root(), root() + "/folder").key, "file:program");
  EXPECT_EQ(understand({"bin/program", "x"}, "", root()).key, key);
  EXPECT_EQ(understand({"bin/program"}, "", "").key, "") << "relative to what?";
  EXPECT_EQ(understand({"/gone/program"}, "", "").key, "file:/gone/program");
}

}  // namespace
}  // namespace corral::known
