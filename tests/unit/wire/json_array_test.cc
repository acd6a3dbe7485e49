#include "wire/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace corral::wire {
namespace {

TEST(ArrayElements, AreGivenInOrder) {
  const std::string array = R"( [1, "a,]" ,{"b":[2]}] )";

  const auto elements = array_elements(array, 3);

  ASSERT_TRUE(elements);
  ASSERT_EQ(elements->size(), 3U);
  EXPECT_EQ((*elements)[0].in(array), "1");
  EXPECT_EQ((*elements)[1].in(array), R"("a,]")");
  EXPECT_EQ((*elements)[2].in(array), R"({"b":[2]})");
}

TEST(ArrayElements, AreNotGatheredBeyondWhatWasAskedFor) {
  std::string array = "[1";
  for (int i = 0; i < 1'000'000; ++i) array += ",1";
  array += "]";

  const auto elements = array_elements(array, 256);

  ASSERT_TRUE(elements);
  EXPECT_EQ(elements->size(), 257U) << "one more tells that there are too many";
  EXPECT_LE(elements->capacity(), 1024U);
}

TEST(ArrayElements, BehindTheLastOneAreNotLookedAt) {
  EXPECT_EQ(array_elements("[1,2,nonsense", 1)->size(), 2U);
  EXPECT_FALSE(array_elements("[1,2,nonsense", 2));
  EXPECT_TRUE(array_elements("[]", 0)->empty());
}

}  // namespace
}  // namespace corral::wire
