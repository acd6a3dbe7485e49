#include "events/event.h"

#include <gmock/gmock.h>
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

TEST(EventKind, IsAFailureIfAServerCouldNotBeUsed) {
  std::string failures;
  for (int i = 0; i <= static_cast<int>(Kind::SlowTurn); ++i) {
    if (is_failure(static_cast<Kind>(i))) failures += std::string(name_of(static_cast<Kind>(i))) + " ";
  }
  EXPECT_EQ(failures, "crash failed broken refused ");
}

TEST(EventText, LosesTheWordOfItsKindWhereThatIsShown) {
  EXPECT_EQ(sentence_of({.kind = Kind::Refused, .text = "refused: no server"}), "no server");
  EXPECT_EQ(sentence_of({.kind = Kind::Crash, .text = "refused: no server"}), "refused: no server");
  EXPECT_EQ(sentence_of({.kind = Kind::Crash, .text = "crash"}), "crash");
}

TEST(EventErrorLines, AreTheLastOfWhatTheServerWrote) {
  using testing::ElementsAre;
  EXPECT_THAT(last_lines(""), testing::IsEmpty());
  EXPECT_THAT(last_lines("\r\n \t\n"), testing::IsEmpty());
  EXPECT_THAT(last_lines("one\r\n\n  two  \nthree"), ElementsAre("one", "  two", "three"));

  std::string many;
  for (int line = 0; line < 30; ++line) many += std::to_string(line) + "\n";
  EXPECT_THAT(last_lines(many),
              testing::AllOf(testing::SizeIs(10), testing::Contains("20"), testing::Contains("29")));
  EXPECT_THAT(last_lines(std::string(5000, 'x')), ElementsAre(std::string(300, 'x')));
}

TEST(EventErrorLines, AreAMemberOfTheEventIfThereAreSome) {
  EXPECT_EQ(to_json({.kind = Kind::Crash, .text = "why", .error_lines = {"a \"b\"", "c"}}),
            R"({"number":0,"time_ms":0,"kind":"crash","text":"why","stderr":["a \"b\"","c"]})");
}

}  // namespace
}  // namespace corral::events
