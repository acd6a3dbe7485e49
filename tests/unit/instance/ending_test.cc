#include "instance/ending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace corral::instance {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

keeper::Event ended() {
  keeper::Event event{};
  event.kind = keeper::Event::Kind::Ended;
  return event;
}

TreeEnd ending_of(const keeper::Event& event) { return instance::ending_of(event, "/bin/fake", "/srv"); }

TEST(InstanceEnding, HasTheExitCodeOfTheServer) {
  keeper::Event event = ended();
  event.report.server_status_known = true;
  event.report.server_status = 3 << 8;
  event.report.proved_empty = true;
  event.report.ended_total = 5;

  const TreeEnd ending = ending_of(event);

  EXPECT_EQ(ending.sentence, "exited with code 3");
  EXPECT_EQ(ending.exit_code, 3);
  EXPECT_TRUE(ending.proved_empty);
  EXPECT_EQ(ending.ended_processes, 5U);
  EXPECT_FALSE(ending.keeper_lost);
  EXPECT_THAT(ending.survivors, IsEmpty());
}

TEST(InstanceEnding, HasTheSignalAsAShellWouldReportIt) {
  keeper::Event event = ended();
  event.report.server_status_known = true;
  event.report.server_status = SIGTERM;

  const TreeEnd ending = ending_of(event);

  EXPECT_EQ(ending.sentence, "was ended by SIGTERM");
  EXPECT_EQ(ending.exit_code, 128 + SIGTERM);
}

TEST(InstanceEnding, SaysNoMoreThanIsKnown) {
  const TreeEnd ending = ending_of(ended());

  EXPECT_EQ(ending.sentence, "ended");
  EXPECT_EQ(ending.exit_code, 0);
}

TEST(InstanceEnding, OfAServerThatWasNeverStartedHasTheExitCodeOfTheCause) {
  keeper::Event event{};
  event.kind = keeper::Event::Kind::Failed;
  event.stage = keeper::Stage::Execute;
  event.error = ENOENT;

  const TreeEnd ending = ending_of(event);

  EXPECT_THAT(ending.sentence, HasSubstr("could not be started: "));
  EXPECT_EQ(ending.exit_code, 127);
}

TEST(InstanceEnding, ListsNoMoreSurvivorsThanTheReportNames) {
  keeper::Event event = ended();
  event.report.survivors = 10'000;
  event.report.survivor[0].pid = 7;
  strcpy(event.report.survivor[0].comm, "stuck");

  const TreeEnd ending = ending_of(event);

  ASSERT_THAT(ending.survivors, SizeIs(keeper::kListedSurvivors));
  EXPECT_EQ(ending.survivors.front().pid, 7);
  EXPECT_EQ(ending.survivors.front().command, "stuck");
}

TEST(InstanceEnding, WithoutAKeeperSaysWhetherCorralKilledIt) {
  const TreeEnd killed = ending_without_keeper(KeeperWatch::Loss::Killed);
  const TreeEnd too_slow = ending_without_keeper(KeeperWatch::Loss::TooSlow);

  EXPECT_THAT(killed.sentence, HasSubstr("another process killed"));
  EXPECT_THAT(too_slow.sentence, HasSubstr("in time"));
  EXPECT_TRUE(killed.keeper_lost);
  EXPECT_FALSE(killed.proved_empty);
  EXPECT_EQ(killed.exit_code, 125);
}

}  // namespace
}  // namespace corral::instance
