#include "router/subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/burn.h"
#include "router/log_levels.h"

namespace corral::router {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Answer = Subscriptions::Answer;

SessionId session(std::uint64_t number) { return SessionId(number); }

TEST(Subscriptions, AsksOnceAndLetsTheOthersWait) {
  Subscriptions subscriptions;
  EXPECT_EQ(subscriptions.subscribe(session(1), "u", "1"), Subscriptions::Next::AskServer);
  EXPECT_EQ(subscriptions.subscribe(session(2), "u", "2"), Subscriptions::Next::Wait);
  EXPECT_THAT(subscriptions.interested("u"), IsEmpty());
  EXPECT_THAT(subscriptions.answered("u", Answer::Accepted), SizeIs(2));
  EXPECT_EQ(subscriptions.subscribe(session(3), "u", "3"), Subscriptions::Next::AnswerNow);
  EXPECT_THAT(subscriptions.interested("u"), ElementsAre(session(1), session(2), session(3)));
}

TEST(Subscriptions, ARefusalUndoesItForAll) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "u", "1");
  subscriptions.subscribe(session(2), "u", "2");
  EXPECT_THAT(subscriptions.answered("u", Answer::Refused), SizeIs(2));
  EXPECT_THAT(subscriptions.interested("u"), IsEmpty());
  EXPECT_EQ(subscriptions.subscribe(session(1), "u", "3"), Subscriptions::Next::AskServer)
      << "failures are not cached";
}

TEST(Subscriptions, TheLastOneOutTellsTheServer) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "u", "1");
  subscriptions.answered("u", Answer::Accepted);
  subscriptions.subscribe(session(1), "u", "2");
  subscriptions.subscribe(session(2), "u", "3");
  EXPECT_FALSE(subscriptions.unsubscribe(session(1), "u")) << "a repeat is not a second subscription";
  EXPECT_FALSE(subscriptions.unsubscribe(session(1), "u"));
  EXPECT_TRUE(subscriptions.unsubscribe(session(2), "u"));
  EXPECT_FALSE(subscriptions.unsubscribe(session(2), "never heard of"));
}

TEST(Subscriptions, AWaitThatNobodyFinishedIsUndone) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "u", "1");
  EXPECT_THAT(subscriptions.drop(session(1)), IsEmpty()) << "the server has not answered yet";
  EXPECT_THAT(subscriptions.answered("u", Answer::Accepted), IsEmpty());
  EXPECT_TRUE(subscriptions.abandoned("u"));
}

TEST(Subscriptions, ReportsAPartToWhoAskedForTheWhole) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "file:///a", "1");
  subscriptions.answered("file:///a", Answer::Accepted);
  subscriptions.subscribe(session(2), "dir:///b/", "1");
  subscriptions.answered("dir:///b/", Answer::Accepted);
  EXPECT_THAT(subscriptions.interested("file:///a/b"), ElementsAre(session(1)));
  EXPECT_THAT(subscriptions.interested("file:///ab"), IsEmpty());
  EXPECT_THAT(subscriptions.interested("dir:///b/c"), ElementsAre(session(2)));
}

TEST(Subscriptions, AnUnsubscribeBeforeTheAnswerCounts) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "u", "1");
  EXPECT_EQ(subscriptions.waiting(session(1)), 1U);
  EXPECT_FALSE(subscriptions.unsubscribe(session(1), "u"));
  EXPECT_THAT(subscriptions.answered("u", Answer::Accepted), SizeIs(1)) << "the request is answered";
  EXPECT_THAT(subscriptions.interested("u"), IsEmpty());
  EXPECT_TRUE(subscriptions.abandoned("u"));
}

TEST(Subscriptions, GivesUpWhatASessionWaitsFor) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "u", "1");
  subscriptions.subscribe(session(2), "u", "2");
  EXPECT_THAT(subscriptions.give_up(session(1)), ElementsAre("1"));
  EXPECT_EQ(subscriptions.waiting(session(1)), 0U);
  EXPECT_EQ(subscriptions.waiting(session(2)), 1U);
}

