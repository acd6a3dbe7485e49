// What of a command line is hidden, at the edges of each rule.
#include <gtest/gtest.h>

#include <cstdint>

#include "survey/server_command.h"

namespace corral::survey {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

/// One word behind the program.
std::string shown(const std::string& word) { return show_command({"s", word}).substr(2); }

TEST(SecretNames, AreMadeOfPartsOfWhichOneSaysSo) {
  for (const char* name : {"token", "TOKEN", "apiKey", "API_KEY", "--my-pat", "x_jwt_y", "aKey",
                           "secretZ-key", "a-token-", "_token", "keyA"}) {
    EXPECT_TRUE(names_secret(name)) << name;
  }
  for (const char* name :
       {"", "-", "monkey", "tokenizer", "keyed", "aKEYb", "APIKEYS", "author", "Azkey", "ke-y", "zZKey"}) {
    EXPECT_FALSE(names_secret(name)) << name;
  }
}

TEST(SecretNames, ThatEndWithWhereItIsAreNone) {
  for (const char* name : {"token-file", "KEY_PATH", "authType", "key_id", "passwordEnv", "token--dir_"}) {
    EXPECT_FALSE(names_secret(name)) << name;
  }
  for (const char* name : {"file-token", "id_key", "typeAuth", "token-files"}) {
    EXPECT_TRUE(names_secret(name)) << name;
  }
}

TEST(OpaqueWords, HaveTwentyFourLettersAndDigitsThreeOfEachAtLeast) {
  const std::string letters(30, 'x');
  const std::string digits(30, '7');
  EXPECT_EQ(shown(letters.substr(0, 21) + "123"), "***");
  EXPECT_EQ(shown(letters.substr(0, 20) + "123"), letters.substr(0, 20) + "123");
  EXPECT_EQ(shown(letters.substr(0, 22) + "12"), letters.substr(0, 22) + "12");
  EXPECT_EQ(shown("azA" + digits.substr(0, 21)), "***");
  EXPECT_EQ(shown("ZbY" + digits.substr(0, 21)), "***");
  EXPECT_EQ(shown("bc" + digits.substr(0, 22)), "bc" + digits.substr(0, 22));
  EXPECT_EQ(shown(letters), letters);
  EXPECT_EQ(shown("099" + letters.substr(0, 21)), "***") << "at the edges of what is a digit";
  EXPECT_EQ(shown("abc-" + letters.substr(0, 18) + "12-4567"), "abc-" + letters.substr(0, 18) + "12-4567")
      << "a sign begins anew";
  EXPECT_EQ(shown("a-" + letters.substr(0, 20) + "12"), "a-" + letters.substr(0, 20) + "12");
  EXPECT_EQ(shown("a-" + letters.substr(0, 21) + "123.+"), "***") << "what stands around it does not matter";
  EXPECT_EQ(shown("/" + letters.substr(0, 21) + "123"), "/" + letters.substr(0, 21) + "123") << "a path";
  EXPECT_EQ(shown(letters.substr(0, 21) + "123/"), letters.substr(0, 21) + "123/");
  EXPECT_EQ(shown("x=" + letters.substr(0, 21) + "123"), "x=***");
  EXPECT_EQ(shown("x:" + letters.substr(0, 21) + "123"), "x:***");
  EXPECT_EQ(shown("=" + letters.substr(0, 21) + "123"), "=***");
  EXPECT_EQ(shown("x=" + letters.substr(0, 21) + "123,y"), "x=" + letters.substr(0, 21) + "123,y");
}

TEST(KnownKeys, AreEightLettersLongerThanTheirBeginning) {
  EXPECT_EQ(shown("sk-12345678"), "***");
  EXPECT_EQ(shown("sk-1234567"), "sk-1234567");
  EXPECT_EQ(shown("a/sk-12345678/b"), "a/***/b") << "anywhere in a word";
  EXPECT_EQ(shown("ya29.a+b.c-d_e"), "***");
  EXPECT_EQ(shown("xsk-12345678"), "xsk-12345678");
  EXPECT_EQ(shown("a,sk-12345678,eyJabcdefgh"), "a,***,***");
}

TEST(UrlPasswords, AreHiddenAndNothingElseOfAUrl) {
  EXPECT_EQ(shown("a://u:p@h"), "a://u:***@h");
  EXPECT_EQ(shown("a://u:p@h:80/x@y"), "a://u:***@h:80/x@y");
  EXPECT_EQ(shown("a://@h/"), "a://***@h/");
  EXPECT_EQ(shown("a://u@h:80"), "a://***@h:80");
  EXPECT_EQ(shown("a://h:80/p@q"), "a://h:80/p@q");
  EXPECT_EQ(shown("a://h@"), "a://***@");
  EXPECT_EQ(shown("x@y://h"), "x@y://h");
  EXPECT_EQ(shown("a://h#u@x"), "'a://h#u@x'");
  EXPECT_EQ(shown("u:p@h"), "u:p@h") << "no URL";
  EXPECT_EQ(shown("a://h/@"), "a://h/@");
  EXPECT_EQ(shown("token://u@h"), "token://***@h");
  EXPECT_EQ(shown("token://h"), "token://h") << "a scheme has no value";
  EXPECT_EQ(shown("token:/h"), "token:***");
  EXPECT_EQ(shown("token:"), "token:");
}

TEST(NamedValues, EndWhereTheTextAroundThemSaysSo) {
  EXPECT_EQ(shown("h?token=a&b=1"), "'h?token=***&b=1'");
  EXPECT_EQ(shown("h?x=1&token=a#f"), "'h?x=1&token=***#f'");
  EXPECT_EQ(shown("token=a&b=1"), "token=***") << "not in a query";
  EXPECT_EQ(shown("?token=a b"), "'?token=*** b'");
  EXPECT_EQ(shown("token=a b"), "'token=*** b'");
  EXPECT_EQ(shown("token=a\tb"), "'token=***" + kReplacement + "b'");
  EXPECT_EQ(shown("token=a\nb"), "'token=***" + kReplacement + "b'");
  EXPECT_EQ(shown("token="), "token=") << "nothing to hide";
  EXPECT_EQ(shown("token"), "token");
  EXPECT_EQ(shown("=a"), "=a");
}

TEST(NamedValues, InQuotesEndAtTheirQuote) {
  EXPECT_EQ(shown("token='a b' c"), R"('token='\''***'\'' c')");
  EXPECT_EQ(shown(R"(token="a'b" c)"), R"('token="***" c')");
  EXPECT_EQ(shown(R"(token="a\"b" c)"), R"('token="***" c')");
  EXPECT_EQ(shown(R"(token="a\\" c)"), R"('token="***" c')") << "an escaped backslash escapes nothing";
  EXPECT_EQ(shown(R"(token="a\")"), R"('token="***')");
  EXPECT_EQ(shown(R"(token="open)"), R"('token="***')");
  EXPECT_EQ(shown(R"(token="")"), R"('token=""')");
  EXPECT_EQ(shown(R"(token=")"), R"('token="')");
  EXPECT_EQ(shown(R"({"token":  "a", "b": 1})"), R"('{"token":  "***", "b": 1}')");
}

TEST(NamedValues, MayStandApartFromWhatNamesThem) {
  EXPECT_EQ(shown(R"({"token" : "a"})"), R"('{"token" : "***"}')");
  EXPECT_EQ(shown("password = hunter2"), "'password = ***'");
  EXPECT_EQ(shown("my-token  : 'a b' c"), "'my-token  : '\\''***'\\'' c'");
  EXPECT_EQ(shown("the token is lost"), "'the token is lost'");
  EXPECT_EQ(shown("token "), "'token '");
  EXPECT_EQ(shown("mode = fast"), "'mode = fast'");
}

TEST(Variables, AreOfCapitalsAtTheBeginningOfAWord) {
  EXPECT_EQ(shown("A=x"), "A=***");
  EXPECT_EQ(shown("Z9_=x"), "Z9_=***");
  EXPECT_EQ(shown("A0Z=x"), "A0Z=***");
  EXPECT_EQ(shown("9A=x"), "9A=x");
  EXPECT_EQ(shown("Ab=x"), "Ab=x");
  EXPECT_EQ(shown("A-B=x"), "A-B=x");
  EXPECT_EQ(shown("x/A=x"), "x/A=x");
  EXPECT_EQ(shown("b A=x\tB=y\nC=z"), "'b A=***" + kReplacement + "B=***" + kReplacement + "C=***'");
  EXPECT_EQ(shown("'A=x"), R"(''\''A=***')");
  EXPECT_EQ(shown("A:x"), "A:***");
}

TEST(AnnouncedWords, AreHiddenButNotOptions) {
  EXPECT_EQ(show_command({"s", "-token", "a"}), "s -token ***");
  EXPECT_EQ(show_command({"s", "--token", "--other", "a"}), "s --token --other a");
  EXPECT_EQ(show_command({"s", "--token", "-x", "a"}), "s --token *** a");
  EXPECT_EQ(show_command({"s", "--token", "--key", "a"}), "s --token --key ***");
  EXPECT_EQ(show_command({"s", "token", "a"}), "s token a");
  EXPECT_EQ(show_command({"s", "--token=", "a"}), "s --token= a");
  EXPECT_EQ(show_command({"s", "--", "a"}), "s -- a");
  EXPECT_EQ(show_command({"s", "--token", "two words"}), "s --token ***");
  for (const char* word : {"Bearer", "bearer", "Basic"}) {
    EXPECT_EQ(show_command({"s", word, "a", "b"}), std::string("s ") + word + " *** b");
  }
  EXPECT_EQ(show_command({"s", "basic", "a"}), "s basic a");
}

TEST(Sentences, AreHiddenWordByWord) {
  EXPECT_EQ(shown("run --token a  b\tc"), "'run --token ***  b" + kReplacement + "c'");
  EXPECT_EQ(shown(" --token a"), "' --token ***'");
  EXPECT_EQ(shown("Cookie: a=1; b=2"), "'Cookie: ***'");
  EXPECT_EQ(shown("X-Api-Key: a b c"), "'X-Api-Key: ***'");
  EXPECT_EQ(shown("Accept: a b"), "'Accept: a b'");
  EXPECT_EQ(shown(": a b"), "': a b'");
  EXPECT_EQ(shown("go sk-12345678 on"), "'go *** on'");
}

TEST(ShownWords, AreQuotedIfAShellWouldTakeThemApart) {
  for (const char letter : std::string("\"\\$`;&|<>()?[]{}#~! ")) {
    const std::string word = std::string("a") + letter + "b";
    EXPECT_EQ(shown(word), "'" + word + "'");
  }
  for (const char letter : std::string("@%+=:,./-_*^z")) {
    EXPECT_EQ(shown(std::string("a") + letter), std::string("a") + letter);
  }
  EXPECT_EQ(shown("'"), R"(''\''')");
}

TEST(ShownLines, AreCutBehindFourThousandAndNinetySixLetters) {
  const std::string longest(4096, 'x');
  EXPECT_EQ(show_command({longest}), longest);
  EXPECT_EQ(show_command({longest + "y"}), longest + "…" + " …");
  const std::string rest(4096 - 2, 'x');
  EXPECT_EQ(show_command({"s", rest}), "s " + rest) << "exactly as long as a line may be";
  EXPECT_EQ(show_command({"s", rest, "t"}), "s " + rest + " t …");
  EXPECT_EQ(show_command({"s", rest + "x", "t"}), "s " + rest + "x …");
}

TEST(ShownLines, EndWithTheLastWordThatIsNotEmpty) {
  EXPECT_EQ(show_command({"a b", "", ""}), "a b") << "a title";
  EXPECT_EQ(show_command({"a b", "c"}), "'a b' c");
  EXPECT_EQ(show_command({"a", "", "c", ""}), "a '' c");
  EXPECT_EQ(show_command({""}), "");
  EXPECT_EQ(show_command({"", ""}), "");
}

TEST(ShellWords, AreWhatAShellTakesForOneWord) {
  EXPECT_EQ(shell_word("azAZ09@%+=:,./-_"), "azAZ09@%+=:,./-_");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word("a~"), "'a~'");
}

TEST(PrintableText, KeepsTheEdgesOfWhatIsPlain) {
  EXPECT_EQ(printable(" ~"), " ~");
  EXPECT_EQ(printable("\x1f\x7f"), kReplacement + kReplacement);
}

std::string utf8(std::uint32_t point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (point < 0x800) return {byte(0xC0 | point >> 6), byte(0x80 | (point & 0x3F))};
  if (point < 0x10000) {
    return {byte(0xE0 | point >> 12), byte(0x80 | (point >> 6 & 0x3F)), byte(0x80 | (point & 0x3F))};
  }
  return {byte(0xF0 | point >> 18), byte(0x80 | (point >> 12 & 0x3F)), byte(0x80 | (point >> 6 & 0x3F)),
          byte(0x80 | (point & 0x3F))};
}

TEST(PrintableText, ReplacesExactlyWhatMisleads) {
  for (const auto& [first, last] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0x80, 0x9F},
                                                                                        {0x61C, 0x61C},
                                                                                        {0x200B, 0x200F},
                                                                                        {0x2028, 0x202E},
                                                                                        {0x2060, 0x206F},
                                                                                        {0xFEFF, 0xFEFF},
                                                                                        {0xFFF9, 0xFFFB},
                                                                                        {0xE0000, 0xE007F}}) {
    EXPECT_EQ(printable(utf8(first)), kReplacement) << std::hex << first;
    EXPECT_EQ(printable(utf8(last)), kReplacement) << std::hex << last;
    if (first > 0x80) {
      EXPECT_EQ(printable(utf8(first - 1)), utf8(first - 1)) << std::hex << first - 1;
    }
    EXPECT_EQ(printable(utf8(last + 1)), utf8(last + 1)) << std::hex << last + 1;
  }
}

TEST(PrintableText, KnowsTheEdgesOfUnicode) {
  for (const std::uint32_t point : {0xA0U, 0x7FFU, 0x800U, 0xD7FFU, 0xE000U, 0xFFFDU, 0x10000U, 0x10FFFFU}) {
    EXPECT_EQ(printable(utf8(point)), utf8(point)) << std::hex << point;
  }
  for (const char* broken : {"\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
                             "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x90"}) {
    std::string each;
    for (std::size_t i = 0; i < std::string(broken).size(); ++i) each += kReplacement;
    EXPECT_EQ(printable(broken), each);
  }
  EXPECT_EQ(printable("\xC3x"), kReplacement + "x");
  EXPECT_EQ(printable("\xE2\x82x"), kReplacement + kReplacement + "x");
  EXPECT_EQ(printable("\xC3\xC0"), kReplacement + kReplacement) << "no byte of a continuation";
}

}  // namespace
}  // namespace corral::survey
