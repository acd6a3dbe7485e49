#include "known/client_configs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "survey/temp_files.h"

namespace corral::known {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Words = std::vector<std::string>;

struct Row {
  KnownClient client;
  ConfigFile file;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const KnownClient& client : known_clients()) {
    for (const ConfigFile& file : client.configs) all.push_back({client, file});
  }
  return all;
}

/// The example entry below the keys of the row; '*' stands for a project.
std::string example(const ConfigFile& file) {
  if (file.format == ConfigFormat::Toml) {
    return "[" + std::string(file.servers) + ".files]\ncommand = \"npx\"\nargs = [\"-y\", \"@x/files\"]\n";
  }
  std::string text = R"({"files": {"command": "npx", "args": ["-y", "@x/files"], "env": {"KEY": "hidden"}}})";
  std::string keys(file.servers);
  while (!keys.empty()) {
    const std::size_t slash = keys.rfind('/');
    const std::string key = slash == std::string::npos ? keys : keys.substr(slash + 1);
    text = R"({")" + (key == "*" ? std::string("/srv/project") : key) + R"(": )" + text + "}";
    keys.resize(slash == std::string::npos ? 0 : slash);
  }
  return text;
}

class ConfigRow : public survey::TempFiles, public ::testing::WithParamInterface<Row> {};

TEST_P(ConfigRow, IsFoundWhereTheTableSays) {
  const auto& [client, file] = GetParam();
  const std::string path(file.path);
  ConfigPlaces places{root() + "/home", {}, {root() + "/project"}};
  if (path.starts_with("/etc/")) {  // not ours to write
    const Configurations found = parse_client_config(example(file), file, path, client, places);
    ASSERT_THAT(found.servers, SizeIs(1));
    EXPECT_EQ(found.servers[0].command.key, "npm:@x/files");
    return;
  }
  const std::string rest = path.substr(std::min(path.find('/'), path.size()));  // a variable may be the file
  std::string base = path.starts_with("~") ? places.home : places.project_roots[0];
  if (path.starts_with("$")) {
    base = root() + "/variable";
    places.environment = {path.substr(1, path.find('/') - 1) + "=" + base};
  }
  const std::string written = write(base + rest, example(file));

  const Configurations found = read_client_configs(places);

  EXPECT_THAT(found.notes, IsEmpty());
  EXPECT_THAT(found.files, ElementsAre(written));
  ASSERT_THAT(found.servers, SizeIs(1));
  const ConfiguredServer& server = found.servers[0];
  EXPECT_EQ(server.client, client.id);
  EXPECT_EQ(server.name, "files");
  EXPECT_EQ(server.file, written);
  EXPECT_EQ(server.argv, (Words{"npx", "-y", "@x/files"}));
  EXPECT_EQ(server.command.key, "npm:@x/files");
  const std::string project = path.starts_with("./") ? places.project_roots[0] : "";
  EXPECT_EQ(server.project, file.servers.find('*') == std::string_view::npos ? project : "/srv/project");
}

