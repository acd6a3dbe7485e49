#include "known/launcher_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::known {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Words simple(const std::string& text) {
  const std::optional<SimpleCommand> command = read_simple_command(text);
  return command ? command->words : Words{"(more than a simple command)"};
}

TEST(SimpleCommands, HaveTheirQuotesTakenOff) {
  EXPECT_THAT(simple("a  b\tc "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(simple(" a"), ElementsAre("a"));
  EXPECT_THAT(simple("a 'b c' \"d e\"f"), ElementsAre("a", "b c", "d ef"));
  EXPECT_THAT(simple("a '' \"\""), ElementsAre("a", "", ""));
  EXPECT_THAT(simple("a '$x`\\' b"), ElementsAre("a", "$x`\\", "b")) << "nothing means anything there";
  EXPECT_THAT(simple("a\\ b c\\'d \\\\"), ElementsAre("a b", "c'd", "\\"));
}

TEST(SimpleCommands, AreNoneWhereTheShellDoesMore) {
  for (const char letter : std::string(";|&<>()$`{}*?[]#~!\n\r")) {
    EXPECT_EQ(read_simple_command(std::string("a ") + letter + "b"), std::nullopt) << letter;
  }
  for (const char* text : {"", " ", "a 'b", "a \"b", "a \"$x\"", "a \"`x`\"", "a \"\\n\"", "a\\", "a \\\nb",
                           "a && b", "cd x && a && b", "cd x &&", "A=1", "exec", "a '"}) {
    EXPECT_EQ(read_simple_command(text), std::nullopt) << text;
  }
}

TEST(SimpleCommands, MayEnterAFolderFirst) {
  const std::optional<SimpleCommand> command = read_simple_command("cd '/a b'&&exec x y");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->directory, "/a b");
  EXPECT_THAT(command->words, ElementsAre("x", "y"));

  ASSERT_TRUE(read_simple_command("cd a && b"));
  EXPECT_EQ(read_simple_command("cd a && b")->directory, "a");
  EXPECT_EQ(read_simple_command("x y z w")->directory, "");
}

TEST(SimpleCommands, BeginBehindTheirVariables) {
  EXPECT_THAT(simple("A=1 _b9=x exec zZ=2 C= run A=1"), ElementsAre("run", "A=1"));
  for (const char* word : {"=x", "9a=x", "0a=x", "a-b=x", "a.b=x", "a@=x", "a"}) {
    EXPECT_THAT(simple(std::string(word) + " run"), ElementsAre(word, "run"));
  }
  for (const char* word : {"a=x", "z=x", "A=x", "Z=x", "a0=x", "a9=x", "_=x"}) {
    EXPECT_THAT(simple(std::string(word) + " run"), ElementsAre("run")) << word;
  }
}

Launch launch_of(const char* launcher, const Words& words) {
  return read_launch(*find_launcher(launcher), words);
}

TEST(Launches, FindTheProgramBehindOptionsAndSubcommands) {
  EXPECT_EQ(launch_of("npx", {"npx", "-y", "a", "-b"}).program, 2U);
  EXPECT_EQ(launch_of("npx", {"npx", "-p", "x", "a"}).program, 3U);
  EXPECT_EQ(launch_of("npx", {"npx", "-p=x", "a"}).program, 2U);
  EXPECT_EQ(launch_of("npx", {"npx", "--", "-a"}).program, 2U);
  EXPECT_EQ(launch_of("npx", {"npx", "-", "a"}).program, 1U) << "a word like any other";
  EXPECT_EQ(launch_of("npx", {"npx"}).program, 1U);
  EXPECT_EQ(launch_of("npx", {"npx", "--"}).program, 2U);
  EXPECT_EQ(launch_of("uv", {"uv", "tool", "run", "a"}).program, 3U);
  EXPECT_EQ(launch_of("uv", {"uv", "tool", "run"}).program, 3U);
  EXPECT_EQ(launch_of("uv", {"uv", "run", "run"}).program, 2U) << "only one subcommand";
}

TEST(Launches, KnowTheirSubcommand) {
  EXPECT_EQ(launch_of("uv", {"uv", "tool", "run", "a"}).subcommand, "tool run");
  EXPECT_EQ(launch_of("uv", {"uv", "tool", "uvx", "a"}).subcommand, "tool uvx");
  EXPECT_EQ(launch_of("uv", {"uv", "tool", "list"}).subcommand, "");
  EXPECT_EQ(launch_of("uv", {"uv", "tool"}).subcommand, "");
  EXPECT_EQ(launch_of("uv", {"uv", "--offline", "run", "a"}).subcommand, "run");
}

TEST(Launches, TellValuesFromFlags) {
  const Launch launch = launch_of("npx", {"npx", "-p", "x", "--package=y", "-y", "-p"});
  EXPECT_EQ(launch.value_of({"--package"}), "y");
  EXPECT_EQ(launch.value_of({"--package", "-p"}), "x") << "the first of them";
  EXPECT_EQ(launch.value_of({"--other"}), "");
  EXPECT_TRUE(launch.has_flag({"-y"}));
  EXPECT_TRUE(launch.has_flag({"-p"})) << "nothing follows it";
  EXPECT_FALSE(launch.has_flag({"x", "--package"}));
}

TEST(Launches, EndWhereATextOrModuleFollows) {
  EXPECT_EQ(launch_of("bash", {"bash", "-l", "-c", "-x", "y"}).program, 3U);
  EXPECT_EQ(launch_of("bash", {"bash", "-l", "-x", "y"}).program, 3U);
  EXPECT_EQ(launch_of("python", {"python", "-u", "-m", "-x"}).program, 3U);
  EXPECT_EQ(launch_of("node", {"node", "-c", "-x", "y"}).program, 3U);
  EXPECT_EQ(launch_of("env", {"env", "-i", "A=1", "B=2", "run", "C=3"}).program, 4U);
  EXPECT_EQ(launch_of("npx", {"npx", "A=1", "run"}).program, 1U);
}

}  // namespace
}  // namespace corral::known
