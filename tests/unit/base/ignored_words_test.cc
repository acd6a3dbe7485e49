// Which words a user may declare to make no difference.
#include "base/ignored_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(IgnoredWords, AreTheDirectoryPathAndNamesOfVariables) {
  for (const char* const word : {"cwd", "PATH", "EDITOR", "npm_config_cache", "__MISE_DIFF", "API_KEY_FILE"})
    EXPECT_THAT(objection_to_ignored(std::string_view(word)), IsEmpty()) << word;
}

TEST(IgnoredWords, AreNotEmptyAndHaveNoValue) {
  EXPECT_THAT(objection_to_ignored(std::string_view("")), HasSubstr("name of a variable"));
  EXPECT_THAT(objection_to_ignored(std::string_view("EDITOR=vi")), HasSubstr("without a value"));
  EXPECT_THAT(objection_to_ignored(std::string_view("A\0B", 3)), HasSubstr("name of a variable"));
}

TEST(IgnoredWords, AreNoCredentials) {
  for (const char* const word : {"API_TOKEN", "apiKey", "MY_PASSWORD", "AUTH"})
    EXPECT_THAT(objection_to_ignored(std::string_view(word)), HasSubstr("credential")) << word;
}

TEST(IgnoredWords, AreBounded) {
  EXPECT_THAT(objection_to_ignored(std::string(kLongestIgnored, 'A')), IsEmpty());
  EXPECT_THAT(objection_to_ignored(std::string(kLongestIgnored + 1, 'A')), HasSubstr("256 bytes"));
  EXPECT_THAT(objection_to_ignored(std::vector<std::string>(kMostIgnored, "A")), IsEmpty());
  EXPECT_THAT(objection_to_ignored(std::vector<std::string>(kMostIgnored + 1, "A")), HasSubstr("at most 64"));
  EXPECT_THAT(objection_to_ignored(std::vector<std::string>{"A", "B=1"}), HasSubstr("without a value"));
}

}  // namespace
}  // namespace corral
