#include "cli/frame/completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/frame/man_page.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Command sample(const std::string& name, const std::string& usage) {
  Command command;
  command.name = name;
  command.summary = "Do it: [the] user's \\way.";
  command.usage = usage;
  command.examples = "Examples:\n  corral x --y\n  .hidden\n\nProse with `ticks` and … more.\nExit code: 0.";
  command.options = {{"-v,--verbose", "", "Say more", nullptr},
                     {"--config", "FILE", "The file", nullptr},
                     {"--server", "SERVER", "Only this server", nullptr},
                     {"--foreign", "report|end", "What to do", nullptr}};
  return command;
}

Takes first_of(const std::string& name, const std::string& usage) {
  return shape_of(sample(name, usage)).first;
}

TEST(CommandShape, TheUsageSaysWhatComesFirst) {
  EXPECT_EQ(first_of("stop", "corral stop [options] NAME").kind, Takes::Kind::Server);
  EXPECT_EQ(first_of("url", "corral url NAME [options]").kind, Takes::Kind::Server);
  EXPECT_EQ(first_of("connect", "corral connect [options] NAME | -- COMMAND [ARG...]").kind,
            Takes::Kind::Server);
  EXPECT_EQ(first_of("add", "corral add [options] NAME -- COMMAND").kind, Takes::Kind::Nothing);
  EXPECT_EQ(first_of("import", "corral import [options] FILE").kind, Takes::Kind::File);
  EXPECT_EQ(first_of("run", "corral run [options] [--] COMMAND [ARG...]").kind, Takes::Kind::Program);
  EXPECT_EQ(first_of("ps", "corral ps [options]").kind, Takes::Kind::Nothing);
  EXPECT_THAT(first_of("config", "corral config check [options] [FILE] | corral config path").words,
              ElementsAre("check", "path"));
  EXPECT_THAT(first_of("service", "corral service install|uninstall|status [options]").words,
              ElementsAre("install", "uninstall", "status"));
  EXPECT_THAT(first_of("token", "corral token create NAME [--server SERVER]... | list | revoke NAME").words,
              ElementsAre("create", "list", "revoke"));
}

TEST(CommandShape, AnOptionKnowsWhatItTakes) {
  const std::vector<OptionShape> options = shape_of(sample("x", "corral x")).options;

  ASSERT_EQ(options.size(), 5U);
  EXPECT_EQ(options[0].brief, "-v");
  EXPECT_EQ(options[0].name, "--verbose");
  EXPECT_EQ(options[1].takes.kind, Takes::Kind::File);
  EXPECT_EQ(options[2].takes.kind, Takes::Kind::Server);
  EXPECT_THAT(options[3].takes.words, ElementsAre("report", "end"));
  EXPECT_EQ(options[4].name, "--help");
}

/// What an option of a real command takes.
Takes taken_by(const std::string& command, const std::string& option) {
  for (const Command& one : all_commands()) {
    if (one.name != command) continue;
    for (const OptionShape& shape : shape_of(one).options) {
      if (shape.name == option) return shape.takes;
    }
  }
  ADD_FAILURE() << "there is no " << command << " " << option;
  return {};
}

TEST(CommandShape, EveryOptionThatTakesAServerCompletesServers) {
  std::size_t options = 0;
  for (const Command& command : all_commands()) {
    for (const OptionShape& option : shape_of(command).options) {
      if (option.name != "--server") continue;
      ++options;
      EXPECT_EQ(option.takes.kind, Takes::Kind::Server) << command.name;
    }
  }
  EXPECT_GE(options, 4U);
}

TEST(CommandShape, FixedValuesAreOffered) {
  EXPECT_THAT(taken_by("events", "--kind").words, testing::IsSupersetOf({"spawn", "crash", "registry"}));
  EXPECT_THAT(taken_by("serve", "--log").words, ElementsAre("text", "json", "auto"));
  EXPECT_THAT(taken_by("connect", "--share").words, ElementsAre("shared", "session", "root"));
  EXPECT_THAT(taken_by("top", "--sort").words, testing::Contains("memory"));
}

TEST(CommandShape, OnlyNamesThatNoShellTakesForMoreAreOffered) {
  for (const char* const good : {"files", "my-server_2", "@scope/name", "a.b"})
    EXPECT_TRUE(is_plain_word(good));
  for (const char* const bad :
       {"", "-x", "a b", "$(id)", "a;b", "`id`", "a'b", "a\nb", "a*", "ü", "a\\b", "~x"}) {
    EXPECT_FALSE(is_plain_word(bad)) << bad;
  }
}

TEST(Completions, EveryShellIsToldCommandsOptionsAndServers) {
  const std::vector<CommandShape> shapes = {shape_of(sample("stop", "corral stop [options] NAME"))};

  for (const std::string& script :
       {bash_completions(shapes), zsh_completions(shapes), fish_completions(shapes)}) {
    EXPECT_THAT(script, HasSubstr("stop"));
    EXPECT_THAT(script, HasSubstr("verbose"));
    EXPECT_THAT(script, HasSubstr("report end"));
    EXPECT_THAT(script, HasSubstr("completions servers"));
  }
  EXPECT_THAT(zsh_completions(shapes), HasSubstr("Do it\\: \\[the\\] user'\\''s \\\\way."));
  EXPECT_THAT(fish_completions(shapes), HasSubstr("user\\'s \\\\way."));
}

TEST(ManPage, HasEverySectionAndNothingThatRoffTakesForItself) {
  const std::string page = man_page(sample("x", "corral x [options]"));

  EXPECT_TRUE(page.starts_with(".TH CORRAL\\-X 1 "));
  EXPECT_THAT(page, HasSubstr("corral\\-x \\- Do it: [the] user\\(aqs \\eway\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-v\\fR, \\fB\\-\\-verbose\\fR\nSay more\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-config\\fR \\fIFILE\\fR\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\n  corral x \\-\\-y\n  .hidden\n.fi\n"));
  EXPECT_THAT(page, HasSubstr("\\(gaticks\\(ga and \\[u2026] more."));
  EXPECT_THAT(page, HasSubstr(".PP\nExit code: 0."));
  for (const char byte : page) ASSERT_LT(static_cast<unsigned char>(byte), 0x80);
}

TEST(ManPage, TheWholeNamesEveryCommand) {
  const std::string page = man_page(std::vector<Command>{sample("x", "corral x"), sample("y", "corral y")});

  EXPECT_THAT(page, HasSubstr("\\fBcorral\\-x\\fR(1)"));
  EXPECT_THAT(page, HasSubstr("\\fBcorral\\-y\\fR(1)"));
  EXPECT_EQ(man_file("ps"), "corral-ps.1");
  EXPECT_EQ(man_file(""), "corral.1");
}

}  // namespace
}  // namespace corral::cli
