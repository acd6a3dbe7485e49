#include "cli/screen/page.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <sstream>

namespace corral::cli {
namespace {

const TerminalStyle kPlain{40, true, false};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Page, AParagraphIsWrappedAndIndentedBelowItsLabel) {
  std::ostringstream out;
  Page(out, kPlain).paragraph("  why   ", "one two three four five six seven eight nine ten");

  EXPECT_EQ(out.str(),
            "  why   one two three four five six\n"
            "        seven eight nine ten\n");
}

TEST(Page, AWordThatIsTooLongStandsAlone) {
  std::ostringstream out;
  const std::string path(60, 'x');
  Page(out, kPlain).paragraph("in ", "a " + path + " b");

  EXPECT_EQ(out.str(), "in a\n   " + path + "\n   b\n");
}

TEST(Page, ATableShrinksTheColumnThatTakesTheRest) {
  std::ostringstream out;
  Page page(out, kPlain);
  page.table("  ", {{"PID"}, {"SIZE", true}, {"SERVER", false, true}, {"CLIENT"}},
             {{"4711", "1.2 GB", std::string(50, 's'), "Codex"}, {"5", "3 MB", "files", "Claude"}});

  for (const std::string& line : lines_of(out.str())) EXPECT_LE(width_of(line), 40U) << line;
  EXPECT_EQ(lines_of(out.str())[2], "  5       3 MB  files             Claude");
}

TEST(Page, ColoursTakeNoRoomInATable) {
  const std::vector<Page::Column> columns = {
      {"STATE", false, false, {Tone::Bad, Tone::Plain}}, {"N", true, false, {Tone::Warning}}, {"WHY"}};
  const std::vector<std::vector<std::string>> rows = {{"broken", "7", "x"}, {"ready", "12", "y"}};

  std::ostringstream plain;
  Page(plain, kPlain).table("", columns, rows);
  std::ostringstream coloured;
  Page(coloured, {40, true, true}).table("", columns, rows);

  EXPECT_EQ(plain.str(), "STATE    N  WHY\nbroken   7  x\nready   12  y\n");
  EXPECT_EQ(coloured.str(),
            "\x1b[1mSTATE    N  WHY\x1b[0m\n"
            "\x1b[31mbroken\x1b[0m   \x1b[33m7\x1b[0m  x\n"
            "ready   12  y\n");
}

TEST(Page, WithoutUnicodeAQuestionMarkStandsForWhatCannotBeShown) {
  std::ostringstream out;
  Page page(out, {40, false, false});
  page.paragraph("", "grün 東京");
  page.command("", "x-ü");

  EXPECT_EQ(out.str(), "gr?n ??\nx-?\n");
}

TEST(Page, CommandsAreNeverCut) {
  std::ostringstream out;
  const std::string command = "corral reap --orphans --match " + std::string(60, 'm');
  Page(out, kPlain).command("next ", command);

  EXPECT_EQ(out.str(), "next " + command + "\n");
}

TEST(Page, WidthCountsCharactersNotBytes) {
  EXPECT_EQ(width_of("grün"), 4U);
  EXPECT_EQ(fit("grünes Gras", 5, kPlain), "grün…");
  EXPECT_EQ(fit("grünes Gras", 7, {40, false, false}), "grün...");
  EXPECT_EQ(fit("short", 5, kPlain), "short");
}

class LookTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"COLUMNS", "LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};

TEST_F(LookTest, WithoutATerminalThereAre80ColumnsAndNothingBold) {
  const TerminalStyle style = terminal_style(-1);
  EXPECT_EQ(style.width, 80U);
  EXPECT_FALSE(style.bold);
}

TEST_F(LookTest, ColumnsAreHonouredWithinReason) {
  setenv("COLUMNS", "72", 1);
  EXPECT_EQ(terminal_style(-1).width, 72U);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(terminal_style(-1).width, 40U);
  setenv("COLUMNS", "9999", 1);
  EXPECT_EQ(terminal_style(-1).width, 120U);
  setenv("COLUMNS", "many", 1);
  EXPECT_EQ(terminal_style(-1).width, 80U);
}

TEST_F(LookTest, OnlyAUtf8LocaleGetsUnicode) {
  EXPECT_FALSE(terminal_style(-1).unicode);
  setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_TRUE(terminal_style(-1).unicode);
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(terminal_style(-1).unicode);
  setenv("LC_ALL", "C.utf8", 1);
  EXPECT_TRUE(terminal_style(-1).unicode);
}

TEST(ShortenHome, OnlyWholeNames) {
  setenv("HOME", "/h/me", 1);
  EXPECT_EQ(shorten_home("/h/me/x"), "~/x");
  EXPECT_EQ(shorten_home("/h/me"), "~");
  EXPECT_EQ(shorten_home("/h/me2/x"), "/h/me2/x");
}

}  // namespace
}  // namespace corral::cli
