#include "knowledge/program_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "survey/temp_files.h"

namespace corral::knowledge {
namespace {

using testing::ElementsAre;

class ProgramFiles : public survey::TempFiles {
 protected:
  using Words = std::vector<std::string>;

  std::vector<std::string> of(const std::string& executable, const Words& argv) const {
    return files_of({executable, argv, root()}, root());
  }
  std::string at(const std::string& path) const { return root() + "/" + path; }
};

TEST_F(ProgramFiles, OfAPythonScript) {
  const std::string script = write("app/server.py", "");
  write("app/other.py", "");

  EXPECT_THAT(of("/usr/bin/python3.11", {"python3", "-u", "app/server.py", "app/other.py"}),
              ElementsAre("/usr/bin/python3.11", script));
}

TEST_F(ProgramFiles, OfAScriptThatIsRunDirectly) {
  const std::string script = write("app/server", "#!/usr/bin/env python3\n");

  EXPECT_THAT(of("/usr/bin/python3.11", {"/usr/bin/python3", at("app/server")}),
              ElementsAre("/usr/bin/python3.11", script));
}

TEST_F(ProgramFiles, OfANodePackageThatNpxFound) {
  const std::string hash = "cache/_npx/15c6/";
  write(hash + "node_modules/@x/files/dist/index.js", "");
  const std::string manifest = write(hash + "node_modules/@x/files/package.json", R"({"name":"@x/files"})");
  write(hash + "package.json", "{}");
  const std::string lock = write(hash + "package-lock.json", "{}");
  link(hash + "node_modules/.bin/files", "../@x/files/dist/index.js");

  const std::string bin = at(hash + "node_modules/.bin/files");
  EXPECT_THAT(of("/usr/bin/node", {"node", bin, "/data"}), ElementsAre("/usr/bin/node", bin, manifest, lock));
}

TEST_F(ProgramFiles, OfNodeWithOptionsThatNameFiles) {
  write("hook.js", "");
  const std::string script = write("server.js", "");

  EXPECT_THAT(of("/usr/bin/node", {"node", "--require", "hook.js", "server.js"}),
              ElementsAre("/usr/bin/node", script));
}

TEST_F(ProgramFiles, OfAModuleHaveNoScript) {
  write("notes.py", "");

  EXPECT_THAT(of("/usr/bin/python3", {"python3", "-m", "somewhere_else", "notes.py"}),
              ElementsAre("/usr/bin/python3"));
}

TEST_F(ProgramFiles, OfWordsOnTheCommandLineHaveNoScript) {
  write("notes.py", "");

  EXPECT_THAT(of("/usr/bin/python3", {"python3", "-c", "pass", "notes.py"}), ElementsAre("/usr/bin/python3"));
  EXPECT_THAT(of("/usr/bin/node", {"node", "-e", "1", "notes.py"}), ElementsAre("/usr/bin/node"));
  EXPECT_THAT(of("/usr/bin/dash", {"sh", "-c", "while read x; do :; done < notes.py"}),
              ElementsAre("/usr/bin/dash"));
}

TEST_F(ProgramFiles, OfACompiledProgramAreItselfAndNotItsData) {
  write("notes.db", "");
  write("config.json", "{}");
  write("package.json", "{}");

  EXPECT_THAT(of("/opt/server", {"server", "--config", "config.json", "notes.db"}),
              ElementsAre("/opt/server"));
}

TEST_F(ProgramFiles, OfAnInterpreterThatNobodyKnows) {
  const std::string script = write("server.lua", "");
  const std::string marked = write("tool", "#!/opt/odd\n");

  EXPECT_THAT(of("/opt/odd", {"odd", "-x", "server.lua"}), ElementsAre("/opt/odd", script));
  EXPECT_THAT(of("/opt/odd", {"odd", "tool"}), ElementsAre("/opt/odd", marked));
}

TEST_F(ProgramFiles, OfAProjectAreTheNearestManifestAndTheNearestLock) {
  const std::string script = write("project/packages/a/src/server.py", "");
  const std::string manifest = write("project/packages/a/pyproject.toml", "");
  write("project/pyproject.toml", "");
  const std::string lock = write("project/uv.lock", "");

  EXPECT_THAT(of("/usr/bin/python3", {"python3", script}),
              ElementsAre("/usr/bin/python3", script, manifest, lock));
}

TEST_F(ProgramFiles, DoNotComeFromTheHomeFolder) {
  const std::string script = write("server.js", "");
  write("package.json", "{}");
  write("package-lock.json", "{}");

  EXPECT_THAT(of("/usr/bin/node", {"node", script}), ElementsAre("/usr/bin/node", script));
  EXPECT_THAT(files_of({"/usr/bin/node", {"node", script}, "/"}, "/nowhere"),
              ElementsAre("/usr/bin/node", script, at("package.json"), at("package-lock.json")));
}

TEST_F(ProgramFiles, AreNotSoughtForEverUpwards) {
  std::string deep;
  for (int i = 0; i < 12; ++i) deep += "d/";
  const std::string script = write("project/" + deep + "server.js", "");
  write("project/package.json", "{}");
  const std::string nearer = write("other/" + deep.substr(2) + "server.js", "");
  const std::string manifest = write("other/package.json", "{}");

  EXPECT_THAT(of("/usr/bin/node", {"node", script}), ElementsAre("/usr/bin/node", script));
  EXPECT_THAT(of("/usr/bin/node", {"node", nearer}), ElementsAre("/usr/bin/node", nearer, manifest));
}

TEST_F(ProgramFiles, ThatDoNotExistAreNone) {
  EXPECT_THAT(of("/usr/bin/node", {"node", "gone.js"}), ElementsAre("/usr/bin/node"));
  EXPECT_THAT(of("", {}), ElementsAre());
  EXPECT_THAT(of("/usr/bin/node", {}), ElementsAre("/usr/bin/node"));
  EXPECT_THAT(files_of({"/usr/bin/node", {"node", "relative.js"}, ""}, ""), ElementsAre("/usr/bin/node"));
}

TEST_F(ProgramFiles, StandManyWords) {
  std::vector<std::string> words(100'000, "x");
  words[0] = "odd";

  EXPECT_THAT(of("/opt/odd", words), ElementsAre("/opt/odd"));
}

}  // namespace
}  // namespace corral::knowledge
