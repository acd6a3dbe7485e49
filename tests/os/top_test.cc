// `corral ps` and `corral top` as people see them: on real screens of tmux, captured, and on a terminal that
// is taken away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "support/eventually.h"
#include "support/hub_test.h"
#include "support/on_screens.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;

class PsTop : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    add_server("alpha", {"--grow=mixed:4"}, R"("share":"shared","stdin_grace":"200ms","term_grace":"200ms")");
    add_server("beta", {}, R"("share":"shared")");
    start_daemon();
    alpha_ = std::make_unique<McpClient>(connect({"alpha"}));
    beta_ = std::make_unique<McpClient>(connect({"beta"}));
    other_beta_ = std::make_unique<McpClient>(connect({"beta"}));
    ASSERT_TRUE(alpha_->initialize() && beta_->initialize() && other_beta_->initialize()) << errors_of_shim();
    alpha_pid_ = alpha_->call("pid");
    beta_pid_ = beta_->call("pid");
    other_beta_->call("pid");
  }

  std::unique_ptr<McpClient> alpha_;
  std::unique_ptr<McpClient> beta_;
  std::unique_ptr<McpClient> other_beta_;
  std::string alpha_pid_;
  std::string beta_pid_;
};

TEST_F(PsTop, PsSaysWhichProcessServesWhom) {
  const Words table = say("ps", {"-v"});
  const Words tree = say("ps", {"--tree"});
  const Words json = say("ps", {"--json", "--server", "beta"});

  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("SERVER"));
  EXPECT_THAT(table.out, HasSubstr(alpha_pid_));
  EXPECT_THAT(table.out, HasSubstr(R"(share is set to "shared")"));
  EXPECT_THAT(tree.out, HasSubstr("corral-keeper"));
  EXPECT_THAT(tree.out, testing::ContainsRegex("rude-server +" + alpha_pid_ + " +[SRD] +[0-9.]+ [KM]B"));
  EXPECT_THAT(tree.out, HasSubstr("Clients: "));
  EXPECT_THAT(tree.out, HasSubstr("alpha (pid " + alpha_pid_ + ", session "));
  EXPECT_THAT(json.out, testing::StartsWith(R"({"instances":[{"server":"beta")"));
  EXPECT_THAT(json.out, testing::Not(HasSubstr("alpha")));
}

