// One instance from its start to its end, without a slot, and what it is told when it is started.
#include "pool/instance_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using knowledge::Era;
using pool::Cause;
using pool::opening_for;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Does nothing with what it is told: that is the slot's part.
struct Deaf final : router::Router::Listener, router::Learner {
  void on_error_output(router::Router&, std::string_view) override {}
  void on_open(router::Router&) override {}
  void on_unusable(router::Router&) override {}
  void on_calls_finished(router::Router&) override { ++drained; }
  void on_hung(router::Router&) override {}
  void on_server_lost(router::Router&, const router::LastWords&) override {}
  void on_instance_ended(router::Router&, const instance::TreeEnd&) override {}
  void on_tools(router::ToolEffects) override {}
  void on_question() override {}
  void on_list(const router::SessionPort&, router::ListKind, std::string_view) override {}
  void on_list_changed(router::ChangedList) override {}
  void on_probe_answered() override {}

  int drained = 0;
};

class ARun : public testing::Test {
 protected:
  void begin() {
    ASSERT_TRUE(run_.start(parts_.context, *spec_, shared_decision(), deaf_, deaf_));
    run_.router()->open(pool::opening_for(*spec_, shared_decision(), knowledge::Era::Legacy, ""));
    parts_.open_servers();
  }

  PoolParts parts_;
  Deaf deaf_;
  std::shared_ptr<pool::ServerSpec> spec_ = files_spec(config::Share::Shared);
  pool::InstanceRun run_{parts_.loop};
  FakePort one_{1};
  FakePort two_{2};
};

TEST_F(ARun, ForgetsTheInstanceBeforeIt) {
  run_.set_cause(Cause::Idle);
  run_.mark_stale("server.py has changed");
  run_.lose({one_.id()});
  EXPECT_FALSE(run_.was_lost_by(one_.id())) << "there was no instance to lose";
  begin();
  EXPECT_EQ(run_.cause(), Cause::Died);
  EXPECT_EQ(run_.stale(), "");
  EXPECT_FALSE(run_.was_lost_by(one_.id()));
  EXPECT_EQ(run_.time_ready(), Clock::duration::zero());
}

TEST_F(ARun, CountsTheTimeSinceItWasReady) {
  begin();
  run_.opened();
  parts_.pass(std::chrono::seconds(7));
  EXPECT_EQ(run_.time_ready(), std::chrono::seconds(7));
  run_.fail_to_start({"there is no such program", Error::Kind::NotFound});
  EXPECT_EQ(run_.time_ready(), Clock::duration::zero());
  EXPECT_EQ(run_.last_words().sentence, "there is no such program");
  EXPECT_EQ(run_.exit_code(), 127);
}

TEST_F(ARun, LeavesItsSessionsWithTheReasonAndTellsEachOnce) {
  begin();
  run_.router()->attach(one_);
  run_.router()->attach(two_);
  run_.set_cause(Cause::Evicted);
  run_.detach_sessions(*spec_);
  run_.detach_sessions(*spec_);
  EXPECT_THAT(one_.departures, ElementsAre(router::Departure::Parked));
  EXPECT_THAT(two_.departures, ElementsAre(router::Departure::Parked));
  EXPECT_THAT(one_.reason, HasSubstr("server files was parked to make room"));
  EXPECT_TRUE(run_.was_lost_by(one_.id()));
  EXPECT_THAT(run_.router()->sessions(), IsEmpty());
}

TEST_F(ARun, KeepsSessionsThatEndWithTheirServerUntilItsTreeIsGone) {
  spec_->entry.restart = false;
  begin();
  run_.router()->attach(one_);
  run_.detach_sessions(*spec_);
  EXPECT_THAT(one_.departures, IsEmpty());
  EXPECT_FALSE(run_.was_lost_by(one_.id()));

  const auto router = run_.close({});
  EXPECT_NE(router, nullptr);
  EXPECT_EQ(run_.router(), nullptr);
  EXPECT_EQ(one_.endings.size(), 1U);
}

TEST_F(ARun, MeasuresItsEndFromTheFirstDecision) {
  begin();
  run_.set_cause(Cause::Stopped);
  run_.note_ending();
  parts_.pass(std::chrono::milliseconds(30));
  run_.note_ending();
  parts_.pass(std::chrono::milliseconds(12));
  instance::TreeEnd ending;
  ending.exit_code = 3;
  const pool::InstanceEnd end = run_.finish("files", ending);
  EXPECT_EQ(end.took, std::chrono::milliseconds(42));
  EXPECT_EQ(end.cause, Cause::Stopped);
  EXPECT_EQ(end.instance, run_.router()->instance()->id());
  EXPECT_EQ(run_.exit_code(), 3);
}

TEST_F(ARun, GivesItsCallsAWhileAndTellsWhenItIsOver) {
  begin();
  int too_late = 0;
  run_.drain(std::chrono::seconds(5), [&too_late] { ++too_late; });
  parts_.pass(std::chrono::seconds(4));
  EXPECT_EQ(deaf_.drained, 1) << "no call was in flight";
  EXPECT_EQ(too_late, 0);
  parts_.pass(std::chrono::seconds(1));
  EXPECT_EQ(too_late, 1);

  run_.drain(std::chrono::seconds(5), [&too_late] { ++too_late; });
  run_.drained();
  parts_.pass(std::chrono::seconds(6));
  EXPECT_EQ(too_late, 1);
}

TEST_F(ARun, GivesItsTasksAwayOnce) {
  begin();
  run_.when_ended([](const pool::InstanceEnd&) {});
  EXPECT_EQ(run_.take_tasks().size(), 1U);
  EXPECT_THAT(run_.take_tasks(), IsEmpty());
}

// ---- its first words

constexpr const char* kClient = R"({"clientInfo":{"name":"tester","version":"1"}})";

TEST(OpeningFor, APrivateInstanceHasTheWordsOfItsClient) {
  const auto spec = files_spec(config::Share::Session);
  const instance::Opening opening = opening_for(*spec, private_decision(), Era::Modern, kClient);
  EXPECT_EQ(opening.initialize_params, kClient);
  EXPECT_FALSE(opening.announce) << "its client does that";
  EXPECT_EQ(opening.expected, Era::Modern);
  EXPECT_TRUE(opening.pinned);
}

TEST(OpeningFor, ASharedInstanceNamesNoClient) {
  const auto spec = files_spec(config::Share::Shared);
  spec->entry.modern.reset();
  const instance::Opening opening = opening_for(*spec, shared_decision(), std::nullopt, kClient);
  EXPECT_EQ(opening.initialize_params, instance::plain_initialize_params());
  EXPECT_TRUE(opening.announce);
  EXPECT_FALSE(opening.expected);
  EXPECT_FALSE(opening.pinned);
}

TEST(OpeningFor, AnInstanceWithoutAClientNamesNone) {
  const auto spec = files_spec(config::Share::Session);
  EXPECT_EQ(opening_for(*spec, private_decision(), Era::Legacy, "").initialize_params,
            instance::plain_initialize_params());
}

}  // namespace
}  // namespace corral::tests
