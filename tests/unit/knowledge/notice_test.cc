// What of a launch its server can notice.
#include "knowledge/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "knowledge/launch_key.h"
#include "survey/temp_files.h"

namespace corral::knowledge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

const std::string kMemory = "@modelcontextprotocol/server-memory";
const std::string kFilesystem = "@modelcontextprotocol/server-filesystem";

class Notice : public survey::TempFiles {
 protected:
  proc::LaunchSpec launch(Words argv, const std::string& directory = "a") {
    directory_in_root(directory);
    proc::LaunchSpec spec;
    spec.argv = std::move(argv);
    spec.directory = root() + "/" + directory;
    spec.environment = {"HOME=/home/me", "PATH=/usr/bin:/bin"};
    return spec;
  }
  void directory_in_root(const std::string& name) { write(name + "/.keep", ""); }

  static Words names(const std::vector<Difference>& differences) {
    Words names;
    for (const Difference& difference : differences) names.push_back(difference.name);
    return names;
  }
  static Noticed noticed(const proc::LaunchSpec& spec, const Words& ignore = {}) {
    return what_server_notices(spec, find_known_server(spec.argv, spec.directory, "/usr/bin:/bin"), ignore);
  }
};

TEST_F(Notice, AnUnknownServerMayNoticeEverything) {
  const Noticed all = noticed(launch({"/opt/server", "--fast"}));
  EXPECT_TRUE(all.directory);
  EXPECT_TRUE(all.path);
  EXPECT_THAT(all.ignored, IsEmpty());
}

TEST_F(Notice, AKnownServerDoesNotNoticeWhereItIsStarted) {
  const Noticed memory = noticed(launch({"npx", "-y", kMemory}));
  EXPECT_FALSE(memory.directory);
  EXPECT_FALSE(memory.path);
  EXPECT_FALSE(noticed(launch({"npx", "-y", kFilesystem, "/srv"})).directory);
}

TEST_F(Notice, APathAmongTheArgumentsIsRelativeToTheDirectory) {
  for (const char* const argument : {".", "..", "./notes", "../notes", "--file=./x"}) {
    const proc::LaunchSpec spec = launch({"npx", "-y", kFilesystem, argument});
    EXPECT_TRUE(noticed(spec).directory) << argument;
    EXPECT_TRUE(noticed(spec, {"cwd"}).directory) << argument << ", whatever is declared";
  }
  write("a/notes/one.md", "");
  EXPECT_TRUE(noticed(launch({"npx", "-y", kFilesystem, "notes"})).directory);
  EXPECT_FALSE(noticed(launch({"npx", "-y", kFilesystem, "/srv/./notes"})).directory);
}

TEST_F(Notice, AWordIsAPathOnlyIfThereIsSuchAFile) {
  write("a/there", "");
  EXPECT_TRUE(refers_to_directory("there", root() + "/a"));
  EXPECT_TRUE(refers_to_directory("--config=there", root() + "/a"));
  for (const char* const word : {"", "-", "--verbose", "stdio", "/etc", "https://there", "--port=80", "@x/y"})
    EXPECT_FALSE(refers_to_directory(word, root() + "/a")) << word;
}

TEST_F(Notice, ALauncherSeesThePackagesOfAProject) {
  write("installed/node_modules/" + kMemory + "/package.json", "{}");
  write("with-settings/.npmrc", "registry=x");
  write("installed/src/.keep", "");
  EXPECT_TRUE(noticed(launch({"npx", "-y", kMemory}, "installed")).directory);
  EXPECT_TRUE(noticed(launch({"npx", "-y", kMemory}, "installed/src")).directory);
  EXPECT_TRUE(noticed(launch({"npx", "-y", kMemory}, "with-settings")).directory);
  EXPECT_FALSE(noticed(launch({"npx", "-y", kMemory}, "other")).directory);
}

TEST_F(Notice, AUserMayDeclareIt) {
  const Noticed declared = noticed(launch({"/opt/server"}), {"cwd", "PATH", "THEME", "ACCENT"});
  EXPECT_FALSE(declared.directory);
  EXPECT_FALSE(declared.path);
  EXPECT_THAT(declared.ignored, ElementsAre("ACCENT", "THEME"));
  EXPECT_FALSE(counts(declared, "THEME"));
  EXPECT_TRUE(counts(declared, "HOME"));
}

