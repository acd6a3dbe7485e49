#include "router/subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "router/log_levels.h"

namespace corral::router {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

SessionPort* port(std::uintptr_t number) { return reinterpret_cast<SessionPort*>(number * 16); }

TEST(Subscriptions, AsksOnceAndLetsTheOthersWait) {
  Subscriptions subscriptions;
  EXPECT_EQ(subscriptions.subscribe(port(1), "u", "1"), Subscriptions::Next::AskServer);
  EXPECT_EQ(subscriptions.subscribe(port(2), "u", "2"), Subscriptions::Next::Wait);
  EXPECT_THAT(subscriptions.interested("u"), IsEmpty());
  EXPECT_THAT(subscriptions.answered("u", true), SizeIs(2));
  EXPECT_EQ(subscriptions.subscribe(port(3), "u", "3"), Subscriptions::Next::Answer);
  EXPECT_THAT(subscriptions.interested("u"), ElementsAre(port(1), port(2), port(3)));
}

TEST(Subscriptions, ARefusalUndoesItForAll) {
  Subscriptions subscriptions;
  subscriptions.subscribe(port(1), "u", "1");
  subscriptions.subscribe(port(2), "u", "2");
  EXPECT_THAT(subscriptions.answered("u", false), SizeIs(2));
  EXPECT_THAT(subscriptions.interested("u"), IsEmpty());
  EXPECT_EQ(subscriptions.subscribe(port(1), "u", "3"), Subscriptions::Next::AskServer)
      << "failures are not cached";
}

TEST(Subscriptions, TheLastOneOutTellsTheServer) {
  Subscriptions subscriptions;
  subscriptions.subscribe(port(1), "u", "1");
  subscriptions.answered("u", true);
  subscriptions.subscribe(port(1), "u", "2");
  subscriptions.subscribe(port(2), "u", "3");
  EXPECT_FALSE(subscriptions.unsubscribe(port(1), "u")) << "a repeat is no second subscription";
  EXPECT_FALSE(subscriptions.unsubscribe(port(1), "u"));
  EXPECT_TRUE(subscriptions.unsubscribe(port(2), "u"));
  EXPECT_FALSE(subscriptions.unsubscribe(port(2), "never heard of"));
}

TEST(Subscriptions, AWaitThatNobodyFinishedIsUndone) {
  Subscriptions subscriptions;
  subscriptions.subscribe(port(1), "u", "1");
  EXPECT_THAT(subscriptions.drop(port(1)), IsEmpty()) << "the server has not answered yet";
  EXPECT_THAT(subscriptions.answered("u", true), IsEmpty());
  EXPECT_TRUE(subscriptions.abandoned("u"));
}

TEST(Subscriptions, ReportsAPartToWhoAskedForTheWhole) {
  Subscriptions subscriptions;
  subscriptions.subscribe(port(1), "file:///a", "1");
  subscriptions.answered("file:///a", true);
  subscriptions.subscribe(port(2), "dir:///b/", "1");
  subscriptions.answered("dir:///b/", true);
  EXPECT_THAT(subscriptions.interested("file:///a/b"), ElementsAre(port(1)));
  EXPECT_THAT(subscriptions.interested("file:///ab"), IsEmpty());
  EXPECT_THAT(subscriptions.interested("dir:///b/c"), ElementsAre(port(2)));
}

TEST(Subscriptions, AnUnsubscribeBeforeTheAnswerCounts) {
  Subscriptions subscriptions;
  subscriptions.subscribe(port(1), "u", "1");
  EXPECT_EQ(subscriptions.waiting(port(1)), 1U);
  EXPECT_FALSE(subscriptions.unsubscribe(port(1), "u"));
  EXPECT_THAT(subscriptions.answered("u", true), SizeIs(1)) << "the request is answered";
  EXPECT_THAT(subscriptions.interested("u"), IsEmpty());
  EXPECT_TRUE(subscriptions.abandoned("u"));
}

TEST(Subscriptions, GivesUpWhatASessionWaitsFor) {
  Subscriptions subscriptions;
  subscriptions.subscribe(port(1), "u", "1");
  subscriptions.subscribe(port(2), "u", "2");
  EXPECT_THAT(subscriptions.give_up(port(1)), ElementsAre("1"));
  EXPECT_EQ(subscriptions.waiting(port(1)), 0U);
  EXPECT_EQ(subscriptions.waiting(port(2)), 1U);
}

TEST(LogLevels, TellsTheServerOnlyWhatChanges) {
  LogLevels levels;
  EXPECT_EQ(levels.set(port(1), LogLevel::Error), LogLevel::Error);
  EXPECT_EQ(levels.set(port(2), LogLevel::Debug), LogLevel::Debug);
  EXPECT_EQ(levels.set(port(3), LogLevel::Notice), std::nullopt);
  EXPECT_EQ(levels.drop(port(2)), LogLevel::Notice);
  EXPECT_EQ(levels.drop(port(9)), std::nullopt);
}

TEST(LogLevels, AQuietSessionDoesNotSilenceTheOthers) {
  LogLevels levels;
  EXPECT_EQ(levels.attach(port(1)), std::nullopt) << "nobody has said anything: the server is left alone";
  EXPECT_EQ(levels.attach(port(2)), std::nullopt);
  EXPECT_EQ(levels.set(port(1), LogLevel::Emergency), LogLevel::Info);
  EXPECT_EQ(levels.drop(port(2)), LogLevel::Emergency);
  EXPECT_EQ(levels.attach(port(3)), LogLevel::Info);
  levels.drop(port(3));
  EXPECT_EQ(levels.drop(port(1)), LogLevel::Info) << "for whoever comes next";
}

TEST(LogLevels, GivesEachWhatItAskedFor) {
  LogLevels levels;
  EXPECT_TRUE(levels.wants(port(7), LogLevel::Debug)) << "nobody has changed what the server says by default";
  levels.set(port(1), LogLevel::Debug);
  levels.set(port(2), LogLevel::Critical);
  EXPECT_TRUE(levels.wants(port(1), LogLevel::Debug));
  EXPECT_FALSE(levels.wants(port(2), LogLevel::Error));
  EXPECT_FALSE(levels.wants(port(7), LogLevel::Debug));
  EXPECT_TRUE(levels.wants(port(7), LogLevel::Info));
}

TEST(LogLevels, KnowsAllEightNames) {
  for (const char* name : {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}) {
    const auto level = parse_log_level(name);
    ASSERT_TRUE(level) << name;
    EXPECT_EQ(name_of(*level), name);
  }
  EXPECT_EQ(parse_log_level("loud"), std::nullopt);
}

}  // namespace
}  // namespace corral::router
