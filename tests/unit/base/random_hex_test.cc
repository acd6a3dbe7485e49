#include "base/random_hex.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace corral {
namespace {

/// A digit that never comes in some place makes ids that can be guessed, or meet, much sooner than they
/// should.
TEST(RandomHex, HasEveryDigitInEveryPlace) {
  std::array<std::set<char>, 8> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_hex(4);
    ASSERT_EQ(text.size(), seen.size());
    for (std::size_t at = 0; at < seen.size(); ++at) seen[at].insert(text[at]);
  }

  const std::string digits = "0123456789abcdef";
  for (const std::set<char>& place : seen) EXPECT_EQ(std::string(place.begin(), place.end()), digits);
}

TEST(RandomHex, IsNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_hex(16));

  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace corral
