#include <gtest/gtest.h>

#include "survey/server_command.h"

namespace corral::survey {
namespace {

const std::string kReplacement = "\xEF\xBF\xBD";

TEST(Printable, LeavesOrdinaryTextAlone) {
  EXPECT_EQ(printable("npx -y @x/files"), "npx -y @x/files");
  EXPECT_EQ(printable("größe 数 🐎"), "größe 数 🐎");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, TakesEveryControlCharacterOut) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a" + kReplacement + "[2Jb");
  EXPECT_EQ(printable("a\nb\rc\td"), "a" + kReplacement + "b" + kReplacement + "c" + kReplacement + "d");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a" + kReplacement + "b");
  EXPECT_EQ(printable("\x7f"), kReplacement);
  EXPECT_EQ(printable("\xC2\x9B"), kReplacement) << "U+009B is an escape sequence in one character";
}

TEST(Printable, TakesOutWhatTurnsTextAround) {
  for (const char* point : {"\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068",
                            "\u2069", "\u200E", "\u200F", "\u061C", "\u2028", "\u2029", "\u200B", "\uFEFF"}) {
    EXPECT_EQ(printable(std::string("a") + point + "b"), "a" + kReplacement + "b");
  }
}

TEST(Printable, ReplacesBrokenUtf8ByteByByte) {
  EXPECT_EQ(printable("a\xff"), "a" + kReplacement);
  EXPECT_EQ(printable("\xC3"), kReplacement) << "cut short";
  EXPECT_EQ(printable("\xC0\xAF"), kReplacement + kReplacement) << "overlong";
  EXPECT_EQ(printable("\xED\xA0\x80"), kReplacement + kReplacement + kReplacement) << "surrogate";
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), kReplacement + kReplacement + kReplacement + kReplacement)
      << "beyond Unicode";
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
        Secret{"LongOpaqueWord", {"s", "a8f5f167f44f4964e6c998dee827110c"}, "s ***"}),
    [](const auto& row) { return row.param.claim; });

TEST(ShowCommand, LeavesWhatIsNoSecret) {
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
}  // namespace corral::survey
