#include "run/keeper_loss.h"

#include <gtest/gtest.h>

namespace corral::run {
namespace {

TEST(CleanLooks, OneIsEnoughIfTheKernelSaysSo) {
  CleanLooks looks(CleanLooks::kByProof);
  EXPECT_FALSE(looks.enough(false));
  EXPECT_TRUE(looks.enough(true));
}

// A process that is just handed from one parent to the next is on nobody's list.
TEST(CleanLooks, WithoutProofTwoInARowAreNeeded) {
  CleanLooks looks(CleanLooks::kWithoutProof);
  EXPECT_FALSE(looks.enough(true));
  EXPECT_TRUE(looks.last_was_clean());
  EXPECT_FALSE(looks.enough(false));
  EXPECT_FALSE(looks.last_was_clean());
  EXPECT_FALSE(looks.enough(true));
  EXPECT_TRUE(looks.enough(true));
}

}  // namespace
}  // namespace corral::run