TEST_F(PsTop, ABatchIsPlainTextWithoutATerminal) {
  const Words twice = say("top", {"--batch", "2", "--interval", "100ms", "--sort", "name"});
  const Words without = say("top");

  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_THAT(twice.out, testing::ContainsRegex("alpha(.|\n)*beta(.|\n)*SERVER(.|\n)*alpha(.|\n)*beta"));
  EXPECT_EQ(twice.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(without.code, 125);
  EXPECT_THAT(without.err, HasSubstr("corral top --batch"));
}

class TopInTmux : public OnScreens<PsTop> {
 protected:
  void start_top(const std::vector<std::string>& words = {}) {
    open_screen("top", 80, command("top", words).argv);
  }

  std::string screen() { return tmux({"capture-pane", "-p"}); }
  void type(const std::string& key) { tmux({"send-keys", key}); }
  bool shows(const std::string& regex) {
    return eventually([&] { return testing::Value(screen(), testing::ContainsRegex(regex)); });
  }
  pid_t top() { return std::atoi(tmux({"list-panes", "-F", "#{pane_pid}"}).c_str()); }
};

TEST_F(TopInTmux, ShowsSortsAndStopsByKey) {
  start_top();

  EXPECT_TRUE(shows("SERVER +PID .*MEMORY.*STATE")) << screen();
  EXPECT_TRUE(shows("alpha +" + alpha_pid_ + " ")) << screen();
  type("n");
  EXPECT_TRUE(shows("by name(.|\n)*alpha .*\n.*beta ")) << screen();
  type("s");
  EXPECT_TRUE(shows("by sessions(.|\n)*beta .*\n.*alpha ")) << screen();
  type("n");
  type("Home");
  EXPECT_TRUE(shows("> alpha")) << screen();

  type("x");
  EXPECT_TRUE(shows("stop alpha .*y/n")) << screen();
  EXPECT_FALSE(is_gone(std::stoi(alpha_pid_)));
  type("y");
  EXPECT_TRUE(shows("alpha is stopped")) << screen();
  EXPECT_TRUE(shows("alpha .*stopped")) << screen();
  EXPECT_TRUE(is_gone(std::stoi(alpha_pid_)));
  EXPECT_FALSE(is_gone(std::stoi(beta_pid_)));
}

/// The line that begins with this word.
std::string line_of(const std::string& text, const std::string& word) {
  const std::size_t at = text.starts_with(word) ? 0 : text.find("\n" + word) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

TEST_F(TopInTmux, PsTellsAStoppedServerFromAParkedOneOnScreensOf80And150Columns) {
  ASSERT_EQ(say("stop", {"alpha"}).code, 0);

  for (const int columns : {80, 150}) {
    const std::string name = "ps" + std::to_string(columns);
    open_page(name, columns, command("ps").argv);
    ASSERT_TRUE(comes_to_show(name, kEnd)) << text_of(name);
    const std::string text = text_of(name);

    EXPECT_THAT(line_of(text, "SERVER"), HasSubstr("STATE")) << "the header was wrapped";
    EXPECT_THAT(line_of(text, "alpha"), testing::ContainsRegex("^alpha +- .* stopped")) << text;
    EXPECT_THAT(line_of(text, "beta"), testing::ContainsRegex("^beta +" + beta_pid_ + " .* ready")) << text;
    EXPECT_THAT(text, HasSubstr("`corral start alpha` allows it to run"));
    EXPECT_THAT(text, testing::Not(testing::ContainsRegex("parked|next call")));
    EXPECT_EQ(line_of(text, "SERVER").find("SHARED BECAUSE") != std::string::npos, columns == 150) << text;

    const std::string colours = colours_of(name);
    EXPECT_THAT(colours, HasSubstr("\x1b[1mSERVER"));
    EXPECT_THAT(colours, HasSubstr("\x1b[31mstopped"));
    EXPECT_THAT(colours, testing::Not(testing::ContainsRegex("\x1b\\[3[0-9]mready")));
  }
}

TEST_F(TopInTmux, FollowsTheSizeOfItsScreen) {
  start_top();
  EXPECT_TRUE(shows("alpha(.|\n)*q quit")) << screen();

  for (const auto& [columns, rows] : {std::pair{120, 40}, std::pair{60, 15}}) {
    tmux({"resize-window", "-x", std::to_string(columns), "-y", std::to_string(rows)});

    // The last line of the screen is the one with the keys, and nothing was wrapped.
    EXPECT_TRUE(eventually([this, rows = rows] {
      const std::string text = screen();
      const auto lines = std::count(text.begin(), text.end(), '\n');
      const std::size_t last = text.rfind('\n', text.size() - 2);
      return lines == rows && text.starts_with("corral ") && text.find("? help", last) != std::string::npos;
    })) << screen();
  }
}

TEST_F(TopInTmux, IsGoneWithItsPane) {
  start_top();
  EXPECT_TRUE(shows("alpha")) << screen();
  const pid_t pid = top();
  ASSERT_GT(pid, 0);

  tmux({"kill-pane"});

  EXPECT_TRUE(eventually([pid] { return is_gone(pid); }));
}

class TopOnTerminal : public PsTop {
 protected:
  Launch top(const std::string& type) {
    Launch launch = command("top");
    launch.env.push_back("TERM=" + type);
    launch.in = Stdio::Terminal;
    launch.out = Stdio::Terminal;
    launch.terminal = &terminal_;
    return launch;
  }

  Terminal terminal_;
};

TEST_F(TopOnTerminal, GivesItBackAsItWas) {
  for (const char* const end : {"q", Terminal::kCtrlC}) {
    Session session(top("xterm"));
    ASSERT_TRUE(terminal_.shows("\x1b[?1049h"));
    ASSERT_TRUE(terminal_.shows("alpha"));
    EXPECT_FALSE(terminal_.is_cooked());

    terminal_.type(end);

    EXPECT_EQ(session.wait(), *end == 'q' ? 0 : 128 + SIGINT);
    EXPECT_TRUE(terminal_.is_cooked());
    EXPECT_TRUE(terminal_.shows("\x1b[?25h\x1b[?1049l"));
  }
}

TEST_F(TopOnTerminal, EndsWhenTheTerminalHangsUpEvenIfSignalsAreIgnored) {
  Launch launch = top("xterm");
  launch.before_exec = [] { signal(SIGHUP, SIG_IGN); };
  Session session(launch);
  ASSERT_TRUE(terminal_.shows("alpha"));

  terminal_.close_window();

  EXPECT_EQ(session.wait(), 128 + SIGHUP);
}

TEST_F(TopOnTerminal, SaysWhatToDoWhereTextCannotBePlaced) {
  Session session(top("dumb"));

  EXPECT_EQ(session.wait(), 125);
  EXPECT_THAT(file("stderr-top"), HasSubstr("TERM is dumb"));
  EXPECT_THAT(file("stderr-top"), HasSubstr("corral ps"));
}

}  // namespace
}  // namespace corral::os_tests
