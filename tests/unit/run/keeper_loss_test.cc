#include "run/keeper_loss.h"

#include <gtest/gtest.h>

namespace corral::run {
namespace {

using Look = CleanLooks::Look;

TEST(CleanLooks, OneIsEnoughIfTheKernelSaysSo) {
  CleanLooks looks(CleanLooks::kByProof);
  EXPECT_FALSE(looks.enough(Look::FoundSome));
  EXPECT_TRUE(looks.enough(Look::Clean));
}

// A process that is just handed from one parent to the next is on nobody's list.
TEST(CleanLooks, WithoutProofTwoInARowAreNeeded) {
  CleanLooks looks(CleanLooks::kWithoutProof);
  EXPECT_FALSE(looks.enough(Look::Clean));
  EXPECT_TRUE(looks.last_was_clean());
  EXPECT_FALSE(looks.enough(Look::FoundSome));
  EXPECT_FALSE(looks.last_was_clean());
  EXPECT_FALSE(looks.enough(Look::Clean));
  EXPECT_TRUE(looks.enough(Look::Clean));
}

}  // namespace
}  // namespace corral::run
