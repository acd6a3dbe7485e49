
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/frame/command_texts.h"

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

/// A real command.
Command called(const std::string& name) {
  for (Command& command : all_commands()) {
    if (command.name == name) return std::move(command);
  }
  ADD_FAILURE() << "there is no command " << name;
  return {};
}

TEST(CommandTable, SaysWhatTheFirstArgumentIs) {
  for (const char* const name : {"stop", "url", "connect", "call", "logs", "remove"}) {
    EXPECT_EQ(called(name).argument.kind, Argument::Kind::Server) << name;
  }
  for (const char* const name : {"add", "who"}) {
    EXPECT_EQ(called(name).argument.kind, Argument::Kind::Other) << name;
  }
  for (const char* const name : {"help", "man"}) {
    EXPECT_EQ(called(name).argument.choices.size(), all_commands().size()) << name;
  }
  EXPECT_EQ(called("import").argument.kind, Argument::Kind::File);
  EXPECT_EQ(called("run").argument.kind, Argument::Kind::Program);
  EXPECT_THAT(called("config").argument.choices, ElementsAre("check", "path"));
  EXPECT_THAT(called("session").argument.choices, ElementsAre("create", "end", "list"));
}

TEST(CommandTable, AgreesWithTheUsage) {
  for (const Command& command : all_commands()) {
    const std::string bare = "corral " + command.name + " [options]";
    const bool program = command.usage.find("-- COMMAND") != std::string::npos ||
                         command.usage.find("[--]") != std::string::npos;
    EXPECT_EQ(command.runs_program, program) << command.name;
    if (command.usage == bare) {
      EXPECT_EQ(command.argument.kind, Argument::Kind::None) << command.name;
    }
    if (command.argument.kind == Argument::Kind::None) {
      EXPECT_THAT(command.usage, testing::StartsWith(bare)) << command.name;
    }
    if (command.argument.kind == Argument::Kind::Server) {
      EXPECT_THAT(command.usage, HasSubstr(" NAME")) << command.name;
    }
    if (command.usage.find("[COMMAND]") != std::string::npos) continue;    // the choices are all commands
    if (command.usage.find("[CLIENT...]") != std::string::npos) continue;  // all clients
    for (const std::string& choice : command.argument.choices) {
      EXPECT_THAT(command.usage, HasSubstr(choice)) << command.name;
    }
  }
}

TEST(CommandShape, AnOptionKnowsWhatItTakes) {
  const std::vector<OptionShape> options = option_shapes(sample("x", "corral x"));

  ASSERT_EQ(options.size(), 5U);
  EXPECT_EQ(options[0].brief, "-v");
  EXPECT_EQ(options[0].name, "--verbose");
  EXPECT_EQ(options[1].argument.kind, Argument::Kind::File);
  EXPECT_EQ(options[2].argument.kind, Argument::Kind::Server);
  EXPECT_THAT(options[3].argument.choices, ElementsAre("report", "end"));
  EXPECT_EQ(options[4].name, "--help");
}

/// What an option of a real command takes.
Argument taken_by(const std::string& command, const std::string& option) {
  for (const Command& one : all_commands()) {
    if (one.name != command) continue;
    for (const OptionShape& shape : option_shapes(one)) {
      if (shape.name == option) return shape.argument;
    }
  }
  ADD_FAILURE() << "there is no " << command << " " << option;
  return {};
}

TEST(CommandShape, EveryOptionThatTakesAServerCompletesServers) {
  std::size_t options = 0;
  for (const Command& command : all_commands()) {
    for (const OptionShape& option : option_shapes(command)) {
      if (option.name != "--server") continue;
      ++options;
      EXPECT_EQ(option.argument.kind, Argument::Kind::Server) << command.name;
    }
  }
  EXPECT_GE(options, 4U);
}

TEST(CommandShape, FixedValuesAreOffered) {
  EXPECT_THAT(taken_by("events", "--kind").choices, testing::IsSupersetOf({"spawn", "crash", "registry"}));
  EXPECT_THAT(taken_by("serve", "--log").choices, ElementsAre("text", "json", "auto"));
  EXPECT_THAT(taken_by("connect", "--share").choices, ElementsAre("shared", "session", "root"));
  EXPECT_THAT(taken_by("top", "--sort").choices, testing::Contains("memory"));
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
  Command stop = sample("stop", "corral stop [options] NAME");
  stop.argument.kind = Argument::Kind::Server;
  const std::vector<Command> commands = {stop};

  for (const std::string& script :
       {bash_completions(commands), zsh_completions(commands), fish_completions(commands)}) {
    EXPECT_THAT(script, HasSubstr("stop"));
    EXPECT_THAT(script, HasSubstr("verbose"));
    EXPECT_THAT(script, HasSubstr("report end"));
    EXPECT_THAT(script, HasSubstr("completions servers"));
  }
  EXPECT_THAT(zsh_completions(commands), HasSubstr("Do it\\: \\[the\\] user'\\''s \\\\way."));
  EXPECT_THAT(fish_completions(commands), HasSubstr("user\\'s \\\\way."));
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
