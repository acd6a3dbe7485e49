// What of a command line is hidden, at the edges of each rule.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/secrets.h"

namespace corral {
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
      << "a sign starts a new word";
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

TEST(ShowCommand, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(show_command({"node", "/srv/s.js", "--root", "/a b"}), "node /srv/s.js --root '/a b'");
  EXPECT_EQ(show_command({"echo", "", "it's"}), "echo '' 'it'\\''s'");
  EXPECT_EQ(show_command({}), "");
}

TEST(ShowCommand, IsOneLineWhateverTheCommandHolds) {
  const std::string shown = show_command({"sh", "-c", "a\nb", "\x1b]0;title\x07"});

  EXPECT_EQ(shown.find('\n'), std::string::npos);
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
}

TEST(ShowCommand, ShowsATitleAsItIs) {
  EXPECT_EQ(show_command({"npm exec @x/files --token abc", "", "", ""}), "npm exec @x/files --token ***");
}

TEST(ShowCommand, StaysShort) {
  const std::string shown = show_command({"node", std::string(1 << 20, 'x'), "last"});

  EXPECT_LT(shown.size(), 5000U);
  EXPECT_TRUE(shown.ends_with("…")) << shown.substr(shown.size() - 20);
}

struct Secret {
  const char* claim;
  std::vector<std::string> argv;
  std::string shown;
};

class ShownSecret : public ::testing::TestWithParam<Secret> {};

TEST_P(ShownSecret, IsHidden) { EXPECT_EQ(show_command(GetParam().argv), GetParam().shown); }

INSTANTIATE_TEST_SUITE_P(
    All, ShownSecret,
    ::testing::Values(
        Secret{"OptionAndWord", {"s", "--token", "abc", "x"}, "s --token *** x"},
        Secret{"OptionWithEquals", {"s", "--api-key=abc"}, "s --api-key=***"},
        Secret{"CamelCase", {"s", "--apiKey", "abc"}, "s --apiKey ***"},
        Secret{"Password", {"s", "--db-password", "a b"}, "s --db-password ***"},
        Secret{"Variable", {"env", "API_KEY=abc", "s"}, "env API_KEY=*** s"},
        Secret{"AnyVariable", {"docker", "run", "-e", "HOME_URL=abc", "i"}, "docker run -e HOME_URL=*** i"},
        Secret{"KnownBeginning", {"s", "sk-abcdefghijkl"}, "s ***"},
        Secret{"GitHubToken", {"s", "x:ghp_0123456789abcdef"}, "s x:***"},
        Secret{"UrlPassword", {"s", "postgres://me:abc@host/db"}, "s postgres://me:***@host/db"},
        Secret{"UrlAfterAnother", {"s", "a://b:c@d,e://f:abc@g"}, "s a://b:***@d,e://f:***@g"},
        Secret{"UrlUserAlone", {"s", "https://abcdef@host/x"}, "s https://***@host/x"},
        Secret{"UrlQuery", {"s", "https://h/p?a=1&token=abc&b=2"}, "s 'https://h/p?a=1&token=***&b=2'"},
        Secret{"Header", {"s", "--header", "Authorization: Bearer abc"}, "s --header 'Authorization: ***'"},
        Secret{"HeaderWithoutBlank", {"s", "-H", "X-API-Key:abc"}, "s -H X-API-Key:***"},
        Secret{"Json", {"s", R"({"apiKey":"abc","b":1})"}, R"(s '{"apiKey":"***","b":1}')"},
        Secret{
            "JsonWithBlanks", {"s", R"({"apiKey": "a b, c", "b": 1})"}, R"(s '{"apiKey": "***", "b": 1}')"},
        Secret{"JsonOfVariables", {"s", R"({"HOME_X":"a\"b","n":1})"}, R"(s '{"HOME_X":"***","n":1}')"},
        Secret{"CommaInValue", {"s", "password=a,b;c"}, "s password=***"},
        Secret{"QuotedInShell", {"sh", "-c", "TOKEN=\"a b\" npx s"}, "sh -c 'TOKEN=\"***\" npx s'"},
        Secret{"InsideShell", {"sh", "-c", "T=abc npx s --token abc"}, "sh -c 'T=*** npx s --token ***'"},
        Secret{"JsonInsideJson", {"s", R"(x={\"apiKey\":\"abc\"})"}, R"(s 'x={\"apiKey\":***')"},
        Secret{"JsonInsideJsonWithBlanks",
               {"s", R"(x={\"apiKey\": \"abc\", \"b\": 1})"},
               R"(s 'x={\"apiKey\": ***')"},
        Secret{"InBrackets", {"s", "no login (password: abc) x"}, "s 'no login (password: ***'"},
        Secret{"LongOpaqueWord", {"s", "a8f5f167f44f4964e6c998dee827110c"}, "s ***"}),
    [](const auto& row) { return row.param.claim; });

TEST(ShowCommand, LeavesWordsThatAreNotSecret) {
  const std::vector<std::string> argv = {
      "npx",      "-y",  "@modelcontextprotocol/server-filesystem@2026.8.31",
      "--author", "me",  "--token-file",
      "/run/t",   "key", "http://localhost:8080/mcp",
      "--port=80"};
  EXPECT_EQ(show_command(argv),
            "npx -y @modelcontextprotocol/server-filesystem@2026.8.31 --author me --token-file /run/t key "
            "http://localhost:8080/mcp --port=80");
}

}  // namespace
}  // namespace corral
