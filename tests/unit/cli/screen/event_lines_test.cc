#include "cli/screen/event_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/frame/option_values.h"

namespace corral::cli {
namespace {

using boost::json::parse;
using testing::HasSubstr;

constexpr const char* kCrash =
    R"({"number":1,"time_ms":1794800400123,"kind":"crash","server":"files","text":"it died\u001b[2J"})";

TEST(EventLine, SaysWhenWhatAndHow) {
  EXPECT_EQ(event_line(parse(kCrash), TerminalStyle{}), "2026-11-16T03:40:00.123Z  crash    it died�[2J");
  EXPECT_THAT(event_line(parse(kCrash), TerminalStyle{.bold = true}), HasSubstr("\x1b[31mcrash\x1b[0m    "));
}

TEST(EventLine, IsFollowedByWhatTheServerWroteLast) {
  EXPECT_EQ(
      event_line(
          parse(R"({"time_ms":1794800400123,"kind":"crash","text":"it died","stderr":["a\u001b","b"]})"),
          TerminalStyle{}),
      "2026-11-16T03:40:00.123Z  crash    it died\n  stderr: a\xEF\xBF\xBD\n  stderr: b");
}

TEST(EventLine, MakesTheBestOfWhatADaemonOfAnotherVersionSays) {
  EXPECT_EQ(event_line(parse(R"({"kind":"unheard-of","time_ms":"x"})"), TerminalStyle{}),
            "1970-01-01T00:00:00.000Z  unheard-of -");
  EXPECT_EQ(event_line(parse("[]"), TerminalStyle{}), "1970-01-01T00:00:00.000Z  -        -");
}

TEST(EventChoice, TakesOnlyWhatIsAskedFor) {
  const boost::json::value event = parse(kCrash);
  EXPECT_TRUE(is_chosen(event, {}));
  EXPECT_TRUE(is_chosen(event, {1'794'800'400'123, {"spawn", "crash"}, {"files"}}));
  EXPECT_FALSE(is_chosen(event, {1'794'800'400'124, {}, {}}));
  EXPECT_FALSE(is_chosen(event, {0, {"spawn"}, {}}));
  EXPECT_FALSE(is_chosen(event, {0, {}, {"other"}}));
}

TEST(EventChoice, NamesTheKindsThereAre) {
  EXPECT_TRUE(check_kind("extinct"));
  const Result<void> refused = check_kind("crashed");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("'crashed' is not a kind of event; did you mean crash? Known kinds:"));
  EXPECT_THAT(refused.error().message, HasSubstr("survivor"));
}

TEST(EventChoice, EndsTheSentenceAlsoWhereNoKindIsNear) {
  EXPECT_THAT(check_kind("foo").error().message,
              testing::StartsWith("'foo' is not a kind of event. Known kinds: start, shutdown, spawn,"));
}

TEST(Since, IsHowLongAgoOrWhen) {
  EXPECT_EQ(*parse_since("10m", 1'000'000), 400'000);
  EXPECT_EQ(*parse_since("3d", 1'000), 0);
  EXPECT_EQ(*parse_since("1970-01-02", 0), 86'400'000);
  const Result<std::int64_t> refused = parse_since("yesterday", 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("10m"));
}

}  // namespace
}  // namespace corral::cli
