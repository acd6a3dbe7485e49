// What a person sees of `corral adopt` and `corral release`, what a script gets, and what is in the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace json = boost::json;

constexpr const char* kCursor = R"({
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@x/files", "--token", "sk-0123456789abcdef0123"]
    },
    "web": {"url": "https://x"}
  }
}
)";
constexpr const char* kCodex = "[mcp_servers.notes]\ncommand = \"notes\"\n";

class AdoptCommands : public FileCommands {
 protected:
  Seen adopt(std::vector<std::string> words) {
    words.insert(words.begin(), "adopt");
    words.insert(words.end(), {"--program", "/usr/bin/corral"});
    return run(std::move(words));
  }
  json::value adopt_json(std::vector<std::string> words) {
    words.emplace_back("--json");
    return json::parse(adopt(std::move(words)).out);
  }

  SetVariable codex_home_{"CODEX_HOME", ""};
  SetVariable claude_home_{"CLAUDE_CONFIG_DIR", ""};
  SetVariable copilot_home_{"COPILOT_HOME", ""};
};

TEST_F(AdoptCommands, ShowTheChangeWithoutSecretsAndWriteNothingUnasked) {
  write(".cursor/mcp.json", kCursor);

  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"--all"}, {"cursor", "--dry-run"}}) {
    const Seen seen = adopt(words);

    EXPECT_EQ(seen.code, 0) << seen.errors;
    EXPECT_EQ(seen.out, R"(Cursor: ~/.cursor/mcp.json
  files (line 3)  `corral connect`
    - "command": "npx"
    - "args": ["-y", "@x/files", "--token", "***"]
    + "command": "/usr/bin/corral"
    + "args": ["connect", "--name", "files", "--", "npx", "-y", "@x/files", "--token", "***"]
  web (line 7)  has a URL, so there is no process to keep
Nothing was changed. `corral adopt --all --yes` adopts this server.
)");
  }
  EXPECT_EQ(read(".cursor/mcp.json"), kCursor);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/state"));
}

TEST_F(AdoptCommands, ChangeTheFilesOfAllClientsAndTakeItBack) {
  write(".cursor/mcp.json", kCursor);
  write(".codex/config.toml", kCodex);

  const Seen adopted = adopt({"--all", "--yes"});

  EXPECT_EQ(adopted.code, 0) << adopted.errors;
  EXPECT_THAT(adopted.out, AllOf(HasSubstr("Adopted notes in ~/.codex/config.toml."),
                                 HasSubstr("Adopted files in ~/.cursor/mcp.json."),
                                 HasSubstr("2 servers of Codex, Cursor go through corral now."),
                                 HasSubstr("`corral release --all`")));
  EXPECT_EQ(read(".codex/config.toml"),
            "[mcp_servers.notes]\ncommand = \"/usr/bin/corral\"\nargs = [\"connect\", \"--name\", \"notes\", "
            "\"--\", \"notes\"]\n");
  EXPECT_EQ(adopt({"--all", "--yes"}).code, 3);
  EXPECT_THAT(adopt({"--all", "--yes"}).out, HasSubstr("Nothing to adopt."));
  const Seen status = adopt({"--status"});
  EXPECT_EQ(status.code, 0);
  EXPECT_EQ(status.out, R"(NAME   CLIENT  FILE                  STATE
notes  codex   ~/.codex/config.toml  adopted
files  cursor  ~/.cursor/mcp.json    adopted
)");

  const Seen released = run({"release", "--all", "--yes"});

  EXPECT_EQ(released.code, 0) << released.errors;
  EXPECT_THAT(released.out, HasSubstr("Released files in ~/.cursor/mcp.json."));
  EXPECT_EQ(read(".cursor/mcp.json"), kCursor);
  EXPECT_EQ(read(".codex/config.toml"), kCodex);
  const Seen again = run({"release", "--all", "--yes"});
  EXPECT_EQ(again.code, 3);
  EXPECT_EQ(again.out, "Nothing to release: nothing is adopted.\n");
}

TEST_F(AdoptCommands, ChangeOnlyTheClientsThatAreNamed) {
  write(".cursor/mcp.json", kCursor);
  write(".codex/config.toml", kCodex);

  EXPECT_EQ(adopt({"codex", "--yes"}).code, 0);
  EXPECT_EQ(read(".cursor/mcp.json"), kCursor);
  EXPECT_EQ(adopt({"cursor", "-y", "--run"}).code, 0);
  EXPECT_THAT(read(".cursor/mcp.json"), HasSubstr(R"(["run", "--", "npx", "-y")"));

  EXPECT_EQ(run({"release", "codex", "--yes"}).code, 0);
  EXPECT_EQ(read(".codex/config.toml"), kCodex);
  EXPECT_THAT(read(".cursor/mcp.json"), HasSubstr("/usr/bin/corral"));
  EXPECT_EQ(run({"release", "codex", "--yes"}).code, 3);
}

