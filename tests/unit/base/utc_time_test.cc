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

TEST(UtcTime, HasEveryPartInItsPlace) {
  EXPECT_EQ(show_utc(981'173'106'007), "2001-02-03T04:05:06.007Z");
  EXPECT_EQ(show_utc(253'402'300'799'999), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(show_utc(253'402'300'800'000), "9999-12-31T23:59:59.999Z") << "the last that has as many letters";
  EXPECT_EQ(show_utc(-1), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(parse_utc("2001-02-03T04:05:06.007Z"), 981'173'106'007);
  EXPECT_EQ(parse_utc("2001-02-03t04:05:06.5z"), 981'173'106'500);
  EXPECT_EQ(parse_utc("2001-02-03T04:05:06.05"), 981'173'106'050);
  EXPECT_EQ(parse_utc("2001-02-03T04:05Z"), 981'173'100'000);
  EXPECT_EQ(parse_utc("9999-12-31T23:59:59.999Z"), 253'402'300'799'999);
}

TEST(UtcTime, IsReadToTheBoundsOfEachPart) {
  EXPECT_EQ(parse_utc("1970-01-01T00:00"), 0);
  EXPECT_EQ(parse_utc("1970-01-01T23:59"), 86'340'000);
  EXPECT_EQ(parse_utc("1970-01-01T00:00:60"), 60'000) << "a leap second";
  EXPECT_EQ(parse_utc("1970-01-01T00:00+00:00"), 0);
  EXPECT_EQ(parse_utc("1970-01-02T00:00+23:59"), 60'000);
  EXPECT_EQ(parse_utc("1970-01-01T00:00-23:59"), 86'340'000);
  for (const char* text : {"1969-12-31",
                           "1970-00-01",
                           "1970-01-00",
                           "1970-01-32",
                           "1970/01-01",
                           "1970-01/01",
                           "1970-01-01T00:00:61",
                           "1970-01-01T00:00:6",
                           "1970-01-01T00-00",
                           "1970-01-01T00:00+24:00",
                           "1970-01-01T00:00+00:60",
                           "1970-01-01T00:00+0000",
                           "1970-01-01T00:00+00",
                           "1970-01-01T00:00*00:00",
                           "1970-01-01T00:00:00.",
                           "1970-01-01T00:00:00.x",
                           "1970-01-01T00:00:0:",
                           "1970-01-01T00:0/",
                           "19:0-01-01",
                           "1970-01-01_00:00"}) {
    EXPECT_EQ(parse_utc(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace corral
