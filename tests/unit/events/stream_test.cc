#include "events/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::events {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Event about(const std::string& server) {
  Event event;
  event.kind = Kind::Spawn;
  event.server = server;
  return event;
}

TEST(EventStream, GivesEveryListenerEveryEventInOrderWithItsNumber) {
  Stream stream;
  std::vector<std::uint64_t> first;
  std::vector<std::string> second;
  stream.listen([&](const Event& event) { first.push_back(event.number); });
  stream.listen([&](const Event& event) { second.push_back(event.server); });
  stream.continue_after(41);

  stream.tell(about("a"));
  stream.tell(about("b"));

  EXPECT_THAT(first, ElementsAre(42, 43));
  EXPECT_THAT(second, ElementsAre("a", "b"));
}

TEST(EventStream, CutsWhatAClientCouldMakeAsLongAsItLikes) {
  Stream stream;
  Event heard;
  stream.listen([&](const Event& event) { heard = event; });
  Event event = about(std::string(4 << 20, 'n'));
  event.text = "x" + std::string(kLongestText / 2, ' ');
  while (event.text.size() < 3 * kLongestText) event.text += "ä";

  stream.tell(event);

  EXPECT_EQ(heard.server, std::string(kLongestName, 'n') + "…");
  EXPECT_LE(heard.text.size(), kLongestText + 3);
  EXPECT_TRUE(heard.text.ends_with("ä…")) << "whole characters";
}

TEST(EventStream, TellsWhatAListenerTellsAfterwardsAndToAll) {
  Stream stream;
  std::vector<std::string> heard;
  stream.listen([&](const Event& event) {
    if (event.server == "a") stream.tell(about("because of a"));
  });
  stream.listen([&](const Event& event) { heard.push_back(event.server); });

  stream.tell(about("a"));

  EXPECT_THAT(heard, ElementsAre("a", "because of a"));
}

TEST(EventStream, RemembersTheLastOnes) {
  Stream stream;
  for (int i = 0; i < 1100; ++i) stream.tell(about(std::to_string(i)));

  EXPECT_EQ(stream.last(), 1100U);
  EXPECT_EQ(stream.first(), 1100U - 1024 + 1);
  EXPECT_THAT(stream.after(1098, 10), SizeIs(2));
  EXPECT_THAT(stream.after(0, 3), SizeIs(3));
  EXPECT_EQ(stream.after(0, 3).front().number, stream.first());
  EXPECT_THAT(stream.after(1100, 10), IsEmpty());
}

TEST(EventStream, BeginsWithOneAndRemembersNothing) {
  Stream stream;
  EXPECT_EQ(stream.first(), 0U);
  EXPECT_EQ(stream.last(), 0U);
  EXPECT_THAT(stream.after(0, 10), IsEmpty());

  stream.tell(about("a"));

  EXPECT_EQ(stream.first(), 1U);
  EXPECT_EQ(stream.last(), 1U);
  EXPECT_THAT(stream.after(0, 10), SizeIs(1));
  EXPECT_THAT(stream.after(0, 0), IsEmpty());
}

TEST(EventStream, CutsNothingThatIsShortEnough) {
  Stream stream;
  Event heard;
  stream.listen([&](const Event& event) { heard = event; });
  for (const std::size_t more : {0U, 1U}) {
    Event event = about(std::string(kLongestName + more, 'n'));
    event.text = std::string(kLongestText + more, 't');
    stream.tell(event);
    EXPECT_EQ(heard.server, std::string(kLongestName, 'n') + (more > 0 ? "…" : ""));
    EXPECT_EQ(heard.text, std::string(kLongestText, 't') + (more > 0 ? "…" : ""));
  }
}

TEST(EventStream, CutsBeforeACharacterThatDoesNotFitAndAllOfWhatIsNone) {
  Stream stream;
  Event heard;
  stream.listen([&](const Event& event) { heard = event; });
  stream.tell(about(std::string(kLongestName - 1, 'n') + "€ and more"));
  EXPECT_EQ(heard.server, std::string(kLongestName - 1, 'n') + "…");
  stream.tell(about(std::string(kLongestName - 3, 'n') + "€ and more"));
  EXPECT_EQ(heard.server, std::string(kLongestName - 3, 'n') + "€…");
  stream.tell(about(std::string(kLongestName + 1, '\x80')));
  EXPECT_EQ(heard.server, "…");
}

TEST(EventStream, SaysWhenItWas) {
  const auto now = [] {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  };
  Stream stream;
  const auto before = now();
  stream.tell(about("a"));
  const auto told = stream.after(0, 1).front().time_ms;
  EXPECT_LE(before, told);
  EXPECT_LE(told, now());
}

TEST(EventStream, IsNotStuckAfterAListenerHasToldSomething) {
  Stream stream;
  std::vector<std::string> heard;
  stream.listen([&](const Event& event) {
    heard.push_back(event.server);
    if (event.server == "a") stream.tell(about("because of a"));
  });
  stream.tell(about("a"));
  stream.tell(about("b"));
  EXPECT_THAT(heard, ElementsAre("a", "because of a", "b"));
}

TEST(EventStream, NamesEveryKind) {
  for (int i = 0; i <= static_cast<int>(Kind::SlowTurn); ++i) {
    const auto kind = static_cast<Kind>(i);
    EXPECT_EQ(kind_called(name_of(kind)), kind);
  }
  EXPECT_STREQ(name_of(Kind::Start), "start");
  EXPECT_STREQ(name_of(Kind::Extinct), "extinct");
  EXPECT_STREQ(name_of(Kind::SlowTurn), "slow-turn");
  EXPECT_EQ(kind_called("nonsense"), std::nullopt);
}

}  // namespace
}  // namespace corral::events
