// What people see first, on a terminal of 80 columns: every page fits, and no line of it is wrapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <sstream>

#include "support/hub_test.h"
#include "support/on_screens.h"

namespace corral::os_tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kColumns = 80;

/// In columns: one for each character.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

class Screens : public OnScreens<HubTest> {
 protected:
  /// The whole screen of a program that ends.
  std::string page(const std::vector<std::string>& program, int rows = 24) {
    const std::string name = "page" + std::to_string(++pages_);
    open_page(name, kColumns, program, rows);
    EXPECT_TRUE(comes_to_show(name, kEnd)) << text_of(name);
    last_ = name;
    return text_of(name);
  }
  std::string page_of(const std::string& name, const std::vector<std::string>& words = {}, int rows = 24) {
    return page(command(name, words).argv, rows);
  }
  static std::vector<std::string> corral(std::vector<std::string> words) {
    words.insert(words.begin(), programs().corral);
    return words;
  }
  /// The lines that are wider than the screen.
  std::vector<std::string> wrapped(const std::string& name) {
    std::vector<std::string> lines;
    std::istringstream text(unwrapped_text_of(name));
    for (std::string line; std::getline(text, line);) {
      line.erase(line.find_last_not_of(' ') + 1);
      if (width_of(line) > kColumns) lines.push_back(line);
    }
    return lines;
  }
  std::vector<std::string> wrapped() { return wrapped(last_); }

  /// Shared and private servers, one of them with a long name, one that is stopped and one that cannot start.
  void begin() {
    add_server("alpha", {"--grow=mixed:4"}, R"("share":"shared")");
    add_server("a-server-with-a-name-that-is-longer-than-its-column", {}, R"("share":"session")");
    add_server("stopped", {}, R"("share":"shared")");
    start_daemon();
    for (const char* const name :
         {"alpha", "a-server-with-a-name-that-is-longer-than-its-column", "stopped"}) {
      clients_.push_back(std::make_unique<McpClient>(connect({name})));
      ASSERT_TRUE(clients_.back()->initialize()) << errors_of_shim();
      pids_.push_back(clients_.back()->call("pid"));
    }
    ASSERT_EQ(say("stop", {"stopped"}).code, 0);
    McpClient failing(connect({"--", "/no/such/folder/with/a/name/that/is/long/nosuchcmd"}));
    failing.initialize();
    failing.wait();
  }

  std::vector<std::unique_ptr<McpClient>> clients_;
  std::vector<std::string> pids_;
  std::string last_;
  int pages_ = 0;
};

TEST_F(Screens, HelpFitsOnOneScreenWithThePromptBelow) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, std::vector<std::string>{"help"}}) {
    const std::string text = page(corral(words));

    EXPECT_THAT(text, StartsWith("corral runs MCP servers")) << "the first line has left the screen";
    EXPECT_THAT(text, AllOf(HasSubstr("\nUse  (also: "), HasSubstr("\n  connect "), HasSubstr("\n  ps "),
                            HasSubstr("\n  doctor "), HasSubstr("\nAdminister  (also: ")));
    EXPECT_THAT(wrapped(), testing::IsEmpty());
  }
}

TEST_F(Screens, WithoutACommandItSaysWhatItFoundAndThreeCommands) {
  const std::string text = page(corral({}));

  EXPECT_THAT(text, StartsWith("corral runs MCP servers"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nclients "), HasSubstr("\nservers "), HasSubstr("\nrunning "),
                          HasSubstr("\ndaemon "), HasSubstr("\nNext:  corral "), HasSubstr("corral --help")));
  EXPECT_THAT(wrapped(), testing::IsEmpty());
  EXPECT_THAT(text, Not(HasSubstr("Administer")));
}

TEST_F(Screens, PsIsOneLineForEachServer) {
  begin();

  const std::string text = page_of("ps");

  EXPECT_THAT(wrapped(), testing::IsEmpty());
  EXPECT_THAT(text, ContainsRegex("^SERVER +PID +PROCS +SESS +UP +MEMORY +CPU +STATE\n"
                                  "[^\n]+ " +
                                  pids_[0] +
                                  " [^\n]+ ready\n"
                                  "[^\n]+ " +
                                  pids_[1] +
                                  " [^\n]+ ready\n"
                                  "stopped +- [^\n]+stopped\n"
                                  "stopped is stopped; `corral start stopped`"))
      << text;
  EXPECT_THAT(text, HasSubstr("nosuchcmd failed ")) << text;
  EXPECT_THAT(text, HasSubstr("`corral ps -v` says why each process is shared or private"));
  EXPECT_THAT(text, Not(HasSubstr("share is set to")));
}

