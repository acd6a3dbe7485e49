#include "base/version_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corral {
namespace {

TEST(VersionOrder, FollowsTheListOfSemanticVersioningAndItsNeighbours) {
  const std::vector<std::string> rising = {"0",
                                           "0.9.9",
                                           "1.0.0-1",
                                           "1.0.0-2",
                                           "1.0.0-11",
                                           "1.0.0-alpha",
                                           "v1.0-alpha.1",
                                           "1.0.0-alpha.beta",
                                           "1.0.0-beta",
                                           "1.0.0-beta.2",
                                           "1.0.0-beta.11",
                                           "1.0.0-rc.1",
                                           "1.0.0",
                                           "1.0.0.1",
                                           "v1.2",
                                           "1.2.3",
                                           "1.10",
                                           "2.0.0-0-x",
                                           "2",
                                           "2026.8.30",
                                           "2026.08.31",
                                           "2026.10.1",
                                           "99999999999999999999999.0",
                                           "100000000000000000000000"};

  for (std::size_t i = 0; i < rising.size(); ++i) {
    for (std::size_t j = 0; j < rising.size(); ++j) {
      EXPECT_EQ(compare_versions(rising[i], rising[j]), i <=> j) << rising[i] << " and " << rising[j];
    }
  }
}

TEST(VersionOrder, TakesDifferentSpellingsForTheSame) {
  const std::vector<std::string> same = {"1.2", "v1.2", "V1.2.0", "1.02.0.0", "1.2.0+build.5", "1.2+x-y"};

  for (const std::string& one : same) {
    for (const std::string& other : same) {
      EXPECT_EQ(compare_versions(one, other), std::strong_ordering::equal) << one << " and " << other;
    }
  }
}

TEST(VersionOrder, SaysNothingAboutTextThatIsNotAVersion) {
  const std::vector<std::string> garbage = {"",
                                            "v",
                                            "latest",
                                            "1.",
                                            ".1",
                                            "1..2",
                                            "1.x",
                                            "1.0-",
                                            "1.0-a..b",
                                            "1.0+",
                                            " 1.0",
                                            "1.0\n",
                                            "-1",
                                            "1.0-rc 1",
                                            "vv1",
                                            "1.0.0rc1",
                                            "0x10",
                                            "1,0",
                                            "1.0+a+b",
                                            std::string("1.0\0", 4),
                                            std::string(300, '1')};

  for (const std::string& text : garbage) {
    EXPECT_FALSE(is_version(text)) << text;
    EXPECT_EQ(compare_versions(text, "1.0"), std::nullopt) << text;
    EXPECT_EQ(compare_versions("1.0", text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace corral
