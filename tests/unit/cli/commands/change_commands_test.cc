// What a person is shown by the commands that change the configuration, letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/file_commands.h"
#include "cli/frame/command.h"

namespace corral::cli {
namespace {

using control::Verb;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ChangeOutput : public FileCommands {
 protected:
  ChangeOutput() {
    program("uvx");
    program("true");
  }

  /// One that PATH finds.
  void program(const std::string& name) {
    write("bin/" + name, "#!/bin/sh\n");
    std::filesystem::permissions(folder_ + "/bin/" + name, std::filesystem::perms(0755));
  }
  /// With the name that a user knows instead of the path of this test program.
  Seen run(std::vector<std::string> words) {
    Seen seen = FileCommands::run(std::move(words));
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    for (std::size_t at = 0; (at = seen.out.find(self)) != std::string::npos;) {
      seen.out.replace(at, self.size(), "corral");
    }
    return seen;
  }
  Seen change(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--config", config_, "--runtime-dir", folder_ + "/nowhere"});
    return run(std::move(words));
  }
  Seen import(const std::string& text, std::vector<std::string> options = {}) {
    write("client.json", text);
    std::vector<std::string> words = {"import", "--config", config_};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(folder_ + "/client.json");
    return run(words);
  }

  SetVariable path_{"PATH", folder_ + "/bin"};
};

TEST_F(ChangeOutput, AddSaysWhatItDidAndWhatComesNext) {
  const Seen seen =
      change({"add", "--share", "shared", "--env", "A=b", "--cwd", "/srv/", "one", "--", "uvx", "server"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, R"(Added one to ~/corral.json.
No daemon is running; the next one will read the file.
Next: corral tools --config ~/corral.json one
In a client: corral connect --config ~/corral.json one
)");
  EXPECT_EQ(read("corral.json"), R"({
  "mcpServers": {
    "one": {
      "command": "uvx",
      "args": ["server"],
      "env": {
        "A": "b"
      },
      "cwd": "/srv",
      "corral": {
        "share": "shared"
      }
    }
  }
}
)");
  EXPECT_EQ(change({"add", "two", "--", "true"}).out, R"(Added two to ~/corral.json.
The old version is in ~/corral.json.bak.
No daemon is running; the next one will read the file.
Next: corral tools --config ~/corral.json two
In a client: corral connect --config ~/corral.json two
)");
  EXPECT_EQ(change({"remove", "one"}).out, R"(Removed one from ~/corral.json.
The old version is in ~/corral.json.bak.
No daemon is running; the next one will read the file.
)");
}

TEST_F(ChangeOutput, AddNamesWhatCannotBe) {
  EXPECT_THAT(change({"add", "--env", "=b", "one", "--", "a"}).errors, HasSubstr("the variable has no name"));
  EXPECT_THAT(change({"add", "--env", "A", "one", "--", "a"}).errors,
              HasSubstr("'A' has no value: use NAME=VALUE, or 'A=${A}' to copy it from each client"));
  EXPECT_THAT(change({"add", "--share", "all", "one", "--", "a"}).errors,
              HasSubstr("'all': use auto, shared, session or root"));
  EXPECT_THAT(change({"add", "--cwd", "", "one", "--", "a"}).errors, HasSubstr("the value is empty"));
  EXPECT_THAT(change({"add", "one"}).errors, HasSubstr("give a name and, after `--`, the server's command"));
  EXPECT_THAT(change({"add", "one", "two", "--", "a"}).errors, HasSubstr("give a name and, after `--`"));
  EXPECT_THAT(change({"add", "o/ne", "--", "a"}).errors, HasSubstr("Choose another name."));
  EXPECT_FALSE(std::filesystem::exists(config_));
}

TEST_F(ChangeOutput, AChangeIsTakenOverByTheDaemonThatReadsTheFile) {
  ToldDaemon daemon;
  const auto add = [&](const std::string& name) {
    return run({"add", "--config", config_, "--runtime-dir", daemon.runtime_dir(), name, "--", "true"}).out;
  };
  daemon.status(R"({"daemon":{"config":")" + config_ + "\"}}");
  daemon.result(Verb::Reload, R"({"ended":0})");
  EXPECT_THAT(add("a"), HasSubstr("\nThe running daemon has applied the change.\n"));
  daemon.result(Verb::Reload, R"({"ended":1})");
  EXPECT_THAT(add("b"), HasSubstr("\nThe running daemon has applied the change and ended 1 instance.\n"));
  daemon.result(Verb::Reload, R"({"ended":2})");
  EXPECT_THAT(add("c"), HasSubstr("\nThe running daemon has applied the change and ended 2 instances.\n"));
  daemon.refuses(Verb::Reload, "the file is odd");
  EXPECT_THAT(add("d"), HasSubstr("\nThe running daemon has not applied the change: the file is odd.\n"));
  daemon.status(R"({"daemon":{"config":"/etc/other.json"}})");
  EXPECT_THAT(add("e"), HasSubstr("\nThe running daemon does not use this file; it uses /etc/other.json.\n"));
  daemon.refuses(Verb::Status, "busy");
  EXPECT_THAT(
      add("f"),
      HasSubstr("It is not known whether the daemon has applied the change: the daemon refuses: busy.\n"));
}

constexpr const char* kClient = R"({"mcpServers": {"one": {"command": "uvx", "args": ["server"]},
  "two": {"command": "true"}, "far": {"url": "https://a.example/mcp"}}})";

