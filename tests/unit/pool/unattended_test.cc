// When an instance ends because nobody is attached to its clients any more.
#include "pool/unattended.h"

#include <gtest/gtest.h>

namespace corral::pool {
namespace {

using std::chrono::minutes;

UnattendedUse left_for(int number) { return {.unused = minutes(number), .unattended = minutes(number)}; }

TEST(UnattendedRule, WhatIsAskedForNeedsNoEvidence) {
  const UnattendedVerdict verdict = judge_unattended(left_for(5), {minutes(5), minutes(10)});
  EXPECT_TRUE(verdict.parks);
  EXPECT_TRUE(verdict.over);
}

TEST(UnattendedRule, TheUsualNeedsEvidence) {
  UnattendedUse use = left_for(10);
  EXPECT_FALSE(judge_unattended(use, {{}, minutes(10)}).parks);
  EXPECT_TRUE(judge_unattended(use, {{}, minutes(10)}).over) << "so it is reported";
  use.keeps_no_state = true;
  EXPECT_TRUE(judge_unattended(use, {{}, minutes(10)}).parks);
}

TEST(UnattendedRule, ZeroIsNever) {
  const UnattendedVerdict verdict = judge_unattended(left_for(5000), {Clock::duration::zero(), minutes(10)});
  EXPECT_FALSE(verdict.parks);
  EXPECT_FALSE(verdict.over);
}

TEST(UnattendedRule, TheShorterOfBothTimesCounts) {
  EXPECT_FALSE(judge_unattended({.unused = minutes(1), .unattended = minutes(50)}, {minutes(10), {}}).over);
  EXPECT_FALSE(judge_unattended({.unused = minutes(50), .unattended = minutes(1)}, {minutes(10), {}}).over);
  EXPECT_EQ(judge_unattended({.unused = minutes(50), .unattended = minutes(1)}, {minutes(10), {}}).left,
            minutes(9));
}

TEST(UnattendedRule, WhatIsInUseHasAllItsTimeLeft) {
  UnattendedUse use = left_for(50);
  use.in_use = true;
  const UnattendedVerdict verdict = judge_unattended(use, {minutes(10), {}});
  EXPECT_FALSE(verdict.over);
  EXPECT_EQ(verdict.left, minutes(10));
}

}  // namespace
}  // namespace corral::pool
