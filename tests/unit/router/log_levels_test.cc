#include "router/log_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/exchange.h"

namespace corral::router {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr SessionId kFirst{1};
constexpr SessionId kSecond{2};

TEST(LogLevels, TheServerIsToldTheMostTalkativeOneAndOnlyWhenItChanges) {
  LogLevels levels;
  EXPECT_EQ(levels.attach(kFirst), std::nullopt) << "nobody has said anything";
  EXPECT_EQ(levels.attach(kSecond), std::nullopt);
  EXPECT_EQ(levels.set(kFirst, LogLevel::Debug), LogLevel::Debug);
  EXPECT_EQ(levels.set(kSecond, LogLevel::Error), std::nullopt);
  EXPECT_EQ(levels.drop(kFirst), LogLevel::Error);
}

TEST(LogLevels, EachSessionWantsWhatItAskedForAndOtherwiseWhatServersSayByDefault) {
  LogLevels levels;
  levels.attach(kFirst);
  levels.attach(kSecond);
  EXPECT_TRUE(levels.wants(kSecond, LogLevel::Debug)) << "the server is as it always is";
  levels.set(kFirst, LogLevel::Debug);
  EXPECT_TRUE(levels.wants(kFirst, LogLevel::Debug));
  EXPECT_FALSE(levels.wants(kSecond, LogLevel::Debug)) << "another one lowered it";
  EXPECT_TRUE(levels.wants(kSecond, LogLevel::Info));
  levels.set(kSecond, LogLevel::Error);
  EXPECT_FALSE(levels.wants(kSecond, LogLevel::Warning));
  EXPECT_TRUE(levels.wants(kSecond, LogLevel::Error));
}

TEST(LogLevels, ASessionHearsNoLineBelowItsLevelThoughAnotherOneKeepsTheServerTalking) {
  tests::Exchange exchange;
  tests::FakeClient& calm = exchange.ready_client();
  tests::FakeClient& silent = exchange.ready_client();
  calm.say(R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}})");
  exchange.settle();
  EXPECT_THAT(exchange.server().heard(), ElementsAre(HasSubstr(R"("level":"info")"))) << "for the other one";
  calm.heard();
  calm.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}})");
  exchange.settle();
  for (const char* const level : {"info", "error"}) {
    exchange.server().say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" +
                          std::string(level) + R"(","data":1}})");
  }
  exchange.settle();

  EXPECT_THAT(calm.heard(), ElementsAre(HasSubstr(R"("level":"error")")));
  EXPECT_THAT(silent.heard(), IsEmpty()) << "it was not its call";
}

}  // namespace
}  // namespace corral::router