TEST_F(ChangeOutput, ImportSaysWhatItAddedReplacedAndKept) {
  write("client.json", kClient);
  const auto import = [this](std::vector<std::string> options) {
    std::vector<std::string> words = {"import", "--config", config_};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(folder_ + "/client.json");
    return run(words).out;
  };

  EXPECT_EQ(import({"--dry-run"}), R"(Would add one, two to ~/corral.json.
note: 'far' is left out: it is a remote server; corral manages local processes.
)");
  EXPECT_FALSE(std::filesystem::exists(config_));
  EXPECT_EQ(import({}), R"(Added one, two to ~/corral.json.
note: 'far' is left out: it is a remote server; corral manages local processes.
Next: corral tools --config ~/corral.json one
In a client: corral connect --config ~/corral.json one
`corral url NAME --client CLIENT` prints the line for the other servers; `corral list` lists them.
)");
  EXPECT_EQ(import({}), R"(Not changed in ~/corral.json: one, two. --force replaces them.
note: 'far' is left out: it is a remote server; corral manages local processes.
)");
  write("client.json", R"({"mcpServers": {"one": {"command": "uvx"}, "three": {"command": "true"}}})");
  EXPECT_EQ(import({"--force", "--dry-run"}), R"(Would add three to ~/corral.json.
Would replace one in ~/corral.json.
)");
  EXPECT_EQ(import({"--force"}), R"(Added three to ~/corral.json.
Replaced one in ~/corral.json.
The old version is in ~/corral.json.bak.
Next: corral tools --config ~/corral.json three
In a client: corral connect --config ~/corral.json three
`corral url NAME --client CLIENT` prints the line for the other servers; `corral list` lists them.
)");
}

TEST_F(ChangeOutput, ImportSaysWhyThereIsNothingToImport) {
  write("client.json", R"({"mcpServers": {"far": {"url": "https://a.example/mcp"}}})");

  const Seen seen = run({"import", "--config", config_, folder_ + "/client.json"});

  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.errors,
            R"(corral import: 'far' is left out: it is a remote server; corral manages local processes
corral import: '~/client.json' has no server that corral can run. Name another file.
)");
  EXPECT_EQ(run({"import"}).errors,
            "corral import: name one file, as in `corral import ~/.cursor/mcp.json`\n");
  EXPECT_EQ(run({"import", "--config", config_, folder_ + "/none.json"}).code, 1);
}

// ---- what a new entry needs

TEST_F(ChangeOutput, AddNamesACommandAndAVariableThatCannotBeResolvedHere) {
  const Seen missing = change({"add", "one", "--", "nosuchcmd", "x"});
  EXPECT_EQ(missing.code, 0) << "a client may have another PATH";
  EXPECT_EQ(missing.out, R"(Added one to ~/corral.json.
No daemon is running; the next one will read the file.
warning: in this shell: server 'one': command 'nosuchcmd' was not found in PATH: install it, give
         its full path, or correct PATH. It was added anyway.
Next: corral tools --config ~/corral.json one
In a client: corral connect --config ~/corral.json one
)");

  const Seen variable = change({"add", "two", "--env", "T=${NOT_THERE_AT_ALL}", "--", "true"});
  EXPECT_EQ(variable.code, 0);
  EXPECT_THAT(variable.out, AllOf(HasSubstr("warning: in this shell: server 'two': env.T needs the variable "
                                            "NOT_THERE_AT_ALL, which is"),
                                  HasSubstr("It was added anyway.")));
  EXPECT_THAT(change({"add", "three", "--", "${NOT_THERE_AT_ALL}/x"}).out, HasSubstr("NOT_THERE_AT_ALL"));
  EXPECT_THAT(change({"add", "four", "--env", "PATH=/nowhere", "--", "true"}).out,
              HasSubstr("command 'true' was not found in PATH"));
  EXPECT_THAT(change({"add", "five", "--", "true", "${CORRAL_ROOT}"}).out, Not(HasSubstr("warning")));
}

