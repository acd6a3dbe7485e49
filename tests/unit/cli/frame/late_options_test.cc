#include "cli/frame/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/frame/option_values.h"

namespace corral::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LateOptions : public ::testing::Test {
 protected:
  Result<std::vector<std::string>> take(const std::vector<std::string>& words) {
    return apply_late_options(
        {{"-f,--file", "FILE", "", set_word(file_)}, {"--json", "", "", set_flag(json_)}}, words);
  }
  std::string error(const std::vector<std::string>& words) {
    const Result<std::vector<std::string>> rest = take(words);
    return rest ? "" : rest.error().message;
  }

  std::string file_;
  bool json_ = false;
};

TEST_F(LateOptions, AreTakenFromAmongTheWords) {
  const Result<std::vector<std::string>> rest = take({"check", "--json", "x", "--file", "f"});

  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_THAT(*rest, ElementsAre("check", "x"));
  EXPECT_TRUE(json_);
  EXPECT_EQ(file_, "f");
}

TEST_F(LateOptions, MayHaveAShortNameAndAnEqualsSign) {
  EXPECT_EQ(error({"-f", "a"}), "");
  EXPECT_EQ(file_, "a");
  EXPECT_EQ(error({"--file=b=c"}), "");
  EXPECT_EQ(file_, "b=c");
}

TEST_F(LateOptions, EndAtTheDashes) {
  const Result<std::vector<std::string>> rest = take({"--", "--json", "-"});

  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_THAT(*rest, ElementsAre("--json", "-"));
  EXPECT_FALSE(json_);
}

TEST_F(LateOptions, AskForHelpUnlessTheyAreAValueOrStandBehindTheDashes) {
  const std::vector<Option> options = {{"-f,--file", "FILE", "", nullptr}, {"--json", "", "", nullptr}};

  EXPECT_TRUE(asks_for_help(options, {"check", "--help"}));
  EXPECT_TRUE(asks_for_help(options, {"-h"}));
  EXPECT_TRUE(asks_for_help(options, {"--json", "--help"}));
  EXPECT_FALSE(asks_for_help(options, {"check", "--file", "--help"}));
  EXPECT_FALSE(asks_for_help(options, {"check", "--", "--help"}));
  EXPECT_FALSE(asks_for_help(options, {"check"}));
}

TEST_F(LateOptions, ThatAreWrongAreNamed) {
  EXPECT_THAT(error({"--jsno"}), HasSubstr("unknown option '--jsno': did you mean --json?"));
  EXPECT_THAT(error({"--file"}), HasSubstr("--file requires a value"));
  EXPECT_THAT(error({"--json=1"}), HasSubstr("does not take a value"));
  EXPECT_THAT(error({"--file", ""}), HasSubstr("--file: the value is empty"));
}

}  // namespace
}  // namespace corral::cli
