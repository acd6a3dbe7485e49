#include "cli/commands/kept_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "instance/error_file.h"
#include "survey/temp_files.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class KeptLogs : public survey::TempFiles {
 protected:
  std::string path() const { return root() + "/files.log"; }
  static std::vector<std::string> read(KeptLog& log) {
    std::vector<std::string> lines;
    log.read([&lines](std::string_view line) {
      const std::optional<KeptLine> parsed = parse_kept_line(line);
      lines.push_back(parsed ? parsed->text : std::string(line));
    });
    return lines;
  }
};

TEST_F(KeptLogs, AreReadFromTheOldestOnAndOnlyOnce) {
  write(path() + ".2", "a\n");
  write(path() + ".1", "b\n");
  write(path(), "c\nd");
  KeptLog log(path());

  EXPECT_TRUE(log.exists());
  EXPECT_THAT(read(log), ElementsAre("a", "b", "c"));
  EXPECT_THAT(read(log), IsEmpty());
  std::ofstream(path(), std::ios::app) << "e\nf\n";
  EXPECT_THAT(read(log), ElementsAre("de", "f"));
}

TEST_F(KeptLogs, AreFollowedOverEveryRotation) {
  instance::ErrorFiles files(root(), {.bytes = 100, .files = 4});
  KeptLog log(path());
  EXPECT_FALSE(log.exists());
  std::vector<std::string> expected;
  std::vector<std::string> got;

  // Up to seven lines between two looks: two rotations.
  for (int i = 0; i < 200; ++i) {
    expected.push_back("line " + std::to_string(i));
    files.write("files", "1a2b3c4d", expected.back() + "\n");
    if (i % 8 == 7 || i % 3 == 0) std::ranges::copy(read(log), std::back_inserter(got));
  }
  std::ranges::copy(read(log), std::back_inserter(got));

  EXPECT_EQ(got, expected);
}

TEST_F(KeptLogs, AreReadFromTheStartAfterTheyWereEmptied) {
  write(path(), "one\ntwo\n");
  KeptLog log(path());
  EXPECT_THAT(read(log), SizeIs(2));

  write(path(), "new\n");

  EXPECT_THAT(read(log), ElementsAre("new"));
}

TEST_F(KeptLogs, MayHoldAnything) {
  write(path(), std::string(1'000'000, 'x') + "\n2026-11-16T03:40:00.123Z 1a2b3c4d \x1b[2J\n");
  std::filesystem::create_directory(path() + ".1");
  KeptLog log(path());

  const std::vector<std::string> lines = read(log);

  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_LT(lines[0].size(), 200'000U);
  EXPECT_EQ(lines[1], "\xEF\xBF\xBD[2J");
}

TEST(KeptLine, IsTimeInstanceAndText) {
  const std::optional<KeptLine> line = parse_kept_line("2026-11-16T03:40:00.123Z 1a2b3c4d two words");

  ASSERT_TRUE(line);
  EXPECT_EQ(line->time_ms, 1'794'800'400'123);
  EXPECT_EQ(line->instance, "1a2b3c4d");
  EXPECT_EQ(line->text, "two words");
  for (const char* other : {"", "text", "2026-11-16T03:40:00.123Z 1a2b3c4",
                            "2026-11-16T03:40:00.123Z 1a2b 3c4d x", "2026-11-16T03:40:00.123X 1a2b3c4d x"}) {
    EXPECT_FALSE(parse_kept_line(other)) << other;
  }
}

}  // namespace
}  // namespace corral::cli
