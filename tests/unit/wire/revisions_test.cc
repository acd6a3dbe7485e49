#include "wire/revisions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

namespace corral::wire {
namespace {

using testing::ElementsAre;

std::vector<std::string_view> dates_where(const std::function<bool(const Revision&)>& so) {
  std::vector<std::string_view> dates;
  for (const Revision& revision : kRevisions) {
    if (so(revision)) dates.push_back(revision.date);
  }
  return dates;
}

TEST(Revisions, AreFoundByTheirExactDate) {
  for (const Revision& revision : kRevisions) EXPECT_EQ(find_revision(revision.date), &revision);

  for (const char* const other : {"", "2025-06-17", "2025-06-18 ", "2025-06", "draft", "2099-01-01"}) {
    EXPECT_EQ(find_revision(other), nullptr) << other;
    EXPECT_FALSE(is_legacy_version(other)) << other;
    EXPECT_FALSE(is_modern_version(other)) << other;
  }
}

TEST(Revisions, BelongToOneEra) {
  EXPECT_THAT(dates_where([](const Revision& one) { return is_legacy_version(one.date); }),
              ElementsAre("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"));
  EXPECT_THAT(dates_where([](const Revision& one) { return is_modern_version(one.date); }),
              ElementsAre("2026-07-28"));
}

TEST(Revisions, OfEachEraHaveAnOldestAndANewest) {
  EXPECT_EQ(kOldestLegacy, "2024-11-05");
  EXPECT_EQ(kNewestLegacy, "2025-11-25");
  EXPECT_EQ(kOldestModern, "2026-07-28");
  EXPECT_EQ(kModern, "2026-07-28");
}

TEST(Revisions, AClientThatAsksForAnotherDateIsOfferedTheNewestLegacyOne) {
  EXPECT_EQ(legacy_revision("2025-03-26").date, "2025-03-26");

  for (const char* const other : {"", "2020-01-01", "2026-07-28", "2099-01-01"}) {
    EXPECT_EQ(legacy_revision(other).date, "2025-11-25") << other;
  }
}

// What the specifications say; the code only asks the table.
TEST(Revisions, DifferAsTheSpecificationsSay) {
  EXPECT_THAT(dates_where([](const Revision& one) { return one.batches; }), ElementsAre("2025-03-26"));
  EXPECT_THAT(dates_where([](const Revision& one) { return !one.audio; }), ElementsAre("2024-11-05"));
  EXPECT_THAT(dates_where([](const Revision& one) { return !one.resource_links; }),
              ElementsAre("2024-11-05", "2025-03-26"));
  EXPECT_THAT(dates_where([](const Revision& one) { return !one.structured; }),
              ElementsAre("2024-11-05", "2025-03-26"));
  EXPECT_THAT(dates_where([](const Revision& one) { return one.url_elicitation; }),
              ElementsAre("2025-11-25", "2026-07-28"));
  EXPECT_THAT(dates_where([](const Revision& one) { return one.extensions; }),
              ElementsAre("2025-11-25", "2026-07-28"));
  EXPECT_THAT(dates_where([](const Revision& one) { return one.primed_streams; }), ElementsAre("2025-11-25"));
}

TEST(Revisions, AreListedForPeople) {
  EXPECT_EQ(revisions_in_words(), "2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28");
}

TEST(Revisions, AnUnsupportedOneIsToldWhichAreSupported) {
  EXPECT_EQ(unsupported_version_data(R"("2099-01-01")"),
            R"({"supported":["2026-07-28"],"requested":"2099-01-01"})");
}

}  // namespace
}  // namespace corral::wire