TEST_F(Notice, ACredentialAlwaysCounts) {
  proc::LaunchSpec spec = launch({"/opt/server"});
  spec.environment.emplace_back("ACCOUNT=sk-abcdefghijklmnop0123456789");
  spec.environment.emplace_back("PLACE=https://me:secret@example.com/");
  const Noticed declared = noticed(spec, {"API_TOKEN", "ACCOUNT", "PLACE", "THEME"});
  EXPECT_THAT(declared.ignored, ElementsAre("THEME"));
}

TEST_F(Notice, WhatPathFindsCountsInsteadOfPath) {
  write("one/server", "#!/bin/sh\n");
  write("two/server", "#!/bin/sh\n");
  for (const char* const file : {"one/server", "two/server"}) chmod((root() + "/" + file).c_str(), 0755);
  const auto found_in = [this](const std::string& path) {
    proc::LaunchSpec spec = launch({"server"});
    spec.environment = {"PATH=" + path};
    return launch_key(spec, noticed(spec, {"PATH"}));
  };
  const std::string one = root() + "/one";
  EXPECT_EQ(found_in(one + ":/usr/bin"), found_in("/nowhere:" + one));
  EXPECT_NE(found_in(one), found_in(root() + "/two"));
}

TEST_F(Notice, TheKeyLeavesOutWhatIsIgnored) {
  proc::LaunchSpec one = launch({"/opt/server"});
  proc::LaunchSpec other = one;
  one.environment.emplace_back("THEME=dark");
  other.environment.emplace_back("THEME=light");
  EXPECT_NE(launch_key(one, noticed(one)), launch_key(other, noticed(other)));
  EXPECT_EQ(launch_key(one, noticed(one, {"THEME"})), launch_key(other, noticed(other, {"THEME"})));
}

TEST_F(Notice, DifferencesAreNamedWithoutValues) {
  const proc::LaunchSpec one = launch({"/opt/server"});
  proc::LaunchSpec other = launch({"/opt/server"}, "b");
  other.environment = {"HOME=/home/me", "PATH=/usr/bin", "TOKEN=geheim"};
  other.limits.processes = 7;
  const Noticed all;
  EXPECT_THAT(differences({one, all}, {one, all}), IsEmpty());
  EXPECT_THAT(names(differences({one, all}, {other, all})),
              ElementsAre("the directory", "PATH", "TOKEN", "the limits"));
  Noticed blind;
  blind.path = false;
  EXPECT_THAT(names(differences({one, blind}, {other, blind})), testing::Not(Contains("PATH")));
}

TEST_F(Notice, ADifferenceSaysWhatWouldDeclareItAway) {
  proc::LaunchSpec one = launch({"/opt/server"});
  proc::LaunchSpec other = launch({"/opt/server"}, "b");
  one.environment = {"ACCOUNT=sk-abcdefghijklmnop0123456789", "PATH=/bin", "THEME=dark"};
  other.environment = {"API_TOKEN=geheim", "PATH=/usr/bin"};
  const Noticed all;
  EXPECT_THAT(differences({one, all}, {other, all}),
              ElementsAre(Difference{.name = "the directory", .ignore = "cwd", .is_directory = true},
                          Difference{.name = "ACCOUNT", .credential = true},
                          Difference{.name = "API_TOKEN", .credential = true},
                          Difference{.name = "PATH", .ignore = "PATH"},
                          Difference{.name = "THEME", .ignore = "THEME"}));
  Noticed fixed;
  fixed.directory_fixed = true;
  EXPECT_EQ(differences({one, fixed}, {other, all}).front().ignore, "") << "an argument refers to it";
}

TEST_F(Notice, WindowsThatDeclareOtherThingsAreApart) {
  const proc::LaunchSpec spec = launch({"/opt/server"});
  EXPECT_NE(launch_key(spec, noticed(spec, {"THEME"})), launch_key(spec, noticed(spec)));
  EXPECT_EQ(launch_key(spec, noticed(spec, {"A", "B", "A"})), launch_key(spec, noticed(spec, {"B", "A"})));
}

TEST_F(Notice, TheUsersOwnSettingsAreNotThoseOfAProject) {
  write("home/.npmrc", "cache=x");
  proc::LaunchSpec spec = launch({"npx", "-y", kMemory}, "home/project");
  spec.environment = {"HOME=" + root() + "/home/", "PATH=/bin"};
  EXPECT_FALSE(noticed(spec).directory);
  write("home/project/.npmrc", "registry=x");
  EXPECT_TRUE(noticed(spec).directory);
}

