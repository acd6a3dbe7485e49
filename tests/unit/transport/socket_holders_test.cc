#include "transport/socket_holders.h"

#include <gtest/gtest.h>

namespace corral::transport {
namespace {

TEST(StartTime, IsCountedAfterTheName) {
  const std::string rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 987654 20 21";
  EXPECT_EQ(start_time_in("7 (node)" + rest), 987654U);
  EXPECT_EQ(start_time_in("7 (a) b (c)" + rest), 987654U);
  EXPECT_EQ(start_time_in("7 (node) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 42"), 42U);
  EXPECT_EQ(start_time_in("7 (node) S 1 2"), 0U);
  EXPECT_EQ(start_time_in(""), 0U);
}

}  // namespace
}  // namespace corral::transport
