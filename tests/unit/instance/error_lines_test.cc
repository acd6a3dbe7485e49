#include "instance/error_lines.h"

#include <gtest/gtest.h>

namespace corral::instance {
namespace {

/// What becomes of these pieces, with "> " in front of each line.
std::string lines_of(std::initializer_list<std::string> pieces, std::uint64_t* count = nullptr) {
  ErrorLines lines;
  std::string out;
  std::uint64_t taken = 0;
  for (const std::string& piece : pieces) taken += lines.take(piece, "> ", out);
  if (count != nullptr) *count = taken;
  return out;
}

TEST(ErrorLines, AreCountedAndCompleteHoweverTheyArrive) {
  std::uint64_t count = 0;
  EXPECT_EQ(lines_of({"a\nb\nc"}, &count), "> a\n> b\n");
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(lines_of({"a", "b", "", "c\n", "d\n"}, &count), "> abc\n> d\n");
  EXPECT_EQ(count, 2U);
}

TEST(ErrorLines, ThatAreEmptyAreLeftOutAndNotCounted) {
  std::uint64_t count = 0;
  EXPECT_EQ(lines_of({"\n\r\n\na\r\n \n"}, &count), "> a\n>  \n");
  EXPECT_EQ(count, 2U);
}

TEST(ErrorLines, LoseOneCarriageReturnAtTheirEnd) {
  EXPECT_EQ(lines_of({"a\r", "\n"}), "> a\n");
  EXPECT_EQ(lines_of({"a\rb\n"}).find('\r'), std::string::npos);
  EXPECT_NE(lines_of({"a\rb\n"}), lines_of({"ab\n"})) << "what stood in the middle is shown";
}

TEST(ErrorLines, HaveBlanksForTabs) { EXPECT_EQ(lines_of({"\ta\tb\n"}), ">  a b\n"); }

TEST(ErrorLines, AreCutBehindTheLongestAndTheNextOneIsWhole) {
  constexpr std::size_t kLongest = ErrorLines::kLongest;
  const std::string longest(kLongest, 'x');
  EXPECT_EQ(lines_of({longest + "\n"}), "> " + longest + "\n");
  EXPECT_EQ(lines_of({longest, "\ny\n"}), "> " + longest + "\n> y\n");
  EXPECT_EQ(lines_of({longest + "x\ny\n"}), "> " + longest + " [cut]\n> y\n");
  EXPECT_EQ(lines_of({longest, "x", "x\n", "y\n"}), "> " + longest + " [cut]\n> y\n");
}

TEST(ErrorLines, KeepNothingOfTheLineBefore) {
  for (const std::size_t size : {1U, 1024U, 1025U}) {
    const std::string line(size, 'x');
    EXPECT_EQ(lines_of({line + "\n", "y\n"}), "> " + line + "\n> y\n") << size;
  }
}

TEST(ErrorLines, GiveTheRestOnce) {
  ErrorLines lines;
  std::string out;
  EXPECT_EQ(lines.take("last words", "> ", out), 0U);
  EXPECT_EQ(lines.take_rest("> ", out), 1U);
  EXPECT_EQ(lines.take_rest("> ", out), 0U);
  EXPECT_EQ(out, "> last words\n");
}

TEST(ErrorLines, HaveTheTimeAndEightDigitsInFront) {
  EXPECT_EQ(error_line_prefix(1'794'800'400'123, "1a2b3c4d5e6f"), "2026-11-16T03:40:00.123Z 1a2b3c4d ");
  EXPECT_EQ(error_line_prefix(0, "1a"), "1970-01-01T00:00:00.000Z 1a ");
}

TEST(LogFileName, IsTheNameOfTheServerIfThatIsPlain) {
  for (const std::string& name :
       {std::string("a"), std::string("a.b-c_d e"), std::string("a-"), std::string(200, 'x')}) {
    EXPECT_EQ(log_file_name(name), name + ".log");
  }
}

TEST(LogFileName, OfAnyOtherIsReadableAndHasADigest) {
  struct Case {
    std::string server;
    std::string beginning;
  };
  for (const Case& one : {Case{".a", "_a-"}, Case{"-a", "_a-"}, Case{"a/b", "a_b-"}, Case{"a\nb", "a_b-"},
                          Case{"/Az09-.", "_Az09-.-"}, Case{"@[`{/", "_____-"}, Case{"/:", "__-"},
                          Case{std::string(201, 'x'), std::string(40, 'x') + "-"}}) {
    const std::string name = log_file_name(one.server);
    EXPECT_TRUE(name.starts_with(one.beginning)) << name;
    EXPECT_TRUE(name.ends_with(".log")) << name;
    EXPECT_EQ(name.size(), one.beginning.size() + 36 + 4) << name;
  }
  EXPECT_NE(log_file_name("a/b"), log_file_name("a\nb"));
}

}  // namespace
}  // namespace corral::instance