TEST_F(Screens, PsCountsTheProcessesOfAServerInItsLine) {
  begin();
  for (int window = 0; window < 2; ++window) {
    clients_.push_back(
        std::make_unique<McpClient>(connect({"a-server-with-a-name-that-is-longer-than-its-column"})));
    ASSERT_TRUE(clients_.back()->initialize()) << errors_of_shim();
    pids_.push_back(clients_.back()->call("pid"));
  }

  const std::string text = page_of("ps");
  EXPECT_THAT(wrapped(), testing::IsEmpty());
  EXPECT_THAT(text, ContainsRegex("\na-server-with[^\n]+ 3 pids +3 +3 +[^\n]+ ready\nstopped ")) << text;
  EXPECT_THAT(text, Not(HasSubstr(pids_.back())));

  const std::string each = page_of("ps", {"-v"}, 60);
  EXPECT_THAT(wrapped(), testing::IsEmpty());
  for (const std::string& pid : {pids_[1], pids_[3], pids_[4]}) {
    EXPECT_THAT(each, ContainsRegex("\na-server-with[^\n]+ " + pid + " +1 +1 +[^\n]+ ready\n  private: "));
  }
}

TEST_F(Screens, TopSaysWhenAnIdleProcessEnds) {
  begin();
  clients_.front()->session().close_stdin();
  clients_.front()->wait();
  EXPECT_TRUE(eventually([&] { return std::regex_search(status(), std::regex(R"("ends_in_ms":\d)")); }));
  const std::string name = "idle";
  open_screen(name, kColumns, command("top", {"--interval", "1h"}).argv);

  ASSERT_TRUE(comes_to_show(name, "q quit")) << text_of(name);
  EXPECT_THAT(text_of(name), ContainsRegex("alpha[^\n]* " + pids_[0] + " [^\n]+ idle, ends in (10m|9m)"));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
}

TEST_F(Screens, HelpOfACommandAndConfigCheckFit) {
  begin();
  for (const char* const name : {"ps", "connect", "run", "add", "serve"}) {
    const std::string text = page(corral({name, "--help"}), 100);
    EXPECT_THAT(text, HasSubstr("Usage: corral " + std::string(name)));
    EXPECT_THAT(wrapped(), testing::IsEmpty());
  }
  page(corral({"config", "check", "--all", path("config.json")}), 100);
  EXPECT_THAT(wrapped(), testing::IsEmpty());
}

TEST_F(Screens, ServeOfACommandFitsAndIsListedByItsName) {
  const std::string name = "command-served";
  open_screen(name, kColumns, serve({"--port", "0", "--", path("rude_server"), "--tag=" + tag()}).argv);

  ASSERT_TRUE(comes_to_show(name, "for old clients")) << text_of(name);
  EXPECT_THAT(text_of(name), HasSubstr("\n  claude mcp add --transport http rude_server http://127.0.0.1:"));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
  EXPECT_THAT(
      page_of("list"),
      ContainsRegex("reads no\nfile\\.\n\nSERVER [^\n]+\nrude_server +not started [^\n]+ corral serve +-"));
  EXPECT_THAT(wrapped(), testing::IsEmpty());
  tmux({"send-keys", "-t", name, "C-c"});
  EXPECT_TRUE(eventually([&] { return !answers(); }));
}

TEST_F(Screens, PsSaysInTheRowOfAnIdleProcessWhenItEnds) {
  begin();
  clients_.front()->session().close_stdin();
  clients_.front()->wait();
  // It has no end yet while it answers a request of the daemon itself.
  EXPECT_TRUE(eventually([&] { return std::regex_search(status(), std::regex(R"("ends_in_ms":\d)")); }));

  const std::string text = page_of("ps");

  EXPECT_THAT(wrapped(), testing::IsEmpty());
  EXPECT_THAT(text, ContainsRegex("\n[^\n]+ " + pids_[0] + " [^\n]+ idle, ends in (10m|9m)\n")) << text;
}

TEST_F(Screens, ListIsOneLineForEachServer) {
  begin();

  const std::string text = page_of("list");

  EXPECT_THAT(wrapped(), testing::IsEmpty());
  EXPECT_THAT(text, ContainsRegex("SERVER +STATE +TOOLS +SHARED +FROM +LAST ERROR\n"
                                  "alpha +ready +[-0-9]+ +shared +line 1 +-\n"
                                  "[^\n]+ ready +[-0-9]+ +private +line 1 +-\n"
                                  "stopped +stopped +[-0-9]+ +shared +line 1 +-\n"
                                  "nosuchcmd +failed +- +"))
      << text;
}

