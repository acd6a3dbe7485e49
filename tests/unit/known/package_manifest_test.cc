#include "known/package_manifest.h"

#include <sys/stat.h>

#include <cerrno>

#include "survey/temp_files.h"

namespace corral::known {
namespace {

class PackageManifests : public survey::TempFiles {
 protected:
  /// A distribution in a virtual environment, with the lines of its METADATA and entry_points.txt.
  void distribution(const std::string& folder, const std::string& metadata,
                    const std::string& points = "") const {
    const std::string place = "lib/python3.11/site-packages/" + folder + ".dist-info/";
    write(place + "METADATA", metadata);
    if (!points.empty()) write(place + "entry_points.txt", points);
  }

  std::optional<Package> python(std::string_view name) const { return python_package_of(root(), name); }
};

TEST_F(PackageManifests, OfSmallFilesAreReadAndOthersSayWhyNot) {
  const std::string file = write("file", "12345");
  write("empty", "");
  mkfifo((root() + "/pipe").c_str(), 0600);

  EXPECT_EQ(read_small_file(file, 5), "12345");
  EXPECT_EQ(read_small_file(root() + "/empty", 0), "");
  EXPECT_EQ(read_small_file(file, 4), std::nullopt);
  EXPECT_EQ(errno, EFBIG);
  EXPECT_EQ(read_small_file(root()), std::nullopt);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(read_small_file(root() + "/pipe"), std::nullopt);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(read_small_file(root() + "/missing"), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(PackageManifests, AreSoughtSixFoldersAboveAScriptAndNoFurther) {
  write("package.json", R"({"name": "far"})");

  EXPECT_TRUE(npm_package_of(root() + "/x.js"));
  EXPECT_TRUE(npm_package_of(root() + "/1/2/3/4/5/x.js"));
  EXPECT_FALSE(npm_package_of(root() + "/1/2/3/4/5/6/x.js"));
  EXPECT_FALSE(npm_package_of(root() + "/node_modules/y/x.js")) << "not above its node_modules";
}

TEST_F(PackageManifests, OfAScriptThatIsAFolderAreInIt) {
  write("app/package.json", R"({"name": "app", "version": 7})");
  write("app.js/package.json", R"({"name": "inside"})");

  const std::optional<Package> package = npm_package_of(root() + "/app");
  ASSERT_TRUE(package);
  EXPECT_EQ(package->name, "app");
  EXPECT_EQ(package->version, "") << "a number is none";
  EXPECT_FALSE(npm_package_of(root() + "/app.js")) << "looks like a file";
}

TEST_F(PackageManifests, NameTheSdkWithTheVersionThatIsThere) {
  const std::string app = "a/node_modules/app/";
  const auto dependency = [&] { return npm_package_of(root() + "/a/node_modules/app/x.js")->mcp_dependency; };
  write(app + "package.json", R"({"name": "app", "peerDependencies": {"fastmcp": "^1"}})");
  EXPECT_EQ(dependency(), "fastmcp ^1");

  write("a/node_modules/fastmcp/package.json", R"({"version": "1.5"})");
  EXPECT_EQ(dependency(), "fastmcp 1.5");

  write(app + "node_modules/fastmcp/package.json", R"({"version": "1.2"})");
  EXPECT_EQ(dependency(), "fastmcp 1.2") << "its own comes first";

  write(app + "package.json", R"({"name": "app", "devDependencies": {"fastmcp": "^1"}, "dependencies": 5})");
  EXPECT_EQ(dependency(), "");
}

TEST_F(PackageManifests, NestedDeeperThanSixtyFourLevelsAreNone) {
  const auto nested = [&](std::size_t levels) {
    write("package.json",
          R"({"name": "x", "y": )" + std::string(levels, '[') + std::string(levels, ']') + "}");
    return npm_package_of(root() + "/x.js").has_value();
  };
  EXPECT_TRUE(nested(63));
  EXPECT_FALSE(nested(64));
  write("package.json", "[]");
  EXPECT_FALSE(npm_package_of(root() + "/x.js"));
}

TEST(PackagesInPaths, AreTheInnermostOnes) {
  EXPECT_EQ(npm_package_in_path("/a/node_modules/b/node_modules/@c/d/x.js"), "@c/d");
  EXPECT_EQ(npm_package_in_path("/a/node_modules/b"), "b");
  EXPECT_EQ(npm_package_in_path("/a/node_modules/@c/d"), "@c/d");
  EXPECT_EQ(npm_package_in_path("/a/node_modules/@c"), "@c");
  EXPECT_EQ(npm_package_in_path("/a/node_modules/@c/d/e"), "@c/d");
  EXPECT_EQ(npm_package_in_path("/a/node_modules/@c//e"), "@c/");
  EXPECT_EQ(npm_package_in_path("/a/node_modules/.bin/x"), "");
  EXPECT_EQ(npm_package_in_path("/a/b.js"), "");
}

TEST_F(PackageManifests, OfPythonAreFoundByNameOrByCommand) {
  distribution("My_Tool-1.2", "Name: My-Tool\n");
  distribution("other-3", "Name: other\n", "first = a:b\n[console_scripts]\nserve = a:b\nrun-all=a:b\n");
  distribution("nodash", "Name: nodash\n", "lost = a:b\n");
  write("lib/python3.11/site-packages/not-1.egg-info/METADATA", "Name: not\n");
  write("lib/other/site-packages/hidden-1.dist-info/METADATA", "Name: hidden\n");

  ASSERT_TRUE(python("my.tool"));
  EXPECT_EQ(python("my.tool")->name, "my-tool");
  EXPECT_EQ(python("my.tool")->version, "1.2");
  EXPECT_EQ(python("my.tool")->manifest,
            root() + "/lib/python3.11/site-packages/My_Tool-1.2.dist-info/METADATA");
  for (const char* command : {"serve", "run-all", "first"}) {
    ASSERT_TRUE(python(command)) << command;
    EXPECT_EQ(python(command)->name, "other") << command;
    EXPECT_EQ(python(command)->version, "3") << command;
  }
  for (const char* nothing : {"all", "a", "b", "serv", "erve", "lost", "not", "hidden", "console_scripts"}) {
    EXPECT_FALSE(python(nothing)) << nothing;
  }
  EXPECT_FALSE(python_package_of(root() + "/missing", "x"));
}

TEST_F(PackageManifests, OfPythonDependOnAnSdkThatTheyAskForAndThatIsThere) {
  distribution("mcp-1.9", "Name: mcp\n");
  distribution("asks-1", "Requires-Dist: click>=8\nRequires-Dist: MCP[cli]>=1\n");
  distribution("first-1", "Requires-Dist: mcp\nRequires-Dist: x\n");
  distribution("near-1", "Requires-Dist: mcp-extra\nRequires-Dist: xmcp\n X: mcp\n");
  distribution("fast-1", "Requires-Dist: fastmcp\n");
  distribution("last-1", "Name: last\nRequires-Dist: mcp");

  for (const char* name : {"asks", "first", "last", "mcp"}) {
    EXPECT_EQ(python(name)->mcp_dependency, "mcp 1.9") << name;
  }
  for (const char* name : {"near", "fast"}) EXPECT_EQ(python(name)->mcp_dependency, "") << name;

  std::filesystem::remove(root() + "/lib/python3.11/site-packages/asks-1.dist-info/METADATA");
  ASSERT_TRUE(python("asks"));
  EXPECT_EQ(python("asks")->mcp_dependency, "");
}

TEST(PythonNames, AreComparedByPythonsRule) {
  EXPECT_EQ(normalised_python_name("MCP_Server.Git"), "mcp-server-git");
  EXPECT_EQ(normalised_python_name("AZaz-_.-09"), "azaz-09");
  EXPECT_EQ(normalised_python_name("_a_"), "-a-");
  EXPECT_EQ(normalised_python_name("@[`{"), "@[`{");
}

TEST(PackageSpecs, OfNpmHaveANameAndAVersion) {
  for (const auto& [spec, name, version] :
       std::vector<std::array<const char*, 3>>{{"a", "a", ""},
                                               {"a@1", "a", "1"},
                                               {"@a/b", "@a/b", ""},
                                               {"@a/b@^2", "@a/b", "^2"},
                                               {"@a/b@latest", "@a/b", ""},
                                               {"npm:a@1", "a", "1"},
                                               {"x/y#main", "x/y", ""},
                                               {"x/y@1", "x/y@1", ""},
                                               {"github:x/y#v1", "github:x/y", ""},
                                               {"./a@1", "./a@1", ""},
                                               {"a@", "a", ""},
                                               {"@", "@", ""},
                                               {"", "", ""}}) {
    EXPECT_EQ(parse_npm_spec(spec).name, name) << spec;
    EXPECT_EQ(parse_npm_spec(spec).version, version) << spec;
  }
}

TEST(PackageSpecs, OfPythonHaveANameAndAnExactVersion) {
  for (const auto& [spec, name, version] :
       std::vector<std::array<const char*, 3>>{{"A_b", "a-b", ""},
                                               {"a==1.0", "a", "1.0"},
                                               {"a@1.0", "a", "1.0"},
                                               {"a@latest", "a", ""},
                                               {"a[x]@2", "a", "2"},
                                               {"a[x]==2", "a", "2"},
                                               {"a[x]", "a", ""},
                                               {"a>=1", "a", ""},
                                               {"a~=1", "a", ""},
                                               {"a; x", "a", ""},
                                               {"a @ git+https://h/x", "a", ""},
                                               {"a[x] @ git+https://h/x", "a", ""},
                                               {"git+https://h/x", "git+https://h/x", ""},
                                               {"a:b", "a:b", ""},
                                               {"a==", "a", ""}}) {
    EXPECT_EQ(parse_python_spec(spec).name, name) << spec;
    EXPECT_EQ(parse_python_spec(spec).version, version) << spec;
  }
}

}  // namespace
}  // namespace corral::known
