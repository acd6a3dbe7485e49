#include "base/words.h"

#include <gtest/gtest.h>

namespace corral {
namespace {

TEST(NearestWord, IsTheOneThatDiffersLeast) {
  EXPECT_EQ(nearest_word("comand", {"args", "command", "commend-it"}), "command");
  EXPECT_EQ(nearest_word("arg", {"command", "args"}), "args");
  EXPECT_EQ(nearest_word("argss", {"command", "args"}), "args");
}

TEST(NearestWord, IsNoneIfAllAreFarAway) {
  EXPECT_EQ(nearest_word("qqqq", {"args", "command"}), "");
  EXPECT_EQ(nearest_word("", {"args"}), "");
  EXPECT_EQ(nearest_word(std::string(10'000'000, 'x'), {"args"}), "");
}

TEST(NearestWord, MayDifferByHalfOfItsLetters) {
  EXPECT_EQ(nearest_word("ab", {"ac"}), "ac");
  EXPECT_EQ(nearest_word("ab", {"cd"}), "");
  EXPECT_EQ(nearest_word("abc", {"abcd"}), "abcd");
  EXPECT_EQ(nearest_word("abc", {"axy"}), "");
  EXPECT_EQ(nearest_word("abcd", {"abcxd"}), "abcxd");
  EXPECT_EQ(nearest_word("abcde", {"abcxy"}), "abcxy") << "two of five";
  EXPECT_EQ(nearest_word("abcde", {"abxyz"}), "") << "three of five";
  EXPECT_EQ(nearest_word("abcdefg", {"xbcdefg1"}), "xbcdefg1") << "one replaced and one more";
  EXPECT_EQ(nearest_word("a", {"ab"}), "") << "one letter is like everything";
  EXPECT_EQ(nearest_word("serve", {"server", "serve"}), "serve");
  EXPECT_EQ(nearest_word("serv", {"serve", "servo"}), "serve") << "the first of several";
  EXPECT_EQ(nearest_word("abcdef", {"abcxyf", "abcxef"}), "abcxef") << "a later one may be nearer";
  EXPECT_EQ(nearest_word("bcde", {"abcde"}), "abcde") << "what is missing may be the first letter";
  EXPECT_EQ(nearest_word("abcde", {"bcde"}), "bcde");
}

using Words = std::vector<std::string>;

TEST(MeantWords, AreThoseThatBeginWithItOrContainItOrTheNearest) {
  EXPECT_EQ(meant_words("server", {"server-a", "my-server", "server-b"}), (Words{"server-a", "server-b"}));
  EXPECT_EQ(meant_words("memory", {"server-memory", "server-files"}), Words{"server-memory"});
  EXPECT_EQ(meant_words("fils", {"files", "notes"}), Words{"files"});
  EXPECT_EQ(meant_words("zzzz", {"files", "notes"}), Words{});
}

TEST(MeantWords, NeedMoreThanALetterOrTwo) {
  EXPECT_EQ(meant_words("", {"ab"}), Words{});
  EXPECT_EQ(meant_words("a", {"ab"}), Words{});
  EXPECT_EQ(meant_words("ab", {"abcde"}), Words{"abcde"});
  EXPECT_EQ(meant_words("bc", {"abcdefgh"}), Words{}) << "two letters are in many words";
  EXPECT_EQ(meant_words("bcd", {"abcdefgh"}), Words{"abcdefgh"});
}

TEST(MeantWords, AreAtMostFive) {
  EXPECT_EQ(meant_words("na", {"na1", "na2", "na3", "na4", "na5", "na6"}).size(), 5U);
}

TEST(AnyOf, IsAListForASentence) {
  EXPECT_EQ(any_of({}), "");
  EXPECT_EQ(any_of({"a"}), "a");
  EXPECT_EQ(any_of({"a", "b"}), "a or b");
  EXPECT_EQ(any_of({"a", "b", "c"}), "a, b or c");
}

TEST(MatchName, SaysHowANameStandsInAList) {
  EXPECT_EQ(match_name("A B_* B_ONE", "A"), NameMatch::Whole);
  EXPECT_EQ(match_name("A B_* B_ONE", "B_TWO"), NameMatch::Beginning);
  EXPECT_EQ(match_name("A B_* B_ONE", "B_ONE"), NameMatch::Whole) << "although a beginning stands before it";
  EXPECT_EQ(match_name("A B_*", "B_"), NameMatch::Beginning);
  for (const char* const name : {"B", "AA", "", "b_x", "A B_"})
    EXPECT_EQ(match_name("A B_*", name), NameMatch::None) << name;
  EXPECT_EQ(match_name("", "A"), NameMatch::None);
}

}  // namespace
}  // namespace corral
