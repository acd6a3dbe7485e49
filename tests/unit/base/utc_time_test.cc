#include "base/utc_time.h"

#include <gtest/gtest.h>

namespace corral {
namespace {

constexpr std::int64_t kMoment = 1'794'800'400'123;

TEST(UtcTime, IsWrittenInTheSameLengthAndReadBack) {
  EXPECT_EQ(show_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(show_utc(kMoment), "2026-11-16T03:40:00.123Z");
  EXPECT_EQ(parse_utc(show_utc(kMoment)), kMoment);
  for (const std::int64_t odd : {INT64_MIN, std::int64_t{-1}, INT64_MAX})
    EXPECT_EQ(show_utc(odd).size(), kUtcLength);
}

TEST(UtcTime, IsReadAsPeopleWriteIt) {
  EXPECT_EQ(parse_utc("2026-11-16T03:40:00.123456Z"), kMoment);
  EXPECT_EQ(parse_utc("2026-11-16 03:40:00.123"), kMoment);
  EXPECT_EQ(parse_utc("2026-11-16T05:40:00.123+02:00"), kMoment);
  EXPECT_EQ(parse_utc("2026-11-15T22:10:00.123-05:30"), kMoment);
  EXPECT_EQ(parse_utc("2026-11-16T03:40"), kMoment - 123);
  EXPECT_EQ(parse_utc("1970-01-02"), 86'400'000);
}

TEST(UtcTime, IsNothingElse) {
  for (const char* text : {"", "10m", "2026", "2026-11", "2026-13-01", "2026-02-30", "2026-11-16T",
                           "2026-11-16T3:40", "2026-11-16T24:00", "2026-11-16T03:60", "2026-11-16T03:40:00.Z",
                           "2026-11-16T03:40:00Zx", "2026-11-16T03:40:00+2", "-026-11-16", "2026-11-16x"}) {
    EXPECT_EQ(parse_utc(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace corral
