// The command line as a whole: which command is run with what, and what help there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <sstream>

#include "cli/frame/help_page.h"
#include "cli/frame/option_values.h"
#include "cli/frame/parser.h"
#include "cli/told_daemon.h"
#include "version.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class WholeLine : public testing::Test {
 protected:
  WholeLine() {
    early_.name = "early";
    early_.summary = "Options stand before the words.";
    early_.usage = "corral early [options] [--] COMMAND [ARG...]";
    early_.examples = "Examples:\n  corral early -- x";
    early_.options = {{"-n,--number", "N", "A number", set_count(number_, "number")},
                      {"--word", "TEXT", "A word; may be repeated",
                       [this](const std::string& text) -> Result<void> {
                         words_.push_back(text);
                         return {};
                       }},
                      {"-v,--verbose", "", "Say more", set_flag(verbose_)}};
    early_.usage_code = 2;
    early_.run = [this](std::vector<std::string> tail) {
      tail_ = std::move(tail);
      return 7;
    };
    late_ = early_;
    late_.name = "late";
    late_.summary = "Options stand anywhere.";
    late_.usage = "corral late [options] [NAME]";
    late_.options_anywhere = true;
  }

  int run(std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream errors;
    std::streambuf* const out_before = std::cout.rdbuf(out.rdbuf());
    std::streambuf* const errors_before = std::cerr.rdbuf(errors.rdbuf());
    const int code = parse_and_run({early_, late_}, std::move(arguments));
    std::cout.rdbuf(out_before);
    std::cerr.rdbuf(errors_before);
    out_ = out.str();
    errors_ = errors.str();
    return code;
  }

  std::size_t number_ = 0;
  std::vector<std::string> words_;
  bool verbose_ = false;
  std::vector<std::string> tail_;
  Command early_;
  Command late_;
  std::string out_;
  std::string errors_;
};

TEST_F(WholeLine, ListsTheCommands) {
  late_.group = HelpGroup::Administer;
  const std::string help =
      R"(corral runs MCP servers and ends all their processes when the session ends.
Usage: corral COMMAND [options]        `corral help COMMAND` explains a command

Use
  early  Options stand before the words.

Administer
  late   Options stand anywhere.
)";
  for (const char* const word : {"--help", "-h"}) {
    EXPECT_EQ(run({word}), 0) << word;
    EXPECT_EQ(out_, help) << word;
  }
  EXPECT_EQ(run({}), kOwnFailure);
  EXPECT_EQ(out_, help);
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(out_, "corral " + std::string(kVersion) + " (build " + kBuildDate + ")\n");
}

TEST_F(WholeLine, NamesTheRareCommandsInTheHeading) {
  late_.in_help = InHelp::Name;
  run({"--help"});
  EXPECT_THAT(out_, testing::EndsWith("\nUse  (also: late)\n  early  Options stand before the words.\n"));
}

TEST(HelpPage, FitsOnOneScreenAndNamesEveryCommandOnce) {
  const std::vector<Command> commands = all_commands();
  const std::string page = help_page(commands);
  std::istringstream lines(page);
  std::size_t number = 0;
  std::string headings;
  for (std::string line; std::getline(lines, line); ++number) {
    EXPECT_LE(line.size(), 80U) << line;
    if (line.find("(also: ") != std::string::npos) headings += line + "\n";
  }
  EXPECT_LT(number, 24U) << "the prompt needs a line, too";
  for (const Command& command : commands) {
    const bool on_a_line = page.find("\n  " + command.name + " ") != std::string::npos;
    const bool in_a_heading = headings.find(": " + command.name + ",") != std::string::npos ||
                              headings.find(", " + command.name + ",") != std::string::npos ||
                              headings.find(", " + command.name + ")") != std::string::npos;
    EXPECT_NE(on_a_line, in_a_heading) << command.name;
    EXPECT_EQ(on_a_line, command.in_help == InHelp::Line) << command.name;
  }
}

TEST(FilledHelp, FillsProseAndKeepsWhatStandsInTheRightColumn) {
  EXPECT_EQ(filled_help("One two three\nfour five six seven.\nExit code: 0.\n\n  -x   aaa\n", 30),
            "One two three four five six\nseven.\nExit code: 0.\n\n  -x   aaa\n");
  EXPECT_EQ(filled_help("  -x   aaa bbb ccc ddd eee fff ggg hhh\n", 37),
            "  -x   aaa bbb ccc ddd eee fff ggg\n       hhh\n");
  EXPECT_EQ(filled_help("  -x   aaa bbb ccc ddd eee fff ggg hhh\n", 30),
            "  -x\n      aaa bbb ccc ddd eee fff\n      ggg hhh\n")
      << "there is too little room beside it";
  EXPECT_EQ(filled_help("  corral a-long-line --with options\n", 30),
            "  corral a-long-line --with options\n");
  EXPECT_EQ(filled_help("Usage: corral a [options] B C\n", 20), "Usage: corral a\n       [options] B C\n");
}

