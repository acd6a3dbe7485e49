#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(ParseDuration, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*parse_duration("500ms"), milliseconds(500));
  EXPECT_EQ(*parse_duration("2s"), milliseconds(2000));
  EXPECT_EQ(*parse_duration("1.5s"), milliseconds(1500));
  EXPECT_EQ(*parse_duration("1m"), milliseconds(60'000));
  EXPECT_EQ(*parse_duration("24h"), milliseconds(86'400'000));
  EXPECT_EQ(*parse_duration("0s"), milliseconds(0));
}

TEST(ParseDuration, RefusesEverythingElseAndSaysWhatToWrite) {
  for (const char* text : {"", "2", "s", "ms", "-1s", "+1s", "1e3s", "inf", "nan", "1..5s", "1 s", "2S",
                           "25h", "1s ", "0x10s", "99999999999999999999s", "0", "."}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("500ms")) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr(text)) << text;
  }
}

TEST(ParseSize, ReadsWhatPeopleWrite) {
  EXPECT_EQ(*parse_size("65536"), 65536U);
  EXPECT_EQ(*parse_size("1k"), 1024U);
  EXPECT_EQ(*parse_size("512M"), 512U * 1024 * 1024);
  EXPECT_EQ(*parse_size("512MB"), 512U * 1024 * 1024);
  EXPECT_EQ(*parse_size("512MiB"), 512U * 1024 * 1024);
  EXPECT_EQ(*parse_size("1.5G"), 1536ULL * 1024 * 1024);
}

TEST(ParseSize, RefusesEverythingElseAndSaysWhatToWrite) {
  for (const char* text : {"", "M", "0", "0G", "-5M", "5X", "5MM", "5Mi", "1e9", "9999999T", "5 M"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("512M")) << text;
  }
}

TEST(ParseCores, ReadsCoresAndPercent) {
  EXPECT_EQ(*parse_cores("0.5"), 500U);
  EXPECT_EQ(*parse_cores("2"), 2000U);
  EXPECT_EQ(*parse_cores("150%"), 1500U);
}

TEST(ParseCores, RefusesEverythingElse) {
  for (const char* text : {"", "0", "0%", "-1", "half", "1.5x", "5000"})
    EXPECT_FALSE(parse_cores(text)) << text;
}

TEST(ShowAge, HasTwoUnitsAtMost) {
  using namespace std::chrono_literals;
  EXPECT_EQ(show_age(850ms), "0s");
  EXPECT_EQ(show_age(-5s), "0s");
  EXPECT_EQ(show_age(59s), "59s");
  EXPECT_EQ(show_age(60s), "1m");
  EXPECT_EQ(show_age(250s), "4m 10s");
  EXPECT_EQ(show_age(3h + 5min + 9s), "3h 5m");
  EXPECT_EQ(show_age(52h), "2d 4h");
}

TEST(ShowSize, HasOneDigitAfterThePointWhereItSaysSomething) {
  EXPECT_EQ(show_size(0), "0 B");
  EXPECT_EQ(show_size(812), "812 B");
  EXPECT_EQ(show_size(3482), "3.4 KB");
  EXPECT_EQ(show_size(81ULL << 20), "81 MB");
  EXPECT_EQ(show_size(1288490189), "1.2 GB");
  EXPECT_EQ(show_size(~0ULL), "16384 PB");
}

TEST(ParseAge, TakesDays) {
  EXPECT_EQ(parse_age("3d").value(), std::chrono::hours(72));
  EXPECT_EQ(parse_age("30m").value(), std::chrono::minutes(30));
  EXPECT_FALSE(parse_age("3"));
  EXPECT_FALSE(parse_age("9999999d"));
  EXPECT_FALSE(parse_duration("2d")) << "a grace of days is a slip";
}

