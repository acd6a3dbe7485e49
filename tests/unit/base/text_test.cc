// Every class of character that foreign text may contain, in each of the ways to show it.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.h"

namespace corral {
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

TEST(ShellWords, AreOneWordToAShell) {
  EXPECT_EQ(shell_word("azAZ09@%+=:,./-_"), "azAZ09@%+=:,./-_");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word("a~"), "'a~'");
}

TEST(Printable, KeepsTheEdgesOfWhatIsPlain) {
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

TEST(Printable, ReplacesExactlyWhatMisleads) {
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

TEST(Printable, KnowsTheEdgesOfUnicode) {
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

/// One code point, or bytes that are none, and what each function shows for it.
struct Shown {
  const char* what;
  std::string text;
  std::string line;  // printable
  std::string body;  // printable_text
  std::string json;  // printable_json
};

TEST(EveryClassOfCharacter, IsShownTheSameWayEverywhere) {
  const std::string r = kReplacement;
  const std::vector<Shown> all = {
      {"escape", "\x1b", r, r, "\\u001b"},
      {"the last C0 control", "\x1f", r, r, "\\u001f"},
      {"the first printable", " ", " ", " ", " "},
      {"the last printable", "~", "~", "~", "~"},
      {"line feed", "\n", r, "\n", "\\u000a"},
      {"tab", "\t", r, "\t", "\\u0009"},
      {"carriage return", "\r", r, r, "\\u000d"},
      {"null", std::string(1, '\0'), r, r, "\\u0000"},
      {"DEL", "\x7f", r, r, "\\u007f"},
      {"the first C1 control", "\xc2\x80", r, r, "\\u0080"},
      {"CSI in one character", "\xc2\x9b", r, r, "\\u009b"},
      {"the last C1 control", "\xc2\x9f", r, r, "\\u009f"},
      {"no-break space", "\xc2\xa0", "\xc2\xa0", "\xc2\xa0", "\xc2\xa0"},
      {"before the Arabic letter mark", "\u061b", "\u061b", "\u061b", "\u061b"},
      {"Arabic letter mark", "\u061c", r, r, "\\u061c"},
      {"zero width space", "\u200b", r, r, "\\u200b"},
      {"zero width non-joiner", "\u200c", r, "\u200c", "\\u200c"},
      {"zero width joiner", "\u200d", r, "\u200d", "\\u200d"},
      {"left-to-right mark", "\u200e", r, r, "\\u200e"},
      {"right-to-left mark", "\u200f", r, r, "\\u200f"},
      {"hyphen", "\u2010", "\u2010", "\u2010", "\u2010"},
      {"line separator", "\u2028", r, r, "\\u2028"},
      {"right-to-left override", "\u202e", r, r, "\\u202e"},
      {"narrow no-break space", "\u202f", "\u202f", "\u202f", "\u202f"},
      {"word joiner", "\u2060", r, r, "\\u2060"},
      {"isolate", "\u2066", r, r, "\\u2066"},
      {"the last format character", "\u206f", r, r, "\\u206f"},
      {"superscript zero", "\u2070", "\u2070", "\u2070", "\u2070"},
      {"byte order mark", "\ufeff", r, r, "\\ufeff"},
      {"interlinear annotation", "\ufff9", r, r, "\\ufff9"},
      {"tag letter", "\U000e0041", r, r, "\\udb40\\udc41"},
      {"Hebrew letter", "\u05d0", "\u05d0", "\u05d0", "\u05d0"},
      {"emoji", "\U0001f600", "\U0001f600", "\U0001f600", "\U0001f600"},
      {"a byte that no sequence has", "\xff", r, r, "\\ufffd"},
      {"a lone continuation byte", "\x9b", r, r, "\\ufffd"},
      {"a sequence cut short", "\xc2", r, r, "\\ufffd"},
      {"an overlong form", "\xc1\x9b", r + r, r + r, "\\ufffd\\ufffd"},
      {"a surrogate", "\xed\xa0\x80", r + r + r, r + r + r, "\\ufffd\\ufffd\\ufffd"},
  };
  for (const Shown& one : all) {
    EXPECT_EQ(printable("a" + one.text + "b"), "a" + one.line + "b") << one.what;
    EXPECT_EQ(printable_text("a" + one.text + "b"), "a" + one.body + "b") << one.what;
    EXPECT_EQ(printable_json("a" + one.text + "b"), "a" + one.json + "b") << one.what;
  }
}

TEST(PrintableLine, HasOneBlankBetweenWordsAndNoneAround) {
  EXPECT_EQ(printable_line(" \t a \n\r\n b\x1b  "), "a b" + kReplacement);
  EXPECT_EQ(printable_line(" a  b\nc "), "a b c");
  EXPECT_EQ(printable_line(" \n "), "");
  EXPECT_EQ(printable_line("a\u200db"), "a" + kReplacement + "b");
}

TEST(PrintableText, HidesNothingBetweenItsLines) {
  EXPECT_EQ(printable_text("a\tb\n\x1b]0;x\x07 \xc2\x9b \u00e4"),
            "a\tb\n" + kReplacement + "]0;x" + kReplacement + " " + kReplacement + " \u00e4");
}

TEST(PrintableJson, StaysTheSameJson) {
  EXPECT_EQ(printable_json(R"({"a":"\u001b\n"})"), R"({"a":"\u001b\n"})");
  EXPECT_EQ(printable_json("\"\u202e \u05d0\""), "\"\\u202e \u05d0\"");
}

TEST(LongText, IsShownToItsEnd) {
  const std::string plain(1 << 20, 'x');
  std::string mixed;
  for (int i = 0; i < 100'000; ++i) mixed += "\x1b\u00e4";

  EXPECT_EQ(printable(plain), plain);
  EXPECT_EQ(printable(plain + "\x1b" + plain), plain + kReplacement + plain);
  EXPECT_EQ(printable(mixed).size(), 100'000 * (kReplacement.size() + 2));
  EXPECT_EQ(printable_json(mixed).size(), 100'000U * 8);
}

TEST(Counted, HasThePluralForEveryNumberButOne) {
  EXPECT_EQ(counted(0, "server"), "0 servers");
  EXPECT_EQ(counted(1, "server"), "1 server");
  EXPECT_EQ(counted(2, "process", "processes"), "2 processes");
  EXPECT_EQ(counted(1, "process", "processes"), "1 process");
}

TEST(Sentence, BeginsWithACapitalAndEndsWithAFullStop) {
  EXPECT_EQ(as_sentence("no daemon is running"), "No daemon is running.");
  EXPECT_EQ(as_sentence("Done."), "Done.");
  EXPECT_EQ(as_sentence(""), "");
}

}  // namespace
}  // namespace corral
