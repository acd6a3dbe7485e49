#include "bridge/open_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corral::bridge {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using wire::LogLevel;

const Clock::time_point kStart = Clock::time_point() + std::chrono::hours(1);

class CallsOfOneClient : public testing::Test {
 protected:
  Call& add(std::uint64_t id, const std::string& method = "tools/call",
            std::optional<LogLevel> level = std::nullopt) {
    Call call;
    call.client_id = "\"c" + std::to_string(id) + "\"";
    call.method = method;
    call.level = level;
    call.abilities = Abilities(R"({"roots":{}})");
    return calls_.add(UpId(id), std::move(call));
  }
  void ask(std::uint64_t id, const std::string& question, const std::string& request = "{}") {
    calls_.ask(UpId(id), {.id = question, .ask = Ask::Roots, .key = "k", .request = request});
  }

  OpenCalls calls_{nullptr};
};

TEST_F(CallsOfOneClient, AreFoundByEitherSidesIdUntilTheyAreTaken) {
  add(1);
  add(2);
  ASSERT_NE(calls_.find(UpId(2)), nullptr);
  EXPECT_EQ(calls_.find(UpId(3)), nullptr);
  EXPECT_EQ(calls_.by_client("\"c2\""), UpId(2));
  EXPECT_EQ(calls_.by_client("\"c3\""), std::nullopt);

  const auto taken = calls_.take(UpId(2));
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->client_id, "\"c2\"");
  EXPECT_FALSE(calls_.take(UpId(2)));
  EXPECT_EQ(calls_.by_client("\"c2\""), std::nullopt);
  EXPECT_EQ(calls_.by_client("\"c1\""), UpId(1));
}

TEST_F(CallsOfOneClient, AreKnownByTheirHandleWhileTheyAreSuspended) {
  add(1);
  ask(1, "q");
  EXPECT_EQ(calls_.suspended(), 0U);

  EXPECT_EQ(calls_.suspend(UpId(1), "handle"), "\"c1\"");
  EXPECT_EQ(calls_.suspended(), 1U);
  EXPECT_EQ(calls_.by_state("handle"), UpId(1));
  EXPECT_EQ(calls_.by_client("\"c1\""), std::nullopt);
  EXPECT_TRUE(calls_.find(UpId(1))->suspended());
  EXPECT_TRUE(calls_.find(UpId(1))->questions.front().told);

  calls_.resume(UpId(1), "\"again\"", Abilities(R"({"sampling":{}})"), LogLevel::Error);
  EXPECT_EQ(calls_.suspended(), 0U);
  EXPECT_EQ(calls_.by_state("handle"), std::nullopt);
  EXPECT_EQ(calls_.by_client("\"again\""), UpId(1));
  EXPECT_FALSE(calls_.find(UpId(1))->suspended());
  EXPECT_TRUE(calls_.find(UpId(1))->abilities.can(Ask::Sampling));
  EXPECT_EQ(calls_.lowest_level(), LogLevel::Error);
}

TEST_F(CallsOfOneClient, ThatAreTakenWhileSuspendedLeaveNoHandle) {
  add(1);
  calls_.suspend(UpId(1), "handle");
  EXPECT_TRUE(calls_.take(UpId(1)));
  EXPECT_EQ(calls_.suspended(), 0U);
  EXPECT_THAT(calls_.waiting(), IsEmpty());
}

TEST_F(CallsOfOneClient, TogetherWantTheLogOfTheMostCurious) {
  EXPECT_EQ(calls_.lowest_level(), std::nullopt);
  add(1, "tools/call", LogLevel::Error);
  add(2, "tools/call", LogLevel::Debug);
  add(3, "tools/call", LogLevel::Debug);
  add(4);
  EXPECT_EQ(calls_.lowest_level(), LogLevel::Debug);
  calls_.take(UpId(2));
  EXPECT_EQ(calls_.lowest_level(), LogLevel::Debug);
  calls_.suspend(UpId(3), "handle");
  EXPECT_EQ(calls_.lowest_level(), LogLevel::Error) << "nobody waits to hear of a suspended one";
  calls_.take(UpId(3));
  EXPECT_EQ(calls_.lowest_level(), LogLevel::Error);
  calls_.take(UpId(1));
  EXPECT_EQ(calls_.lowest_level(), std::nullopt);
}