TEST_F(Screens, PsVerboseSaysWhyBelowEachLine) {
  begin();

  const std::string text = page_of("ps", {"-v"}, 60);

  EXPECT_THAT(wrapped(), testing::IsEmpty());
  EXPECT_THAT(text, StartsWith("corral "));
  EXPECT_THAT(text, ContainsRegex("\nalpha[^\n]+ready\n  shared: share is set to \"shared\""));
  EXPECT_THAT(text, ContainsRegex("ready\n  private: share is set to \"session\""));
  EXPECT_THAT(text, Not(HasSubstr("`corral ps -v`")));
  EXPECT_THAT(page_of("status"), StartsWith(text.substr(0, text.find(", up "))));
  EXPECT_THAT(wrapped(), testing::IsEmpty());
}

TEST_F(Screens, TopShowsItsServersFromTheFirstFrame) {
  begin();
  const std::string name = "top";
  open_screen(name, kColumns, command("top", {"--interval", "1h"}).argv);

  ASSERT_TRUE(comes_to_show(name, "q quit")) << text_of(name);
  const std::string text = text_of(name);
  EXPECT_THAT(text, ContainsRegex("alpha[^\n]* " + pids_[0] + " ")) << text;
  EXPECT_THAT(text, HasSubstr("instances 2, "));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
}

TEST_F(Screens, DoctorWrapsNothingButWhatIsForCopying) {
  const std::string text = page(corral({"doctor"}), 200);

  EXPECT_THAT(text, ContainsRegex("MCP servers? (is|are) running here|No MCP server")) << text;
  for (const std::string& line : wrapped()) {
    EXPECT_THAT(line, testing::MatchesRegex(" *(next|or)? *corral .*")) << text;
  }
}

TEST_F(Screens, ServeSaysWhatItServesAndHowItEnds) {
  begin();  // the daemon of this test, which is replaced
  const std::string name = "serve";
  std::vector<std::string> line = serve({"--replace"}).argv;
  open_screen(name, kColumns, line);

  ASSERT_TRUE(comes_to_show(name, "Ctrl+C ends it")) << text_of(name);
  ASSERT_TRUE(comes_to_show(name, "`corral ps`")) << text_of(name);
  const std::string text = text_of(name);
  EXPECT_THAT(text, HasSubstr("\n  servers   ")) << text;
  EXPECT_THAT(text, Not(HasSubstr("{\"time\"")));
  EXPECT_THAT(text, Not(HasSubstr("[corral v")));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
  tmux({"send-keys", "-t", name, "C-c"});
  EXPECT_TRUE(eventually([&] { return !answers(); }));
}

TEST_F(Screens, ServeNamesItsServersInLinesThatFit) {
  begin();  // the daemon of this test, which is replaced
  const std::string name = "configured";
  open_screen(name, kColumns, serve({"--replace", "--config", path("config.json")}).argv);

  ASSERT_TRUE(comes_to_show(name, "`corral ps`")) << text_of(name);
  EXPECT_THAT(text_of(name), AllOf(HasSubstr("\n  servers   alpha"), HasSubstr("`corral connect alpha`")));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
  tmux({"send-keys", "-t", name, "C-c"});
  EXPECT_TRUE(eventually([&] { return !answers(); }));
}

TEST_F(Screens, ConnectSaysThatItWaitsAndForWhom) {
  begin();
  const std::string name = "connect";
  open_screen(name, kColumns, command("connect", {"alpha"}).argv);

  ASSERT_TRUE(comes_to_show(name, "`corral call alpha TOOL`")) << text_of(name);
  EXPECT_THAT(text_of(name),
              AllOf(StartsWith("corral connect is waiting for a client's messages on stdin; Ctrl+C"),
                    HasSubstr("\n  a client starts it, as in   claude mcp add alpha -- "),
                    HasSubstr("\n  from a shell                `corral tools alpha`")));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
  EXPECT_THAT(errors_of_shim(), Not(HasSubstr("is waiting for a client"))) << "which has pipes";
}

TEST_F(Screens, ConnectSaysWhatACommandIsForBeforeItsServerRuns) {
  begin();
  const std::string name = "command";
  open_screen(name, kColumns, connect_command().argv);

  ASSERT_TRUE(comes_to_show(name, "-- TOOL`")) << text_of(name);
  EXPECT_THAT(
      text_of(name),
      AllOf(StartsWith("corral connect is waiting for a client's messages on stdin; Ctrl+C"),
            HasSubstr("\n  a client starts it, as in   claude mcp add NAME -- corral connect -- COMMAND"),
            HasSubstr("\n  from a shell                `corral tools -- COMMAND`\n")));
  EXPECT_THAT(wrapped(name), testing::IsEmpty());
}

}  // namespace
}  // namespace corral::os_tests
