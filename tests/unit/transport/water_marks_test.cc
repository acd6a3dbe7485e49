#include "transport/water_marks.h"

#include <gtest/gtest.h>

namespace corral::transport {
namespace {

constexpr std::size_t kHigh = wire::Channel::kHighWater;
constexpr std::size_t kLow = wire::Channel::kLowWater;

TEST(WaterMarks, AreCongestedAboveTheHighMark) {
  WaterMarks marks;
  marks.rose(kHigh);
  EXPECT_FALSE(marks.congested());
  marks.rose(kHigh + 1);
  EXPECT_TRUE(marks.congested());
}

TEST(WaterMarks, StayCongestedUntilBelowTheLowMark) {
  WaterMarks marks;
  marks.rose(kHigh + 1);
  marks.rose(0);
  EXPECT_TRUE(marks.congested()) << "only reading ends it";
  EXPECT_FALSE(marks.fell(kLow));
  EXPECT_TRUE(marks.congested());
  EXPECT_TRUE(marks.fell(kLow - 1));
  EXPECT_FALSE(marks.congested());
}

TEST(WaterMarks, ReportTheEndOfACongestionOnce) {
  WaterMarks marks;
  EXPECT_FALSE(marks.fell(0)) << "there was none";
  marks.rose(kHigh + 1);
  EXPECT_TRUE(marks.fell(0));
  EXPECT_FALSE(marks.fell(0));
}

}  // namespace
}  // namespace corral::transport