TEST_F(CallsOfOneClient, WaitWhileTheyHaveQuestionsOrAreSuspended) {
  add(1).due = kStart + seconds(2);
  add(2).due = kStart + seconds(1);
  EXPECT_EQ(calls_.next_due(), std::nullopt);
  EXPECT_THAT(calls_.due(kStart + minutes(1)), IsEmpty());

  ask(1, "q");
  calls_.suspend(UpId(2), "handle");
  EXPECT_THAT(calls_.waiting(), SizeIs(2));
  EXPECT_EQ(calls_.next_due(), kStart + seconds(1));
  EXPECT_THAT(calls_.due(kStart + milliseconds(999)), IsEmpty());
  EXPECT_THAT(calls_.due(kStart + seconds(1)), ElementsAre(UpId(2)));
  EXPECT_THAT(calls_.due(kStart + seconds(2)), ElementsAre(UpId(1), UpId(2)));

  EXPECT_THAT(calls_.take_questions(UpId(1)), SizeIs(1));
  EXPECT_THAT(calls_.waiting(), ElementsAre(UpId(2)));
  calls_.take(UpId(2));
  EXPECT_THAT(calls_.waiting(), IsEmpty());
}

TEST_F(CallsOfOneClient, ForgetAQuestionThatTheServerTookBackAndNoOther) {
  add(1);
  add(2);
  ask(1, "q1");
  ask(1, "q2");
  ask(2, "q1");
  calls_.forget_question("q1");

  ASSERT_THAT(calls_.find(UpId(1))->questions, SizeIs(1));
  EXPECT_EQ(calls_.find(UpId(1))->questions.front().id, "q2");
  EXPECT_THAT(calls_.waiting(), ElementsAre(UpId(1)));
}

TEST_F(CallsOfOneClient, TheLatestThatCanBeAskedIsTheCauseAndBeforeAnySuspendedOne) {
  EXPECT_EQ(calls_.cause_of(Ask::Roots), std::nullopt);
  for (std::uint64_t id = 1; id <= 4; ++id) add(id);
  add(5, "tools/list");
  add(6).abilities = {};
  add(7).at_server = false;
  add(8).answer.emplace();
  EXPECT_EQ(calls_.cause_of(Ask::Roots), UpId(4));
  EXPECT_EQ(calls_.cause_of(Ask::Sampling), std::nullopt);

  calls_.suspend(UpId(4), "s4");
  EXPECT_EQ(calls_.cause_of(Ask::Roots), UpId(3));
  for (const std::uint64_t id : {1U, 2U, 3U}) calls_.suspend(UpId(id), "s" + std::to_string(id));
  EXPECT_EQ(calls_.cause_of(Ask::Roots), UpId(4)) << "of the suspended ones the latest";
}

TEST_F(CallsOfOneClient, OnlyOneThatMayAskIsTheOnlyCause) {
  EXPECT_FALSE(calls_.any_cause());
  EXPECT_EQ(calls_.only_cause(kStart), std::nullopt);
  add(1, "tools/list");
  add(2).at_server = false;
  add(3).answer.emplace();
  EXPECT_FALSE(calls_.any_cause());
  EXPECT_EQ(calls_.only_cause(kStart), std::nullopt);

  std::uint64_t id = 10;
  for (const char* method : {"tools/call", "prompts/get", "resources/read"}) {
    add(++id, method).abilities = {};
    EXPECT_TRUE(calls_.any_cause()) << method;
    EXPECT_EQ(calls_.only_cause(kStart), UpId(id)) << method;
    calls_.take(UpId(id));
  }
  add(20);
  add(21);
  EXPECT_TRUE(calls_.any_cause());
  EXPECT_EQ(calls_.only_cause(kStart), std::nullopt);
}