TEST(Subscriptions, OfASessionHaveABoundOfTheirOwn) {
  Subscriptions subscriptions;
  const auto uri = [](std::size_t i) { return "u" + std::to_string(i); };
  for (std::size_t i = 0; i < Subscriptions::kMostOfASession; ++i) {
    ASSERT_EQ(subscriptions.subscribe(session(1), uri(i), "1"), Subscriptions::Next::AskServer);
    subscriptions.answered(uri(i), Answer::Accepted);
  }
  EXPECT_EQ(subscriptions.subscribe(session(1), "more", "1"), Subscriptions::Next::Refuse);
  EXPECT_EQ(subscriptions.subscribe(session(1), uri(0), "1"), Subscriptions::Next::AnswerNow)
      << "it has that one";
  EXPECT_EQ(subscriptions.subscribe(session(2), "more", "1"), Subscriptions::Next::AskServer);
  EXPECT_TRUE(subscriptions.unsubscribe(session(1), uri(0)));
  EXPECT_EQ(subscriptions.subscribe(session(1), "more", "1"), Subscriptions::Next::Wait);
  EXPECT_EQ(subscriptions.subscribe(session(3), std::string(Subscriptions::kLongestUri + 1, 'u'), "1"),
            Subscriptions::Next::Refuse);
  EXPECT_EQ(subscriptions.subscribe(session(3), std::string(Subscriptions::kLongestUri, 'u'), "1"),
            Subscriptions::Next::AskServer);
}

TEST(Subscriptions, ThatWaitForTheSameAnswerHaveTheSameBound) {
  Subscriptions subscriptions;
  subscriptions.subscribe(session(1), "u", "1");
  for (std::size_t i = 1; i < Subscriptions::kMostOfASession; ++i) {
    ASSERT_EQ(subscriptions.subscribe(session(1), "u", "1"), Subscriptions::Next::Wait);
  }
  EXPECT_EQ(subscriptions.subscribe(session(1), "u", "1"), Subscriptions::Next::Refuse);
  EXPECT_THAT(subscriptions.give_up(session(1)), SizeIs(Subscriptions::kMostOfASession));
  EXPECT_EQ(subscriptions.waiting(session(1)), 0U);
  EXPECT_EQ(subscriptions.subscribe(session(1), "u", "1"), Subscriptions::Next::Wait);
}

TEST(Subscriptions, ARefusedSessionMayAskForOthers) {
  Subscriptions subscriptions;
  for (std::size_t i = 0; i < 2 * Subscriptions::kMostOfASession; ++i) {
    ASSERT_EQ(subscriptions.subscribe(session(1), "u" + std::to_string(i), "1"),
              Subscriptions::Next::AskServer);
    subscriptions.answered("u" + std::to_string(i), Answer::Refused);
  }
}

// The walk from one possible beginning to the next, against a plain comparison with all of them.
TEST(Subscriptions, FindEverySessionThatAskedForABeginningOfTheUri) {
  std::minstd_rand random(4711);
  const auto some_uri = [&random] {
    std::string uri;
    for (std::size_t left = random() % 6; left > 0; --left) uri += "ab/"[random() % 3];
    return uri;
  };
  for (int round = 0; round < 500; ++round) {
    Subscriptions subscriptions;
    std::vector<std::string> uris;
    for (std::uint64_t i = 1; i <= 8; ++i) {
      uris.push_back(some_uri());
      subscriptions.subscribe(session(i), uris.back(), "1");
      subscriptions.answered(uris.back(), Answer::Accepted);
    }
    const std::string updated = some_uri();
    std::vector<SessionId> expected;
    for (std::uint64_t i = 1; i <= 8; ++i) {
      const std::string& one = uris[i - 1];
      const bool begins = updated.starts_with(one);
      const bool whole =
          updated.size() == one.size() || one.ends_with('/') || (begins && updated[one.size()] == '/');
      if (begins && whole) expected.push_back(session(i));
    }
    EXPECT_EQ(subscriptions.interested(updated), expected) << updated;
  }
}

TEST(Subscriptions, AreFoundAboveThe32FirstLevelsOfAUri) {
  Subscriptions subscriptions;
  const auto levels = [](std::size_t count) {
    std::string uri = "file:";
    for (std::size_t i = 0; i < count; ++i) uri += "/a";
    return uri;
  };
  std::uint64_t number = 0;
  for (const std::size_t count :
       {std::size_t{1}, Subscriptions::kMostLevels - 1, Subscriptions::kMostLevels, std::size_t{100}}) {
    subscriptions.subscribe(session(++number), levels(count), "1");
    subscriptions.answered(levels(count), Answer::Accepted);
  }

  EXPECT_THAT(subscriptions.interested(levels(100)), ElementsAre(session(1), session(2), session(4)));
}

/// As a ratio, because it is about what others are subscribed to: each of them is a beginning of the URI.
TEST(Subscriptions, ThatAreBeginningsOfOneAnotherCostNothing) {
  const std::string uri(Subscriptions::kLongestUri, 'a');
  const auto time_with = [&uri](std::size_t count) {
    Subscriptions subscriptions;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string one = uri.substr(0, Subscriptions::kLongestUri - i);
      subscriptions.subscribe(session(1), one, "1");
      subscriptions.answered(one, Answer::Accepted);
    }
    const auto begin = tests::thread_time();
    for (int i = 0; i < 200; ++i) EXPECT_THAT(subscriptions.interested(uri), IsEmpty());
    return tests::thread_time() - begin;
  };
  const auto few = std::max<std::chrono::nanoseconds>(time_with(1), std::chrono::microseconds(50));

  EXPECT_LT(time_with(Subscriptions::kMostOfASession) / few, 100);
}