TEST_F(AdoptCommands, ShowNoControlCharactersOfTheLedger) {
  write(".codex/config.toml", kCodex);
  EXPECT_EQ(adopt({"codex", "--yes"}).code, 0);
  std::string ledger = read("state/corral/adopted.json");
  const std::string client = R"("client": "codex")";
  const std::size_t at = ledger.find(client);
  ASSERT_NE(at, std::string::npos) << ledger;
  write("state/corral/adopted.json", ledger.replace(at, client.size(), R"("client": "co\u001b[31mdex")"));

  for (const Seen& seen : {adopt({"--status"}), run({"release", "--all", "--dry-run"})}) {
    EXPECT_THAT(seen.out, AllOf(HasSubstr("[31mdex"), Not(HasSubstr("\x1b"))));
  }
}

TEST_F(AdoptCommands, ShowTheStateOfTheClientsThatAreNamed) {
  write(".cursor/mcp.json", kCursor);
  write(".codex/config.toml", kCodex);
  EXPECT_EQ(adopt({"--all", "--yes"}).code, 0);
  write(".cursor/mcp.json", kCursor);

  const Seen seen = run({"adopt", "codex", "--status"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, AllOf(HasSubstr("notes"), Not(HasSubstr("cursor"))));
  EXPECT_EQ(run({"adopt", "cursor", "--status"}).code, 1);
}

TEST_F(AdoptCommands, TellScriptsWhatWasChanged) {
  write(".cursor/mcp.json", kCursor);
  write(".codex/config.toml", "broken");

  const Seen seen = adopt({"--all", "--yes", "--json"});

  EXPECT_EQ(seen.code, 1) << "a file was left alone";
  const json::value report = json::parse(seen.out);
  EXPECT_EQ(report.at("schema"), 1);
  EXPECT_EQ(report.at("written"), true);
  EXPECT_EQ(report.at("program"), "/usr/bin/corral");
  const json::array& files = report.at("files").get_array();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].at("client"), "codex");
  EXPECT_THAT(std::string(files[0].at("error").get_string()), HasSubstr("config.toml:1:"));
  EXPECT_EQ(
      files[1].at("servers").get_array().front(),
      json::parse(R"({"name": "files", "project": null, "line": 3, "verdict": "wrap", "through": "connect",
                            "why": null})"));
  const json::array& outcomes = report.at("outcomes").get_array();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].at("changed"), json::parse(R"(["files"])"));
  EXPECT_EQ(seen.out.find("sk-0123"), std::string::npos);
  EXPECT_EQ(json::parse(adopt({"--all", "--json"}).out).at("written"), false);

  const Seen released = run({"release", "--all", "--yes", "--json"});
  EXPECT_EQ(released.code, 0);
  EXPECT_EQ(json::parse(released.out).at("outcomes").get_array().front().at("changed"),
            json::parse(R"(["files"])"));
  EXPECT_EQ(json::parse(released.out).at("warnings"), json::array());
}

TEST_F(AdoptCommands, SayWhatHasDrifted) {
  write(".cursor/mcp.json", kCursor);
  adopt({"--all", "--yes"});
  std::string now = read(".cursor/mcp.json");
  now.replace(now.find("@x/files"), 8, "@x/other");
  now.replace(now.find("\"web\""), 5, "\"new\": {\"command\": \"n\"}, \"web\"");
  write(".cursor/mcp.json", now);

  const Seen status = adopt({"--status"});

  EXPECT_EQ(status.code, 1);
  EXPECT_THAT(status.out, AllOf(HasSubstr("changed since, by hand"), HasSubstr("new: starts without corral"),
                                HasSubstr("1 server does not go through corral.")));
  const json::value report = adopt_json({"--status"});
  EXPECT_EQ(report.at("adopted").get_array().front().at("state"), "changed");
  EXPECT_EQ(run({"release", "--all"}).code, 1) << "a dry run says so, too";
  const Seen released = run({"release", "--all", "--yes"});
  EXPECT_EQ(released.code, 1);
  EXPECT_THAT(released.out, HasSubstr("left alone: files in ~/.cursor/mcp.json: it was changed since"));
  EXPECT_EQ(read(".cursor/mcp.json"), now);
}

TEST_F(AdoptCommands, LeaveServersAloneThatCannotBeChanged) {
  write(
      ".cursor/mcp.json",
      R"({"mcpServers": {"odd": {"command": "npx -y x"}, "kept": {"command": "corral", "args": ["run", "a"]}}})");

  const Seen seen = adopt({"--all", "--yes"});

  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.out,
              AllOf(HasSubstr("odd (line 1)  left alone: its command has spaces"),
                    HasSubstr("kept (line 1)  goes through corral already"), HasSubstr("Nothing to adopt.")));
}