TEST_F(CallsOfOneClient, OneThatWasGivenUpMayBeTheCauseForAMinute) {
  add(1);
  calls_.gave_up(kStart);
  EXPECT_EQ(calls_.only_cause(kStart), std::nullopt);
  EXPECT_EQ(calls_.only_cause(kStart + milliseconds(59'999)), std::nullopt);
  EXPECT_EQ(calls_.only_cause(kStart + minutes(1)), UpId(1));
}

// ---- what is held

TEST(HeldBy, IsTheWholeLineOfAPart) {
  const auto whole = std::make_shared<const std::string>("0123456789");
  EXPECT_EQ(held_by({std::string_view(*whole).substr(0, 3), whole}), 10U);
  EXPECT_EQ(held_by({"0123", nullptr}), 4U);
}

class HeldCalls : public testing::Test {
 protected:
  Call call(std::string_view params) {
    Call one;
    one.client_id = "1";
    one.method = "tools/call";
    one.params = {params, nullptr};
    return one;
  }

  Shares shares_;
  Account account_{shares_, "user"};
};

TEST_F(HeldCalls, AreParametersQuestionsAndAnswersOfThoseThatWait) {
  OpenCalls calls(&account_);
  EXPECT_EQ(calls.held(), 0U);
  calls.add(UpId(1), call("12345"));
  EXPECT_EQ(calls.held(), 5U);
  EXPECT_EQ(account_.used(Good::Bytes), 5U);

  calls.ask(UpId(1), {.id = "q", .key = "k", .request = "123"});
  EXPECT_EQ(calls.held(), 8U);
  calls.find(UpId(1))->answer = wire::Message("1234567");
  EXPECT_EQ(calls.held(), 15U);
  calls.settle();
  EXPECT_EQ(account_.used(Good::Bytes), 15U);

  calls.forget_question("q");
  EXPECT_EQ(account_.used(Good::Bytes), 5U) << "it waits no more";
  calls.take(UpId(1));
  EXPECT_EQ(calls.held(), 0U);
  EXPECT_EQ(account_.used(Good::Bytes), 0U);
}

TEST_F(HeldCalls, GiveBackTheQuestionsThatAreTaken) {
  OpenCalls calls(&account_);
  calls.add(UpId(1), call("12345"));
  ASSERT_TRUE(calls.reserve(3));
  EXPECT_EQ(account_.used(Good::Bytes), 8U);
  calls.ask(UpId(1), {.id = "q", .key = "k", .request = "123"});
  calls.take_questions(UpId(1));
  EXPECT_EQ(account_.used(Good::Bytes), 5U);
}

TEST_F(HeldCalls, AreAtMostSixtyFourMebibytes) {
  OpenCalls calls(nullptr);
  calls.add(UpId(1), call("12345"));
  EXPECT_TRUE(calls.reserve((std::size_t{64} << 20) - 5));
  EXPECT_FALSE(calls.reserve((std::size_t{64} << 20) - 4));
}

TEST_F(HeldCalls, AreNoMoreThanTheAccountMayHave) {
  const auto others = account_.take(Good::Bytes, Shares::kBytes - 10);
  ASSERT_TRUE(others);
  OpenCalls calls(&account_);
  EXPECT_FALSE(calls.reserve(11));
  EXPECT_EQ(account_.used(Good::Bytes), Shares::kBytes - 10);
  EXPECT_TRUE(calls.reserve(10));
  calls.settle();
  EXPECT_EQ(account_.used(Good::Bytes), Shares::kBytes - 10);
}

TEST(FreshState, IsLongAndNeverTheSame) {
  EXPECT_EQ(fresh_state().size(), 64U);
  EXPECT_NE(fresh_state(), fresh_state());
}

}  // namespace
}  // namespace corral::bridge
