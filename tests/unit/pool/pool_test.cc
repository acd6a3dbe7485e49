// What a pool does for sessions that share, leave, wait in vain, or have no room.
#include "pool/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pool/pool_parts.h"

namespace corral::tests {
namespace {

using pool::Cause;
using pool::InstanceEnd;
using pool::Life;
using router::Opened;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Haste = instance::Instance::Haste;

class APool : public testing::Test {
 protected:
  void open(FakePort& port, const std::shared_ptr<pool::ServerSpec>& spec) {
    pool_.open(port, {spec, "{}", std::nullopt});
    settle();
    answer_handshakes(spawner_);
    settle();
  }
  void settle() {
    for (int turn = 0; turn < 8; ++turn) loop_.run_due();
  }
  void pass(Clock::duration time) {
    clock_.pass(time);
    settle();
  }
  static std::shared_ptr<pool::ServerSpec> another(const std::string& program) {
    auto spec = files_spec(config::Share::Session);
    spec->server = program;
    spec->launch.argv = {"/bin/" + program};
    spec->key = knowledge::launch_key(spec->launch);
    return spec;
  }
  void limit_to(std::size_t instances) {
    pool::Limits limits;
    limits.max_instances = instances;
    pool_.set_limits(limits);
  }

  Shares shares_;
  HeldClock clock_;
  Loop loop_;
  FakeSpawner spawner_;
  pool::Pool pool_{loop_, spawner_, std::size_t{1} << 20};
  FakePort one_{1};
  FakePort two_{2};
};

TEST_F(APool, KeepsASharedInstanceForTheSessionsThatStay) {
  const auto spec = files_spec(config::Share::Shared);
  open(one_, spec);
  open(two_, spec);
  ASSERT_EQ(spawner_.servers.size(), 1U);
  EXPECT_FALSE(pool_.release(one_, Haste::Polite, {}));
  EXPECT_EQ(pool_.slots().front().router()->sessions().size(), 1U);
  EXPECT_FALSE(pool_.release(two_, Haste::Polite, {}));
  EXPECT_EQ(pool_.slots().front().life(), Life::Ready) << "until it is idle";
  pass(spec->entry.idle + std::chrono::seconds(1));
  EXPECT_EQ(pool_.slots().front().run().cause(), Cause::Idle);
  spawner_.servers[0].exit(0);
  settle();
  EXPECT_THAT(pool_.slots(), IsEmpty());
}

TEST_F(APool, ReleasesASessionThatHasNothingWithoutAWord) {
  EXPECT_FALSE(pool_.release(one_, Haste::Polite, [](const InstanceEnd&) { FAIL(); }));
  open(one_, files_spec(config::Share::Session));
  EXPECT_TRUE(pool_.release(one_, Haste::Polite, {}));
  EXPECT_EQ(one_.told(), 1U);
}

TEST_F(APool, EndsAPrivateInstanceWithItsSessionAndTellsOnceThatItIsGone) {
  int gone = 0;
  open(one_, files_spec(config::Share::Session));
  EXPECT_TRUE(pool_.release(one_, Haste::Polite, [&gone](const InstanceEnd& end) {
    EXPECT_EQ(end.cause, Cause::SessionEnded);
    ++gone;
  }));
  settle();
  EXPECT_TRUE(spawner_.servers[0].input_closed());
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(spawner_.servers[0].stops_told(), 0U);
  pool_.hasten(one_.id());
  EXPECT_GE(spawner_.servers[0].stops_told(), 1U);
  spawner_.servers[0].exit(0);
  settle();
  EXPECT_EQ(gone, 1);
  EXPECT_THAT(pool_.slots(), IsEmpty());
  EXPECT_THAT(one_.departures, IsEmpty()) << "it had left";
}

TEST_F(APool, GivesTwoSessionsOfOnePrincipalAnInstanceEach) {
  const auto spec = files_spec(config::Share::Session);
  spec->account = &shares_.account("token:ci");
  open(one_, spec);
  open(two_, spec);
  EXPECT_EQ(spawner_.servers.size(), 2U);
  EXPECT_NE(one_.answers.back().router, two_.answers.back().router);
  EXPECT_TRUE(pool_.release(one_, Haste::Polite, {}));
  EXPECT_FALSE(is_ending(pool_.slots().back().life())) << "the other one's";
}

TEST_F(APool, EndsAnIdleInstanceToMakeRoom) {
  limit_to(2);
  const auto shared = files_spec(config::Share::Shared);
  open(one_, shared);
  pool_.release(one_, Haste::Polite, {});
  FakePort three(3);
  open(two_, another("b"));
  open(three, another("c"));
  EXPECT_EQ(spawner_.servers.size(), 3U);
  EXPECT_EQ(three.last(), Opened::Kind::Ready);
  EXPECT_EQ(pool_.slots().front().run().cause(), Cause::Evicted);
  EXPECT_TRUE(is_ending(pool_.slots().front().life()));
}

TEST_F(APool, RefusesASessionIfNoInstanceMayGo) {
  limit_to(1);
  open(one_, another("a"));
  open(two_, another("b"));
  EXPECT_EQ(two_.last(), Opened::Kind::Failed);
  EXPECT_THAT(two_.answers.back().text,
              HasSubstr("server b cannot be started, because all instances are in use"));
  EXPECT_EQ(two_.told(), 1U);
  settle();
  EXPECT_EQ(pool_.living(), 1U);
}

TEST_F(APool, AnswersThoseWhoWaitForAServerThatIsStopped) {
  const auto spec = files_spec(config::Share::Shared);
  pool_.open(one_, {spec, "{}", std::nullopt});
  pool_.open(two_, {spec, "{}", std::nullopt});
  std::vector<std::size_t> reports;
  const std::size_t going =
      pool_.retire("files", Cause::Stopped, [&reports](const auto& ends) { reports.push_back(ends.size()); });
  EXPECT_EQ(going, 1U);
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(two_.told(), 1U);
  EXPECT_EQ(one_.last(), Opened::Kind::Failed);
  EXPECT_THAT(reports, IsEmpty());
  spawner_.servers[0].exit(0);
  settle();
  EXPECT_THAT(reports, ElementsAre(1U));
  EXPECT_EQ(one_.told(), 1U);

  pool_.open(one_, {spec, "{}", std::nullopt});
  EXPECT_THAT(one_.answers.back().text, HasSubstr("`corral start files` allows it to start again"));
  EXPECT_TRUE(pool_.allow("files"));
  open(one_, spec);
  EXPECT_EQ(one_.last(), Opened::Kind::Ready);
  EXPECT_FALSE(pool_.allow("files"));
}

TEST_F(APool, DoesNotAnswerASessionThatEndedWhileAnotherWasAnswered) {
  const auto spec = files_spec(config::Share::Shared);
  auto doomed = std::make_unique<FakePort>(3);
  pool_.open(one_, {spec, "{}", std::nullopt});
  pool_.open(*doomed, {spec, "{}", std::nullopt});
  pool_.open(two_, {spec, "{}", std::nullopt});
  one_.when_opened = [&] {
    pool_.release(*doomed, Haste::Polite, {});
    doomed.reset();
  };
  pool_.retire("files", Cause::Stopped, [](const auto&) {});
  EXPECT_EQ(one_.told(), 1U);
  EXPECT_EQ(two_.told(), 1U);
}

TEST_F(APool, ReportsOnceAlsoIfASessionThatIsToldEndsAnotherInstanceOfTheServer) {
  const auto spec = files_spec(config::Share::Session);
  pool_.open(one_, {spec, "{}", std::nullopt});
  pool_.open(two_, {spec, "{}", std::nullopt});
  one_.when_opened = [this] { pool_.release(two_, Haste::Polite, {}); };
  std::vector<std::size_t> reports;
  EXPECT_EQ(
      pool_.retire("files", Cause::Stopped, [&reports](const auto& ends) { reports.push_back(ends.size()); }),
      2U);
  EXPECT_EQ(two_.told(), 0U) << "it had left";
  for (FakeServer& server : spawner_.servers) server.exit(0);
  settle();
  EXPECT_THAT(reports, ElementsAre(2U));
}

TEST_F(APool, ReportsAtOnceIfNothingOfTheServerRuns) {
  int reports = 0;
  EXPECT_EQ(pool_.retire("files", Cause::Restarted, [&reports](const auto&) { ++reports; }), 0U);
  EXPECT_EQ(reports, 1);
}

TEST_F(APool, StartsTheNewDefinitionOnlyWhenTheOldInstanceOfTheSessionIsGone) {
  open(one_, another("old"));
  pool_.retire("old", Cause::Reloaded, [](const auto&) {});
  settle();
  ASSERT_THAT(one_.departures, ElementsAre(router::Departure::Replaced));
  open(one_, another("new"));
  EXPECT_EQ(spawner_.servers.size(), 1U) << "it may hold a port or a lock";
  spawner_.servers[0].exit(0);
  settle();
  ASSERT_EQ(spawner_.servers.size(), 2U);
  answer_handshakes(spawner_);
  settle();
  EXPECT_EQ(one_.told(), 2U);
}

TEST_F(APool, ForgetsASlotWhoseSessionLeftBeforeItsTurnToStart) {
  open(one_, another("old"));
  pool_.retire("old", Cause::Reloaded, [](const auto&) {});
  settle();
  open(one_, another("new"));
  pool_.release(one_, Haste::Polite, {});
  spawner_.servers[0].exit(0);
  settle();
  EXPECT_EQ(spawner_.servers.size(), 1U);
  EXPECT_THAT(pool_.slots(), IsEmpty());
  EXPECT_EQ(one_.told(), 1U);
}

TEST_F(APool, NamesTheInstancesThatHaveCallsAndKillsTheOneThatIsNamed) {
  open(one_, another("a"));
  open(two_, another("b"));
  EXPECT_THAT(pool_.with_calls(), IsEmpty());
  const InstanceId second = pool_.slots().back().router()->instance()->id();
  pool_.stop_all(Haste::Polite);
  pool_.kill(second);
  pool_.kill(InstanceId("of long ago"));
  EXPECT_EQ(spawner_.servers[0].stops_told(), 0U);
  EXPECT_GE(spawner_.servers[1].stops_told(), 1U);
}

}  // namespace
}  // namespace corral::tests