TEST_F(ChangeOutput, AddNamesACredentialButNotItsValue) {
  const Seen seen = change({"add", "one", "--env", "MY_TOKEN=hunter2", "--", "true"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, HasSubstr("warning: 'one': MY_TOKEN is stored in plain text in ~/corral.json; write "
                                  "${MY_TOKEN} there, and"));
  EXPECT_THAT(seen.out, Not(HasSubstr("hunter2")));
}

TEST_F(ChangeOutput, EndsWithTheLineForEachInstalledClient) {
  program("codex");
  write(".cursor/mcp.json", "{}");
  write(".config/zed/settings.json", "{}");

  const Seen seen = change({"add", "my files", "--", "true"});

  EXPECT_THAT(seen.out, HasSubstr(R"(Next: corral tools --config ~/corral.json 'my files'
In Codex: codex mcp add 'my files' -- corral connect --config ~/corral.json 'my files'
In Cursor: ~/.cursor/mcp.json: "my files": {"command":"corral","args":["connect","--config","~/corral.json","my files"]}
In Zed: ~/.config/zed/settings.json: "my files": )"));
  EXPECT_THAT(seen.out, Not(HasSubstr("In a client")));
  EXPECT_THAT(seen.out, Not(HasSubstr("Windsurf")));
}

TEST_F(ChangeOutput, ImportNamesWhatCannotBeResolvedAndWhatIsSecret) {
  const std::string text = R"({"mcpServers": {
    "github": {"command": "uvx", "env": {"GITHUB_TOKEN": "hunter2", "MODE": "fast", "OTHER_KEY": "${OTHER_KEY:-}"}},
    "args": {"command": "true", "args": ["--api-key", "hunter3"]},
    "lost": {"command": "nosuchcmd", "autoApprove": ["x"], "alwaysAllow": []},
    "off": {"command": "nosuchcmd", "disabled": true},
    "far": {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer hunter4"}}}})";

  const Seen seen = import(text);

  EXPECT_EQ(seen.code, 0) << seen.errors;
  for (const char* const part :
       {"note: 'far' is left out: it is a remote server",
        "note: 'lost' is added without \"autoApprove\", \"alwaysAllow\": only the client uses that, so",
        "warning: in this shell: server 'lost': command 'nosuchcmd' was not found in PATH",
        "warning: 'github': GITHUB_TOKEN is stored in plain text in ~/corral.json; write ${GITHUB_TOKEN}",
        "warning: 'args': the argument after --api-key is stored in plain text in ~/corral.json; write "
        "${API_KEY}",
        "warning: 'far': header Authorization is stored in plain text in ~/client.json; write "
        "${AUTHORIZATION}"}) {
    std::string text_of_part = part;
    std::string out = seen.out;
    for (std::size_t at = 0; (at = out.find("\n         ", at)) != std::string::npos;)
      out.replace(at, 10, " ");
    for (std::size_t at = 0; (at = out.find("\n      ", at)) != std::string::npos;) out.replace(at, 7, " ");
    EXPECT_THAT(out, HasSubstr(text_of_part));
  }
  EXPECT_THAT(seen.out, Not(HasSubstr("hunter")));
  EXPECT_THAT(seen.out, Not(HasSubstr("OTHER_KEY")));
  EXPECT_THAT(seen.out, Not(HasSubstr("server 'off'")));

  const Seen again = import(text);
  EXPECT_THAT(again.out, HasSubstr("Not changed in ~/corral.json: github, args, lost, off."));
  EXPECT_THAT(again.out, Not(HasSubstr("is added without")));
  EXPECT_THAT(again.out, Not(HasSubstr("GITHUB_TOKEN"))) << "nothing was copied";
}

TEST_F(ChangeOutput, ImportDoesNotTryWhatItWouldOnlyDo) {
  const Seen seen = import(kClient, {"--try", "--dry-run"});

  EXPECT_EQ(seen.code, kOwnFailure);
  EXPECT_THAT(seen.errors, HasSubstr("--dry-run changes nothing and --try starts servers"));
  EXPECT_FALSE(std::filesystem::exists(config_));
}

}  // namespace
}  // namespace corral::cli