TEST(FilledHelp, OfEachCommandFits) {
  for (const Command& command : all_commands()) {
    std::istringstream lines(run_command({command.name, "--help"}).out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80U) << command.name << ": " << line;
    }
  }
}

TEST(HelpCommand, PrintsThePageOrTheHelpOfACommand) {
  EXPECT_EQ(run_command({"help"}).out, run_command({"--help"}).out);
  EXPECT_EQ(run_command({"help"}).code, 0);
  EXPECT_EQ(run_command({"help", "ps"}).out, run_command({"ps", "--help"}).out);
  EXPECT_THAT(run_command({"help", "ps"}).out, HasSubstr("Usage: corral ps"));
  EXPECT_THAT(run_command({"help", "help"}).out, HasSubstr("Usage: corral help [COMMAND]"));
}

TEST(HelpCommand, RefusesWhatIsNotACommand) {
  const Seen unknown = run_command({"help", "doctr"});
  EXPECT_EQ(unknown.code, kOwnFailure);
  EXPECT_EQ(unknown.errors, "corral: unknown command 'doctr': did you mean doctor? see `corral --help`\n");
  EXPECT_EQ(run_command({"help", "ps", "top"}).errors,
            "corral help: unexpected argument 'top': give one command\n");
  EXPECT_EQ(run_command({"help", "--", "--version"}).errors,
            "corral help: '--version' is not a command; see `corral --help`\n");
  EXPECT_EQ(run_command({"help", ""}).code, kOwnFailure);
}

TEST(VersionCommand, PrintsWhatTheOptionPrints) {
  const Seen seen = run_command({"version"});
  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.out, run_command({"--version"}).out);
  EXPECT_EQ(run_command({"version", "--json"}).out,
            std::string(R"({"version":")") + kVersion + R"(","build":")" + kBuildDate + "\"}\n");
  EXPECT_EQ(run_command({"version", "ps"}).code, kOwnFailure);
}

TEST(NearMisses, SayWhatToUseInstead) {
  const Seen setup = run_command({"setup"});
  EXPECT_EQ(setup.code, kOwnFailure);
  EXPECT_THAT(setup.errors,
              StartsWith("corral: corral has no command 'setup': `corral adopt` puts corral in front of "));
  EXPECT_THAT(run_command({"unwrap"}).errors, HasSubstr("`corral release` takes corral away"));
  EXPECT_THAT(run_command({"kill", "12"}).errors, HasSubstr("`corral reap` ends leaked servers"));
  EXPECT_THAT(run_command({"ls"}).errors,
              HasSubstr("`corral list` lists what is configured, `corral ps` what is running"));
  EXPECT_EQ(instead_of(""), "");
  EXPECT_EQ(instead_of(" "), "");
  EXPECT_EQ(instead_of("ls show"), "");
  EXPECT_EQ(instead_of("nothing-like-it"), "");
}

TEST(NearMisses, KnowTheWordsOfOtherPrograms) {
  for (const char* const word : {"setup", "install", "init", "ls", "servers", "kill", "rm", "delete",
                                 "update", "upgrade", "daemon", "log", "exec", "enable", "disable"}) {
    EXPECT_NE(instead_of(word), "") << word;
  }
}

TEST_F(WholeLine, NamesACommandThatIsMeant) {
  EXPECT_EQ(run({"earlz", "x"}), kOwnFailure);
  EXPECT_EQ(errors_, "corral: unknown command 'earlz': did you mean early? see `corral --help`\n");
  run({"qqqqqqqq"});
  EXPECT_EQ(errors_, "corral: unknown command 'qqqqqqqq': see `corral --help`\n");
}

TEST_F(WholeLine, OptionsEndAtTheFirstWord) {
  EXPECT_EQ(run({"early", "-n", "3", "--word=a=b", "--word", "c", "-v", "program", "--word", "d"}), 7);
  EXPECT_EQ(number_, 3U);
  EXPECT_THAT(words_, ElementsAre("a=b", "c"));
  EXPECT_TRUE(verbose_);
  EXPECT_THAT(tail_, ElementsAre("program", "--word", "d"));
  EXPECT_EQ(errors_, "");

  EXPECT_EQ(run({"early", "--", "-v", "--"}), 7);
  EXPECT_THAT(tail_, ElementsAre("-v", "--"));
  EXPECT_EQ(run({"early", "-"}), 7);
  EXPECT_THAT(tail_, ElementsAre("-"));
  EXPECT_EQ(run({"early", ""}), 7);
  EXPECT_THAT(tail_, ElementsAre(""));
  EXPECT_EQ(run({"early"}), 7);
  EXPECT_THAT(tail_, IsEmpty());
}

