// `corral adopt` and `corral release` on a terminal: they show the change, ask for each client, and do what
// they were told and nothing else.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "support/eventually.h"
#include "support/survey_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

constexpr const char* kCodex = "[mcp_servers.notes]\ncommand = \"notes\"\n";
constexpr const char* kCursor =
    "{\"mcpServers\": {\"files\": {\"command\": \"files\", \"args\": [\"--token\", \"xyz\"]}}}\n";

class AdoptAsks : public SurveyTest {
 protected:
  /// The files are those of the user that runs the tests.
  User user() const override { return User::Root; }
  void SetUp() override {
    SurveyTest::SetUp();
    write("home/.codex/config.toml", kCodex);
    write("home/.cursor/mcp.json", kCursor);
  }

  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  bool is_adopted(const std::string& name) const {
    return read(name).find("\"connect\"") != std::string::npos;
  }

  /// The exit code after these answers to "… [q]uit: ".
  int answer(const std::vector<std::string>& words, const std::vector<std::string>& answers) {
    Terminal terminal;
    terminal.resize(100, 40);
    Launch launch = corral_launch(words);
    launch.in = launch.out = Stdio::Terminal;
    launch.terminal = &terminal;
    Session session(launch);
    for (const std::string& keys : answers) {
      EXPECT_TRUE(terminal.shows("[q]uit: ")) << terminal.screen();
      terminal.type(keys);
    }
    return session.wait().value_or(-1);
  }
};

TEST_F(AdoptAsks, ForEachClientAndChangesOnlyThoseThatAreAgreedTo) {
  EXPECT_EQ(answer({"adopt"}, {"n\r", "y\r"}), 0);

  EXPECT_EQ(read("home/.codex/config.toml"), kCodex);
  EXPECT_TRUE(is_adopted("home/.cursor/mcp.json"));
  EXPECT_EQ(answer({"release"}, {"y\r"}), 0);
  EXPECT_EQ(read("home/.cursor/mcp.json"), kCursor);
}

TEST_F(AdoptAsks, AndChangesNothingWithoutAYes) {
  EXPECT_EQ(answer({"adopt"}, {"\r", "what?\r"}), 3);
  EXPECT_EQ(answer({"adopt"}, {"q\r"}), 3);
  EXPECT_EQ(answer({"adopt"}, {"\x04"}), 3);

  EXPECT_EQ(read("home/.codex/config.toml"), kCodex);
  EXPECT_EQ(read("home/.cursor/mcp.json"), kCursor);
}

TEST_F(AdoptAsks, AndChangesAllAfterOneAnswer) {
  EXPECT_EQ(answer({"adopt"}, {"a\r"}), 0);
  EXPECT_TRUE(is_adopted("home/.codex/config.toml"));
  EXPECT_TRUE(is_adopted("home/.cursor/mcp.json"));

  EXPECT_EQ(answer({"release", "--all"}, {"a\r"}), 0);
  EXPECT_EQ(read("home/.codex/config.toml"), kCodex);
  EXPECT_EQ(read("home/.cursor/mcp.json"), kCursor);
}

/// Claude Code writes its whole file again while it runs.
class AdoptRunning : public AdoptAsks {
 protected:
  void SetUp() override {
    AdoptAsks::SetUp();
    write("home/.claude.json", kClaude);
    claude_.emplace(client("claude", 1, server_line()), 1);
  }
  /// Another test's process that is just being forked may be named with it.
  std::string who() const {
    return "Claude Code .pids? ([0-9]+, )*" + std::to_string(claude_->pid()) + "(, [0-9]+)*.";
  }
  static std::string one_line(const std::string& text) {
    std::istringstream words(text);
    std::string line;
    for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
  }

  static constexpr const char* kClaude = R"({"mcpServers": {"files": {"command": "files"}}})";

 private:
  std::optional<Holder> claude_;
};

TEST_F(AdoptRunning, ClientThatMayUndoTheChangeIsNamed) {
  const Said said = run_corral({"adopt", "claude-code", "--yes"});

  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(one_line(said.out),
              testing::ContainsRegex(who() + " is running and writes this file from its memory"));
  EXPECT_TRUE(is_adopted("home/.claude.json"));
}

TEST_F(AdoptRunning, ClientThatHasUndoneTheChangeIsNamed) {
  std::thread memory([this] {
    eventually([this] { return is_adopted("home/.claude.json"); });
    write("home/.claude.json", kClaude);
  });
  const Said said = run_corral({"adopt", "claude-code", "--yes"});
  memory.join();

  EXPECT_THAT(
      one_line(said.out),
      testing::ContainsRegex(who() + " has written the file from its memory and undone the change of files"));
  EXPECT_EQ(run_corral({"adopt", "--status"}).code, 1);
  EXPECT_EQ(run_corral({"adopt", "cursor", "--yes"}).out.find("Claude"), std::string::npos)
      << "it writes another file";
}

TEST_F(AdoptRunning, ClientThatPutsCorralBackAfterAReleaseIsNamed) {
  ASSERT_EQ(run_corral({"adopt", "claude-code", "--yes"}).code, 0);
  const std::string in_its_memory = read("home/.claude.json");
  std::thread memory([this, &in_its_memory] {
    eventually([this] { return !is_adopted("home/.claude.json"); });
    write("home/.claude.json", in_its_memory);
  });
  const Said said = run_corral({"release", "--all", "--yes"});
  memory.join();

  EXPECT_THAT(
      one_line(said.out),
      testing::ContainsRegex(who() + " has written the file from its memory and undone the change of files"));
  EXPECT_TRUE(is_adopted("home/.claude.json"));
  EXPECT_EQ(run_corral({"release", "--all", "--yes"}).code, 0) << "it is still known";
  EXPECT_EQ(read("home/.claude.json"), kClaude);
  EXPECT_EQ(run_corral({"release", "--all", "--yes"}).code, 3);
}

}  // namespace
}  // namespace corral::os_tests