TEST(ParseDuration, KnowsEveryUnitToItsBound) {
  EXPECT_EQ(*parse_duration("1ms"), milliseconds(1));
  EXPECT_EQ(*parse_duration("2min"), milliseconds(120'000));
  EXPECT_EQ(*parse_duration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(*parse_duration("0.5ms"), milliseconds(1)) << "rounded";
  EXPECT_EQ(*parse_duration("86400000ms"), milliseconds(86'400'000));
  EXPECT_FALSE(parse_duration("86400001ms"));
  EXPECT_EQ(*parse_age("3650d"), std::chrono::hours(24 * 3650));
  EXPECT_FALSE(parse_age("3650.1d"));
  EXPECT_FALSE(parse_age("0x")) << "nothing of an unknown unit";
}

TEST(ParseDuration, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(parse_duration("2").error().message,
            "invalid duration '2': use a number and a unit up to 24h, such as 500ms, 2s or 1m");
  EXPECT_EQ(parse_age("2").error().message,
            "invalid duration '2': use a number and a unit, such as 90s, 30m, 2h or 3d");
  EXPECT_EQ(parse_size("2x").error().message, "invalid size '2x': use a number of bytes, such as 512M or 2G");
  EXPECT_EQ(parse_cores("x").error().message,
            "invalid number of cores 'x': use a number of cores, such as 0.5, 2 or 150%");
}

TEST(ParseSize, KnowsEveryUnitToItsBound) {
  EXPECT_EQ(*parse_size("1"), 1U);
  EXPECT_EQ(*parse_size("7B"), 7U);
  EXPECT_EQ(*parse_size("1K"), 1024U);
  EXPECT_EQ(*parse_size("3KiB"), 3072U);
  EXPECT_EQ(*parse_size("1M"), 1ULL << 20);
  EXPECT_EQ(*parse_size("1G"), 1ULL << 30);
  EXPECT_EQ(*parse_size("1T"), 1ULL << 40);
  EXPECT_EQ(*parse_size("1000000000000000"), 1'000'000'000'000'000U);
  for (const char* text : {"1000000000000001", "0.9", "0.0009k", "1b", "1m", "1P", "BB", "1BB"})
    EXPECT_FALSE(parse_size(text)) << text;
}

TEST(ParseCores, HasBounds) {
  EXPECT_EQ(*parse_cores("0.01"), 10U);
  EXPECT_EQ(*parse_cores("1%"), 10U);
  EXPECT_EQ(*parse_cores("4096"), 4'096'000U);
  EXPECT_EQ(*parse_cores("0.0125"), 13U) << "rounded";
  for (const char* text : {"0.009", "0.9%", "4096.1", "409601%", "%", "1%%", "2cores"})
    EXPECT_FALSE(parse_cores(text)) << text;
}

TEST(ShowAge, GoesOverToTheNextUnitWhenItIsFull) {
  using namespace std::chrono_literals;
  EXPECT_EQ(show_age(0s), "0s");
  EXPECT_EQ(show_age(999ms), "0s");
  EXPECT_EQ(show_age(61s), "1m 1s");
  EXPECT_EQ(show_age(3599s), "59m 59s");
  EXPECT_EQ(show_age(3600s), "1h");
  EXPECT_EQ(show_age(86'399s), "23h 59m");
  EXPECT_EQ(show_age(86'400s), "1d");
  EXPECT_EQ(show_age(86'400s + 3600s), "1d 1h");
  EXPECT_EQ(show_age(47h + 59min), "1d 23h");
}

TEST(ShowSize, GoesOverToTheNextUnitWhenItIsFull) {
  EXPECT_EQ(show_size(9), "9 B");
  EXPECT_EQ(show_size(1023), "1023 B");
  EXPECT_EQ(show_size(1024), "1.0 KB");
  EXPECT_EQ(show_size(10ULL << 10), "10 KB");
  EXPECT_EQ(show_size((10ULL << 10) - 103), "9.9 KB");
  EXPECT_EQ(show_size(1ULL << 40), "1.0 TB");
  EXPECT_EQ(show_size(1ULL << 50), "1.0 PB");
}

}  // namespace
}  // namespace corral