TEST_F(Notice, AShellsCommandHasPathsAmongItsWords) {
  write("a/notes/one.md", "");
  const std::string npx = "npx -y " + kFilesystem + " ";
  for (const char* const path : {".", "./notes", "notes", "'notes'", "\"$PWD\"", "$(pwd)/x", "${PWD}"}) {
    EXPECT_TRUE(noticed(launch({"sh", "-c", npx + path}), {"cwd"}).directory) << path;
  }
  EXPECT_TRUE(noticed(launch({"env", "FILE=./x", "/opt/server"}), {"cwd"}).directory);
  EXPECT_FALSE(noticed(launch({"sh", "-c", npx + "/srv"})).directory);
}

TEST_F(Notice, AProgramInARelativePartOfPathBelongsToTheDirectory) {
  write("a/bin/server", "#!/bin/sh\n");
  chmod((root() + "/a/bin/server").c_str(), 0755);
  proc::LaunchSpec spec = launch({"server"});
  spec.environment = {"PATH=/nowhere:bin"};
  EXPECT_TRUE(noticed(spec, {"cwd", "PATH"}).directory);
  spec.environment = {"PATH=" + root() + "/a/bin:bin"};
  EXPECT_FALSE(noticed(spec, {"cwd", "PATH"}).directory);
}

TEST_F(Notice, AVariableOfTheInterpreterMayNameAFileHere) {
  write("a/ca.pem", "");
  write("a/test/one.js", "");
  proc::LaunchSpec spec = launch({"npx", "-y", kMemory});
  const auto needs_directory = [&spec](const std::string& entry) {
    spec.environment = {"HOME=/home/me", "PATH=/bin", entry};
    return noticed(spec, {"cwd"}).directory;
  };
  for (const char* const entry :
       {"NODE_OPTIONS=-r ./x.js", "NODE_OPTIONS=--import=./x.js", "NODE_PATH=/x:../y", "PYTHONPATH=.",
        "NODE_EXTRA_CA_CERTS=ca.pem", "MEMORY_FILE_PATH=./memory.json"}) {
    EXPECT_TRUE(needs_directory(entry)) << entry;
  }
  for (const char* const entry : {"NODE_ENV=test", "NODE_OPTIONS=--max-old-space-size=4096", "THEME=./x",
                                  "NODE_EXTRA_CA_CERTS=/etc/ca.pem", "HTTPS_PROXY=http://127.0.0.1:1"}) {
    EXPECT_FALSE(needs_directory(entry)) << entry;
  }
}

TEST_F(Notice, ALauncherOtherThanNpxReadsMoreOfAProject) {
  for (const char* const file : {"package.json", ".env", ".yarnrc.yml", "deno.json", "bunfig.toml"}) {
    const std::string project = std::string("with-") + file;
    write(project + "/" + file, "");
    EXPECT_FALSE(noticed(launch({"npx", "-y", kMemory}, project)).directory) << file;
    for (const Words& launcher : {Words{"bunx"}, Words{"pnpm", "dlx"}, Words{"yarn", "dlx"}}) {
      Words argv = launcher;
      argv.push_back(kMemory);
      EXPECT_TRUE(noticed(launch(argv, project)).directory) << launcher[0] << " with " << file;
      EXPECT_FALSE(noticed(launch(argv, "plain")).directory) << launcher[0];
    }
  }
}

TEST_F(Notice, WhatAServerStartsCountsInsteadOfPath) {
  for (const char* const file : {"one/node", "two/node"}) chmod(write(file, "#!/bin/sh\n").c_str(), 0755);
  const auto key_in = [this](const std::string& path, const std::string& package) {
    proc::LaunchSpec spec = launch({"uvx", package});
    spec.directory = "/";
    spec.environment = {"HOME=/home/me", "PATH=" + path};
    const Noticed what = noticed(spec);
    EXPECT_FALSE(what.path);
    return launch_key(spec, what);
  };
  const std::string one = root() + "/one";
  const std::string two = root() + "/two";
  EXPECT_EQ(key_in(one + ":/x", "mcp-server-fetch"), key_in("/y:" + one, "mcp-server-fetch"));
  EXPECT_NE(key_in(one, "mcp-server-fetch"), key_in(two, "mcp-server-fetch"));
  EXPECT_EQ(key_in(one, "mcp-server-time"), key_in(two, "mcp-server-time"));
}

TEST_F(Notice, PathInTheCommandLineCounts) {
  EXPECT_FALSE(noticed(launch({"docker", "run", "-i", "mcp/time"})).path);
  EXPECT_TRUE(noticed(launch({"docker", "run", "-e", "PATH", "mcp/time"})).path);
}

}  // namespace
}  // namespace corral::knowledge