INSTANTIATE_TEST_SUITE_P(All, ConfigRow, ::testing::ValuesIn(rows()), [](const auto& row) {
  std::string name = std::string(row.param.client.id) + "_" + std::to_string(row.index);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

class Configs : public survey::TempFiles {
 protected:
  Configurations cursor(const std::string& text, Words environment = {}) const {
    const KnownClient& client = *find_client("cursor");
    return parse_client_config(text, client.configs[0], "/f", client,
                               {"/home/me", std::move(environment), {}});
  }
};

TEST_F(Configs, OfCodexIncludeItsProfilesInTheOrderOfTheirNames) {
  const auto table = [](const std::string& name) {
    return "[mcp_servers." + name + "]\ncommand = \"true\"\n";
  };
  for (const char* name :
       {"work.config.toml", "config.toml", "home.config.toml", "config.toml.bak", "notes.txt"}) {
    write(root() + "/home/.codex/" + name, table("x"));
  }

  const Configurations found = read_client_configs({root() + "/home", {}, {}});

  const std::string folder = root() + "/home/.codex/";
  EXPECT_THAT(found.files,
              ElementsAre(folder + "config.toml", folder + "home.config.toml", folder + "work.config.toml"));
  EXPECT_THAT(found.notes, IsEmpty());
}

TEST_F(Configs, MayHaveCommentsTrailingCommasAndAByteOrderMark) {
  const Configurations found =
      cursor("\xEF\xBB\xBF// c\n{\"mcpServers\": {/* c */ \"a\": {\"command\": \"x\",},},}");

  EXPECT_THAT(found.notes, IsEmpty());
  ASSERT_THAT(found.servers, SizeIs(1));
  EXPECT_EQ(found.servers[0].argv, (Words{"x"}));
}

TEST_F(Configs, ThatAreEmptyHaveNoServersAndNoFault) {
  for (const char* text :
       {"", " \n", "{}", R"({"mcpServers": {}})", R"({"mcpServers": null})", R"({"other": 1})"}) {
    const Configurations found = cursor(text);
    EXPECT_THAT(found.servers, IsEmpty()) << text;
    EXPECT_THAT(found.notes, IsEmpty()) << text;
  }
}

TEST_F(Configs, ThatAreBrokenSayWhere) {
  const Configurations found = cursor("{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}");

  EXPECT_THAT(found.files, IsEmpty());
  ASSERT_THAT(found.notes, SizeIs(1));
  EXPECT_THAT(found.notes[0].message, HasSubstr("line 3, column 9"));
  EXPECT_THAT(found.notes[0].message, HasSubstr("correct it"));
}

TEST_F(Configs, InBrokenTomlSayWhere) {
  const KnownClient& client = *find_client("codex");
  const Configurations found = parse_client_config("a = 1\nb = = 2\n", client.configs[0], "/f", client, {});

  ASSERT_THAT(found.notes, SizeIs(1));
  EXPECT_THAT(found.notes[0].message, HasSubstr("line 2"));
}

TEST_F(Configs, InTomlMayHoldAnyLetterAnywhere) {
  const KnownClient& client = *find_client("codex");

  EXPECT_THAT(parse_client_config("[gr\u00f6\u00dfe\u0324\n", client.configs[0], "/f", client, {}).notes,
              SizeIs(1));
  EXPECT_THAT(parse_client_config("[\x01", client.configs[0], "/f", client, {}).notes, SizeIs(1));
  const std::string good = "# \u00f6\n[mcp_servers.\"\u00f6\"]\ncommand = \"\u0444\" # \u0324\n";
  EXPECT_THAT(parse_client_config(good, client.configs[0], "/f", client, {}).servers, SizeIs(1));
}

TEST_F(Configs, NestedWithoutEndAreRefused) {
  const KnownClient& codex = *find_client("codex");
  const std::string deep(100000, '[');

  EXPECT_THAT(cursor("{\"a\":" + deep).notes, SizeIs(1));
  EXPECT_THAT(parse_client_config("a = " + deep, codex.configs[0], "/f", codex, {}).notes, SizeIs(1));
  std::string dotted = "a";
  for (int i = 0; i < 100000; ++i) dotted += ".a";
  EXPECT_THAT(parse_client_config(dotted + " = 1", codex.configs[0], "/f", codex, {}).notes, SizeIs(1));
}

TEST_F(Configs, AWrongTypeIsNamedAndTheOthersAreUsed) {
  const Configurations found =
      cursor(R"({"mcpServers": {"a": {"command": 7}, "b": {"command": "x", "args": "y"},
                                          "c": {"command": "x", "args": [{}]}, "d": {"command": "x", "args": [1, true]}}})");

  ASSERT_THAT(found.servers, SizeIs(1));
  EXPECT_EQ(found.servers[0].argv, (Words{"x", "1", "true"}));
  ASSERT_THAT(found.notes, SizeIs(3));
  EXPECT_THAT(found.notes[0].message, HasSubstr("server 'a' has a \"command\""));
  EXPECT_THAT(found.notes[1].message, HasSubstr("server 'b' has a \"args\""));
}

TEST_F(Configs, ATableOfTheWrongTypeIsNamed) {
  const Configurations found = cursor(R"({"mcpServers": [1]})");

  ASSERT_THAT(found.notes, SizeIs(1));
  EXPECT_THAT(found.notes[0].message, HasSubstr("mcpServers"));
}

TEST_F(Configs, AnAddressIsAServerWithoutACommand) {
  const Configurations found = cursor(
      R"({"mcpServers": {"a": {"url": "https://h"}, "b": {"httpUrl": "u"}, "c": {"serverUrl": "u"}, "d": {"enabled": false}}})");

  ASSERT_THAT(found.servers, SizeIs(3));
  EXPECT_THAT(found.servers[0].argv, IsEmpty());
  EXPECT_EQ(found.servers[0].command.key, "");
}

TEST_F(Configs, ACommandMayBeAListOrAnObject) {
  const Configurations found = cursor(R"({"mcpServers": {"a": {"command": ["bun", "x", "@x/files"]},
                                          "b": {"command": {"path": "npx", "args": ["@x/files"]}}}})");

  ASSERT_THAT(found.servers, SizeIs(2));
  EXPECT_EQ(found.servers[0].command.key, "npm:@x/files");
  EXPECT_EQ(found.servers[1].command.key, "npm:@x/files");
}

