#include "cli/frame/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "cli/frame/option_values.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;

std::vector<Command> two_commands() {
  auto text = std::make_shared<std::string>();
  auto number = std::make_shared<std::size_t>();
  Command plain;
  plain.name = "plain";
  plain.usage = "corral plain [options]";
  plain.options = {
      {"--count", "N", "", [number](const std::string& word) { return set_count(*number, "count")(word); }}};
  plain.run = [](const std::vector<std::string>&) -> int {
    ADD_FAILURE() << "nothing is run";
    return 0;
  };
  Command words;
  words.name = "words";
  words.usage = "corral words make NAME [options] [-- COMMAND [ARG...]] | list";
  words.options = {
      {"-f,--file", "FILE", "", [text](const std::string& word) { return set_word(*text)(word); }}};
  words.options_anywhere = true;
  words.argument = {Argument::Kind::Choice, {"make", "list"}};
  words.runs_program = true;
  words.run = plain.run;
  return {plain, words};
}

std::string objection(const std::vector<std::string>& words) { return objection_to(two_commands(), words); }

TEST(ObjectionTo, NoLineThatThereIs) {
  EXPECT_EQ(objection({"plain"}), "");
  EXPECT_EQ(objection({"plain", "--count", "3"}), "");
  EXPECT_EQ(objection({"plain", "--help"}), "");
  EXPECT_EQ(objection({"--version"}), "");
  EXPECT_EQ(objection({"words", "make", "x", "--file", "f"}), "");
  EXPECT_EQ(objection({"words", "list", "--help"}), "");
  EXPECT_EQ(objection({"words", "make", "x", "--", "program", "--unknown"}), "");
}

TEST(ObjectionTo, NoWordThatStandsForAnother) {
  EXPECT_EQ(objection({"plain", "--count", "N"}), "");
  EXPECT_EQ(objection({"plain", "--count"}), "") << "a text may speak of an option without a value";
  EXPECT_EQ(objection({"words", "…"}), "");
  EXPECT_EQ(objection({"words", "make", "$NAME", "-f"}), "");
}

TEST(ObjectionTo, WhatIsNotKnown) {
  EXPECT_THAT(objection({"plian"}), HasSubstr("unknown command 'plian'"));
  EXPECT_THAT(objection({"plain", "--cuont", "3"}), HasSubstr("unknown option '--cuont'"));
  EXPECT_THAT(objection({"plain", "--count", "many"}), HasSubstr("many"));
  EXPECT_THAT(objection({"plain", "more"}), HasSubstr("unexpected argument 'more'"));
  EXPECT_THAT(objection({"words", "mkae", "x"}), HasSubstr("unknown argument 'mkae'"));
  EXPECT_THAT(objection({"words", "make", "x", "--flie", "f"}), HasSubstr("unknown option '--flie'"));
}

}  // namespace
}  // namespace corral::cli