TEST_F(WholeLine, WrongOptionsHaveTheCommandsOwnExitCode) {
  EXPECT_EQ(run({"early", "--wrod=x"}), 2);
  EXPECT_EQ(errors_,
            "corral early: unknown option '--wrod': did you mean --word? see `corral early --help`\n");
  EXPECT_EQ(run({"early", "-q"}), 2);
  EXPECT_THAT(errors_, StartsWith("corral early: unknown option '-q': "));
  EXPECT_EQ(run({"early", "--number", "many"}), 2);
  EXPECT_EQ(errors_,
            "corral early: --number: invalid number 'many': use a whole number, such as 9; see `corral early "
            "--help`\n");
  EXPECT_EQ(run({"early", "--number"}), 2);
  EXPECT_THAT(errors_, HasSubstr("; see `corral early --help`\n"));
  EXPECT_THAT(tail_, IsEmpty());
}

TEST_F(WholeLine, HelpOfACommandIsItsWholeText) {
  EXPECT_EQ(run({"early", "-v", "--help", "-n", "3"}), 0);
  EXPECT_THAT(out_,
              StartsWith("Options stand before the words.\nUsage: corral early [options] [--] COMMAND "));
  EXPECT_THAT(out_, HasSubstr("number N             A number\n"));
  EXPECT_THAT(out_, HasSubstr("--word TEXT               A word; may be repeated\n"));
  EXPECT_THAT(out_, HasSubstr("verbose              Say more\n"));
  EXPECT_THAT(out_, testing::EndsWith("\nExamples:\n  corral early -- x\n"));
  EXPECT_EQ(run({"early", "x", "--help"}), 7) << "which is for the program";
}

TEST_F(WholeLine, HelpMayStandBehindTheWordsIfOptionsMay) {
  EXPECT_EQ(run({"late", "x", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Usage: corral late [options] [NAME]\n"));
  EXPECT_EQ(run({"late", "--", "x", "--help"}), 7);
  EXPECT_EQ(run({"late", "x", "--word", "--help"}), 7) << "which is its value";
  EXPECT_EQ(out_, "");
}

TEST_F(WholeLine, WhatCannotBeWrittenWasNotSaid) {
  std::ostringstream errors;
  std::streambuf* const errors_before = std::cerr.rdbuf(errors.rdbuf());
  std::streambuf* const out_before = std::cout.rdbuf(nullptr);  // which sets badbit
  const int code = parse_and_run({early_}, {"early"});
  const int alone = parse_and_run({early_}, {"--help"});
  early_.run = [](const std::vector<std::string>&) { return kOwnFailure; };
  const std::string said = errors.str();
  const int failed = parse_and_run({early_}, {"early"});
  std::cout.rdbuf(out_before);
  std::cout.clear();
  std::cerr.rdbuf(errors_before);

  EXPECT_EQ(code, kOwnFailure);
  EXPECT_EQ(alone, kOwnFailure);
  EXPECT_EQ(said,
            "corral early: cannot write to stdout (is the pipe closed or the disk full?)\n"
            "corral: cannot write to stdout (is the pipe closed or the disk full?)\n");
  EXPECT_EQ(failed, kOwnFailure);
  EXPECT_EQ(errors.str(), said) << "a failure has been told already";
}

TEST_F(WholeLine, LinesOfATextAreChecked) {
  std::istringstream lines("[\"ps\"]\n[\"ps\",7]\n[\"sp\"]\n[\"top\",\"--sort\",\"size\"]\n");
  std::streambuf* const before = std::cin.rdbuf(lines.rdbuf());
  const Seen seen = run_command({kCheckLines});
  std::cin.rdbuf(before);
  std::cin.clear();

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, StartsWith("ok\nok\nunknown command 'sp'\n--sort: invalid order 'size'"));
  std::istringstream wrong("{}\n");
  std::cin.rdbuf(wrong.rdbuf());
  EXPECT_EQ(run_command({kCheckLines}).code, kOwnFailure);
  std::cin.rdbuf(before);
  std::cin.clear();
}

}  // namespace
}  // namespace corral::cli