TEST_F(Configs, VariablesAreFilledIn) {
  const Configurations found = cursor(
      R"({"mcpServers": {"a": {"command": "${BIN}/x", "args": ["${env:A}", "${B:-b}", "${C}", "${userHome}/d", "${", "$A"]}}})",
      {"BIN=/opt", "A=a"});

  ASSERT_THAT(found.servers, SizeIs(1));
  EXPECT_EQ(found.servers[0].argv, (Words{"/opt/x", "a", "b", "${C}", "/home/me/d", "${", "$A"}));
}

TEST_F(Configs, OfAProjectKnowItsFolder) {
  const std::string script = write("project/server.js", "");
  write("project/.vscode/mcp.json",
        R"({"servers": {"a": {"command": "node", "args": ["${workspaceFolder}/server.js"]},
                                                    "b": {"command": "node", "args": ["server.js"]}}})");

  const Configurations found = read_client_configs({root() + "/home", {}, {root() + "/project"}});

  ASSERT_THAT(found.servers, SizeIs(2));
  EXPECT_EQ(found.servers[0].command.key, "file:" + script);
  EXPECT_EQ(found.servers[1].command.key, "file:" + script);
}

TEST_F(Configs, AreReadOnceHoweverManyWaysLeadToThem) {
  write("home/.codex/config.toml", "[mcp_servers.a]\ncommand = \"x\"\n");
  link("elsewhere", root() + "/home/.codex");

  const Configurations found =
      read_client_configs({root() + "/home", {"CODEX_HOME=" + root() + "/elsewhere"}, {}});

  EXPECT_THAT(found.servers, SizeIs(1));
  EXPECT_THAT(found.files, SizeIs(1));
}

TEST_F(Configs, BelowAnotherConfigFolderAreFound) {
  write("xdg/zed/settings.json", R"({"context_servers": {"a": {"command": "x"}}})");

  const Configurations found =
      read_client_configs({root() + "/home", {"XDG_CONFIG_HOME=" + root() + "/xdg"}, {}});

  ASSERT_THAT(found.servers, SizeIs(1));
  EXPECT_EQ(found.servers[0].client, "zed");
}

TEST_F(Configs, ThatAreNoRegularFilesAreANoteAndNeverAWait) {
  std::filesystem::create_directories(root() + "/home/.cursor");
  std::filesystem::create_directories(root() + "/home/.gemini/settings.json");
  ASSERT_EQ(mkfifo((root() + "/home/.cursor/mcp.json").c_str(), 0600), 0);

  const Configurations found = read_client_configs({root() + "/home", {}, {}});

  ASSERT_THAT(found.notes, SizeIs(2));
  for (const ConfigNote& note : found.notes) EXPECT_THAT(note.message, HasSubstr("not a regular file"));
}

TEST_F(Configs, ThatAreTooLargeAreANote) {
  const std::string file = write("home/.cursor/mcp.json", "{}");
  std::filesystem::resize_file(file, (64ULL << 20) + 1);

  const Configurations found = read_client_configs({root() + "/home", {}, {}});

  ASSERT_THAT(found.notes, SizeIs(1));
  EXPECT_THAT(found.notes[0].message, HasSubstr("64 MiB"));
}

TEST_F(Configs, ThatMayNotBeReadSayWhy) {
  const std::string file = write("home/.cursor/mcp.json", "{}");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  // A symbolic link to itself cannot be followed by anybody, not even by root.
  link("home/.kiro/settings/mcp.json", "mcp.json");

  const Configurations found = read_client_configs({root() + "/home", {}, {}});

  ASSERT_THAT(found.notes, SizeIs(geteuid() == 0 ? 1 : 2));
  EXPECT_THAT(found.notes.back().message, HasSubstr("symbolic links"));
  if (geteuid() != 0) {
    EXPECT_THAT(found.notes.front().message, HasSubstr("Permission denied"));
  }
}

TEST_F(Configs, WithoutAHomeAreNone) { EXPECT_THAT(read_client_configs({}).servers, IsEmpty()); }

}  // namespace
}  // namespace corral::known
