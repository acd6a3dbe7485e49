// The completions and manual pages of the real command table, read by a real bash and a real groff.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "support/daemon_test.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

class ShellAndMan : public DaemonTest {
 protected:
  /// What bash says to a line, with $corral.
  Words bash(const std::string& line) const {
    Launch launch = command("bash");
    launch.argv = {"bash", "--norc", "--noprofile", "-c", line};
    launch.env.push_back("corral=" + programs().corral);
    Session session(launch);
    Words said;
    said.out = session.output_to_end();
    said.code = session.wait().value_or(-1);
    said.err = file("stderr-bash");
    return said;
  }

  /// What Tab offers behind these words, the last of which is begun.
  std::string completed(const std::string& words) const {
    return bash(R"(source <("$corral" completions bash); COMP_WORDS=("$corral" )" + words +
                R"(); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _corral; printf '<%s>' "${COMPREPLY[@]}")")
        .out;
  }
};

TEST_F(ShellAndMan, BashCompletesCommandsOptionsAndServers) {
  mkdir(path("home/corral").c_str(), 0755);
  std::ofstream(path("home/corral/config.json"))
      << R"json({"mcpServers":{"files":{"command":"x"},"fetch":{"command":"x"},"f$(id)":{"command":"x"}}})json";

  const Words syntax =
      bash(R"("$corral" completions bash | bash -n && source <("$corral" completions bash) &&)"
           " complete -p corral");
  EXPECT_EQ(syntax.code, 0) << syntax.err;
  EXPECT_THAT(syntax.out, HasSubstr("complete -F _corral corral"));
  EXPECT_EQ(completed("sto"), "<stop>");
  EXPECT_EQ(completed("ps --tr"), "<--tree>");
  EXPECT_EQ(completed("service un"), "<uninstall>");
  EXPECT_EQ(completed("watch --foreign en"), "<end>");
  EXPECT_EQ(completed("restart f"), "<fetch><files>");
  EXPECT_EQ(completed("events --server f"), "<fetch><files>");
  EXPECT_EQ(completed("session create --server f"), "<fetch><files>");
  EXPECT_EQ(completed("connect c"), "<corral>");
  EXPECT_EQ(completed("events --kind cr"), "<crash>");
  EXPECT_EQ(completed("serve --log ''"), "<text><json><auto>");
  EXPECT_EQ(completed("connect --share s"), "<shared><session>");
  EXPECT_THAT(completed("run -- bas"), HasSubstr("<bash>"));
}

TEST_F(ShellAndMan, OtherShellsAreToldTheSame) {
  for (const char* const shell : {"zsh", "fish"}) {
    const Words said = bash(std::string(R"("$corral" completions )") + shell);
    EXPECT_EQ(said.code, 0) << said.err;
    for (const char* const word :
         {"restart", "runtime-dir", "completions servers", "install uninstall status"}) {
      EXPECT_THAT(said.out, HasSubstr(word)) << shell;
    }
  }
  EXPECT_EQ(bash(R"("$corral" completions tcsh)").code, 125);
}

TEST_F(ShellAndMan, EveryCommandHasAPageThatGroffReadsWithoutAWord) {
  const Words written = bash(R"("$corral" man --directory ")" + path("man") + R"(")");
  ASSERT_EQ(written.code, 0) << written.err;

  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("man"))) {
    ++pages;
    EXPECT_THAT(file("man/" + entry.path().filename().string()), HasSubstr(".SH SYNOPSIS"));
  }
  EXPECT_GT(pages, 25U);
  const Words groff = bash("command -v groff >/dev/null || exit 0; cd '" + path("man") +
                           "' && for page in *; do groff -man -ww -z -Tutf8 $page; done 2>&1");
  EXPECT_EQ(groff.out, "");
  EXPECT_THAT(bash(R"("$corral" man stopp)").err, HasSubstr("did you mean stop?"));
  EXPECT_THAT(file("man/corral-ps.1"), HasSubstr("\\-\\-tree"));
}

}  // namespace
}  // namespace corral::os_tests