TEST_F(AdoptCommands, ChangeProjectFilesOnlyIfAskedTo) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::string project = R"({"mcpServers": {"a": {"command": "a"}}})";
  write("project/.mcp.json", project);
  std::filesystem::current_path(folder_ + "/project");

  const Seen own = adopt({"--all", "--yes"});
  const Seen shared = run({"adopt", "--all", "--yes", "--project"});

  std::filesystem::current_path(before);
  EXPECT_EQ(own.code, 3);
  EXPECT_EQ(shared.code, 0) << shared.errors;
  EXPECT_EQ(read("project/.mcp.json"),
            R"({"mcpServers": {"a": {"command": "corral", "args": ["connect", "--name", "a", "--", "a"]}}})");
  EXPECT_EQ(run({"release", "--all", "--yes"}).code, 0);
  EXPECT_EQ(read("project/.mcp.json"), project);
}

TEST_F(AdoptCommands, RefuseACommandLineThatDoesNotSayWhat) {
  EXPECT_THAT(adopt({"--yes"}).errors, HasSubstr("--yes requires a selection"));
  EXPECT_EQ(adopt({"--yes"}).code, kOwnFailure);
  EXPECT_THAT(adopt({"cursr"}).errors, HasSubstr("Did you mean 'cursor'?"));
  EXPECT_THAT(adopt({"goose"}).errors, HasSubstr("no client whose configuration corral can change"));
  EXPECT_THAT(adopt({"--all", "cursor"}).errors, HasSubstr("--all means every client"));
  EXPECT_THAT(run({"release", "--yes"}).errors, HasSubstr("--yes requires a selection"));
  EXPECT_EQ(adopt({"claude", "--dry-run"}).code, 3) << "short names";
}

TEST_F(AdoptCommands, NeverWriteOverABrokenLedger) {
  write(".cursor/mcp.json", kCursor);
  write("state/corral/adopted.json", "{\n}}");

  const Seen seen = adopt({"--all", "--yes"});

  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.out, HasSubstr("adopted.json:2:"));
  EXPECT_EQ(read(".cursor/mcp.json"), kCursor);
  EXPECT_EQ(read("state/corral/adopted.json"), "{\n}}");
  EXPECT_EQ(run({"release", "--all", "--yes"}).code, kOwnFailure);
  EXPECT_EQ(adopt({"--status"}).code, kOwnFailure);
}

// The path is that of the test program, which is in a build tree or in a directory for temporary files.
TEST_F(AdoptCommands, AreAllUndoneByUninstall) {
  write(".cursor/mcp.json", kCursor);
  adopt({"--all", "--yes"});
  const std::vector<std::string> words = {"uninstall", "--runtime-dir", folder_ + "/nowhere"};
  const Seen shown = run(words);
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("release 1 server (`corral release --all`)"),
                               HasSubstr("Nothing was changed.")));
  EXPECT_THAT(read(".cursor/mcp.json"), HasSubstr("/usr/bin/corral"));

  const Seen done = run({"uninstall", "--yes", "--runtime-dir", folder_ + "/nowhere"});

  EXPECT_EQ(done.code, 0) << done.errors;
  EXPECT_THAT(done.out, AllOf(HasSubstr("Released files"), HasSubstr("Left\n  ~/state/corral: events,")));
  EXPECT_EQ(read(".cursor/mcp.json"), kCursor);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/state/corral"));
  EXPECT_EQ(run({"uninstall", "--yes", "--purge", "--runtime-dir", folder_ + "/nowhere"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/state/corral"));
}

TEST_F(AdoptCommands, StopUninstallIfAServerStillNeedsCorral) {
  write(".cursor/mcp.json", kCursor);
  adopt({"--all", "--yes"});
  std::string now = read(".cursor/mcp.json");
  now.replace(now.find("@x/files"), 8, "@x/other");
  write(".cursor/mcp.json", now);

  const Seen seen = run({"uninstall", "--yes", "--purge", "--runtime-dir", folder_ + "/nowhere"});

  EXPECT_EQ(seen.code, 1);
  EXPECT_THAT(seen.errors, HasSubstr("still starts corral"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/state/corral/adopted.json"))
      << "it is needed to release the rest";
}

TEST_F(AdoptCommands, WarnOfAPathThatMayNotStay) {
  write(".cursor/mcp.json", kCursor);

  const Seen seen = run({"adopt", "--all", "--dry-run"});

  EXPECT_THAT(seen.out, AllOf(HasSubstr("warning: '/"), HasSubstr("then repeat this.")));
}

}  // namespace
}  // namespace corral::cli
