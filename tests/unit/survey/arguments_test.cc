#include "survey/arguments.h"

#include <gtest/gtest.h>

#include <string>

namespace corral::survey {
namespace {

TEST(CompareArguments, EqualOnesAreTheSame) {
  EXPECT_EQ(compare_arguments({}, {}), Arguments::Same);
  EXPECT_EQ(compare_arguments({"mcp", "--all"}, {"mcp", "--all"}), Arguments::Same);
}

TEST(CompareArguments, OtherOptionsAndPathsAreTheSameJob) {
  EXPECT_EQ(compare_arguments({}, {"--port", "8080"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"/here"}, {"/there"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"."}, {"${workspaceFolder}"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"mcp"}, {"mcp", "--all"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"https://example.org/mcp"}, {}), Arguments::Alike);
}

TEST(CompareArguments, AnotherWordAmongTheFirstIsAnotherJob) {
  EXPECT_EQ(compare_arguments({"server", "mcp"}, {"server", "lsp"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"server", "mcp"}, {"server"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"server"}, {"server", "lsp", "--stdio"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"server", "mcp", "/a"}, {"server", "mcp", "/b"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"server", "mcp", "--level", "info"}, {"server", "mcp", "--level", "debug"}),
            Arguments::Alike);
}

TEST(CompareArguments, OptionsBeforeTheJobDoNotHideIt) {
  EXPECT_EQ(compare_arguments({"-q", "mcp"}, {"-q", "lsp"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"mcp"}, {"-q", "lsp"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"mcp"}, {"--stdio", "-q", "mcp"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--root", "/a", "mcp"}, {"--root", "/a", "lsp"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"--port", "1", "mcp"}, {"--port", "2", "lsp"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"--root", "/a"}, {"--root", "/b"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--root=a", "mcp"}, {"--root=b", "mcp"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({}, {"--verbose", "-"}), Arguments::Alike);
}

TEST(CompareArguments, WordsWithAColonAreJobs) {
  EXPECT_EQ(compare_arguments({"experimental:mcp"}, {"hosting:channel:deploy"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"experimental:mcp"}, {"functions:log"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"experimental:mcp"}, {"deploy"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"experimental:mcp"}, {"experimental:mcp", "--dir", "/a"}), Arguments::Alike);
}

TEST(CompareArguments, AnOptionThatNamesAProtocolBelongsToTheJob) {
  EXPECT_EQ(compare_arguments({"--mcp"}, {"--lsp", "--stdio"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"--mcp"}, {"--remote", "https://example.org/a"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({}, {"--LSP"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"/a"}, {"/a", "--language-server"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"--mcp"}, {"--verbose", "--mcp"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--mcp=stdio"}, {"--mcp=http"}), Arguments::Alike);
}

TEST(CompareArguments, AnotherFirstWordIsAnotherJob) {
  EXPECT_EQ(compare_arguments({"mcp-server"}, {"language-server"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"mcp"}, {}), Arguments::Other);
  EXPECT_EQ(compare_arguments({}, {"lsp"}), Arguments::Other);
}

TEST(CompareArguments, AWordIsMadeOfLettersDigitsAndThreeSigns) {
  for (const char letter : std::string("azAZ09-_:mM5")) {
    EXPECT_EQ(compare_arguments({std::string("x") + letter}, {}), Arguments::Other) << letter;
  }
  for (const char letter : std::string("`{@[/;,^.=$ ")) {
    EXPECT_EQ(compare_arguments({std::string("x") + letter}, {}), Arguments::Alike) << letter;
  }
}

TEST(CompareArguments, WhatBeginsWithADigitIsANumberAndNoJob) {
  for (const char* number : {"0", "9", "5x", ""}) {
    EXPECT_EQ(compare_arguments({number}, {}), Arguments::Alike) << number;
  }
  for (const char* word : {"a0", ":9"}) {
    EXPECT_EQ(compare_arguments({word}, {}), Arguments::Other) << word;
  }
}

TEST(CompareArguments, AnOptionTakesOneValueAndNotTheNextOption) {
  EXPECT_EQ(compare_arguments({"--a", "/v", "job"}, {"job"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--a", "/v", "/w", "job"}, {}), Arguments::Alike) << "a path ends the job";
  EXPECT_EQ(compare_arguments({"--a", "--b", "/v", "job"}, {"job"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--a"}, {}), Arguments::Alike);
}

TEST(CompareArguments, ProtocolsAreComparedWithoutOrderAndCase) {
  EXPECT_EQ(compare_arguments({"--mcp", "--lsp"}, {"--lsp", "--mcp"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--mcpAZ"}, {"--MCPaz"}), Arguments::Alike);
  EXPECT_EQ(compare_arguments({"--mcp"}, {"--mcp", "--mcp"}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"--dap"}, {}), Arguments::Other);
  EXPECT_EQ(compare_arguments({"--log=mcp"}, {}), Arguments::Alike) << "a value is not a name";
}

}  // namespace
}  // namespace corral::survey