/// What an earlier instance had agreed to waits without an id.
TEST(Subscriptions, ThatAreRestoredEndWithTheirSessionAlsoIfItsCallsWereGivenUp) {
  Subscriptions subscriptions;
  ASSERT_EQ(subscriptions.subscribe(session(1), "u", ""), Subscriptions::Next::AskServer);
  EXPECT_THAT(subscriptions.give_up(session(1)), IsEmpty());
  subscriptions.drop(session(1));

  EXPECT_THAT(subscriptions.answered("u", Answer::Accepted), IsEmpty());
  EXPECT_FALSE(subscriptions.holds(session(1), "u"));
  EXPECT_TRUE(subscriptions.abandoned("u"));
}

TEST(Subscriptions, HoldTheBytesOfARequestUntilItIsAnsweredOrGivenUp) {
  Shares shares;
  Account& token = shares.account("token:a");
  shares.set_most(Good::Bytes, 4000);  // 1000 for one token
  const std::string uri(300, 'u');
  Subscriptions subscriptions;

  EXPECT_EQ(subscriptions.subscribe(session(1), uri, "1", &token), Subscriptions::Next::AskServer);
  EXPECT_EQ(token.used(Good::Bytes), 793U);
  EXPECT_EQ(subscriptions.subscribe(session(1), uri + "x", "2", &token), Subscriptions::Next::NoRoom);
  EXPECT_EQ(subscriptions.subscribe(session(2), uri, "3", &token), Subscriptions::Next::NoRoom);
  EXPECT_EQ(subscriptions.waiting(session(2)), 0U);
  EXPECT_EQ(subscriptions.subscribe(session(1), "short", "4", &token), Subscriptions::Next::AskServer);
  EXPECT_EQ(token.used(Good::Bytes), 996U);
  EXPECT_THAT(subscriptions.answered(uri, Answer::Accepted), SizeIs(1));
  EXPECT_EQ(token.used(Good::Bytes), 203U);
  subscriptions.give_up(session(1));
  EXPECT_EQ(token.used(Good::Bytes), 0U);
  subscriptions.subscribe(session(3), "another", "5", &token);
  EXPECT_GT(token.used(Good::Bytes), 0U);
  subscriptions.drop(session(3));
  EXPECT_EQ(token.used(Good::Bytes), 0U);
}

TEST(LogLevels, TellsTheServerOnlyWhatChanges) {
  LogLevels levels;
  EXPECT_EQ(levels.set(session(1), LogLevel::Error), LogLevel::Error);
  EXPECT_EQ(levels.set(session(2), LogLevel::Debug), LogLevel::Debug);
  EXPECT_EQ(levels.set(session(3), LogLevel::Notice), std::nullopt);
  EXPECT_EQ(levels.drop(session(2)), LogLevel::Notice);
  EXPECT_EQ(levels.drop(session(9)), std::nullopt);
}

TEST(LogLevels, AQuietSessionDoesNotSilenceTheOthers) {
  LogLevels levels;
  EXPECT_EQ(levels.attach(session(1)), std::nullopt) << "nobody has said anything: the server is left alone";
  EXPECT_EQ(levels.attach(session(2)), std::nullopt);
  EXPECT_EQ(levels.set(session(1), LogLevel::Emergency), LogLevel::Info);
  EXPECT_EQ(levels.drop(session(2)), LogLevel::Emergency);
  EXPECT_EQ(levels.attach(session(3)), LogLevel::Info);
  levels.drop(session(3));
  EXPECT_EQ(levels.drop(session(1)), LogLevel::Info) << "for the next session";
}

TEST(LogLevels, GivesEachWhatItAskedFor) {
  LogLevels levels;
  EXPECT_TRUE(levels.wants(session(7), LogLevel::Debug))
      << "nobody has changed what the server says by default";
  levels.set(session(1), LogLevel::Debug);
  levels.set(session(2), LogLevel::Critical);
  EXPECT_TRUE(levels.wants(session(1), LogLevel::Debug));
  EXPECT_FALSE(levels.wants(session(2), LogLevel::Error));
  EXPECT_FALSE(levels.wants(session(7), LogLevel::Debug));
  EXPECT_TRUE(levels.wants(session(7), LogLevel::Info));
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
