#include "events/event.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace corral::events {
namespace {

TEST(EventCause, HasItsOwnWord) {
  std::set<std::string> words;
  for (int i = 0; i <= static_cast<int>(Cause::Lost); ++i) {
    EXPECT_TRUE(words.insert(name_of(static_cast<Cause>(i))).second) << name_of(static_cast<Cause>(i));
  }
  EXPECT_STREQ(name_of(Cause::Spawn), "spawn");
  EXPECT_STREQ(name_of(Cause::Manifest), "manifest");
  EXPECT_STREQ(name_of(Cause::Hung), "hung");
  EXPECT_STREQ(name_of(Cause::Container), "container");
  EXPECT_STREQ(name_of(Cause::Older), "older");
  EXPECT_STREQ(name_of(Cause::Lost), "lost");
}

TEST(EventCause, IsReadFromAnEventByItsWord) {
  Event event;
  EXPECT_FALSE(event.has_cause(Cause::Warm));

  event.set_cause(Cause::Warm);

  EXPECT_EQ(event.cause, "warm");
  EXPECT_TRUE(event.has_cause(Cause::Warm));
  EXPECT_FALSE(event.has_cause(Cause::Spare));
}

}  // namespace
}  // namespace corral::events
