// When the registry writes, what it tells and how much it holds, on a clock that is held.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/held_clock.h"
#include "registry/failing_disk.h"
#include "registry/registry_files.h"
#include "registry/sqlite.h"

namespace corral::registry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

/// Before everything that has timers.
struct Held {
  tests::HeldClock clock_;
};

class RegistryTimes : public Held, public RegistryFiles {
 protected:
  ~RegistryTimes() override { FailingDisk::answer(SQLITE_OK); }

  void pass(Clock::duration time) {
    clock_.pass(time);
    loop_.run_due();
  }
  /// As somebody else sees it: what is written.
  std::int64_t written(const std::string& table) {
    Trouble trouble = Trouble::None;
    Database database = Database::open(path(), trouble);
    return database.number(("SELECT count(*) FROM " + table).c_str(), trouble);
  }
  static std::int64_t now() { return 1000 * static_cast<std::int64_t>(time(nullptr)); }
  static SessionRecord session(std::uint64_t id) {
    return {.daemon = "one", .id = id, .server = "files", .opened_ms = now(), .ended_ms = now()};
  }
};

TEST_F(RegistryTimes, EventsAndSessionsAreWrittenTogetherAMomentLater) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  EXPECT_EQ(written("daemons"), 1) << "at once";
  registry->keep(event_of(1, 1));
  registry->keep(session(1));
  pass(249ms);
  EXPECT_EQ(written("events") + written("sessions"), 0);
  pass(1ms);
  EXPECT_EQ(written("events"), 1);
  EXPECT_EQ(written("sessions"), 1);
  registry->keep(session(2));
  pass(250ms);
  EXPECT_EQ(written("sessions"), 2) << "also without an event";
}

TEST_F(RegistryTimes, ManyEventsAreNotKeptWaiting) {
  const auto registry = open();
  for (std::uint64_t number = 1; number <= 511; ++number) registry->keep(event_of(number, 1));
  EXPECT_EQ(written("events"), 0);
  registry->keep(event_of(512, 1));
  EXPECT_EQ(written("events"), 512);
}

TEST_F(RegistryTimes, AFullDiskIsTriedAgainAfterAWhileAndToldOnceEach) {
  FailingDisk::answer(SQLITE_OK);
  const auto registry = open();
  std::vector<std::string> told;
  registry->when_degraded([&] { told.push_back(registry->degraded()); });
  FailingDisk::answer(SQLITE_FULL);
  registry->begin(daemon_called("one"));
  EXPECT_THAT(told, IsEmpty()) << "in a turn of its own";
  pass(0ms);
  EXPECT_THAT(told, ElementsAre(HasSubstr("disk is full")));
  registry->keep(event_of(1, 1));
  registry->keep(session(1));
  registry->keep_manifest("digest", "files", "{}");
  pass(4999ms);
  FailingDisk::answer(SQLITE_OK);
  EXPECT_EQ(written("daemons"), 0);
  EXPECT_EQ(registry->events_after(0, 5).size(), 1U) << "known though it is not written";
  EXPECT_EQ(registry->last_event(), 1U);
  pass(1ms);

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_EQ(written("daemons") + written("events") + written("sessions"), 3);
  EXPECT_EQ(registry->manifest("digest"), std::nullopt) << "it is learned again";
  pass(0ms);
  EXPECT_THAT(told, SizeIs(2));
}

TEST_F(RegistryTimes, SomebodyElsesLockIsTriedAgainSoon) {
  const auto registry = open();
  Trouble trouble = Trouble::None;
  Database other = Database::open(path(), trouble);
  ASSERT_EQ(other.execute("BEGIN IMMEDIATE"), Trouble::None);
  registry->begin(daemon_called("one"));
  EXPECT_NE(registry->degraded(), "");
  other.execute("ROLLBACK");
  pass(99ms);
  EXPECT_NE(registry->degraded(), "");
  pass(1ms);
  EXPECT_EQ(registry->degraded(), "");
  EXPECT_EQ(written("daemons"), 1);
}

TEST_F(RegistryTimes, SessionsThatCannotBeWrittenTakeNoMoreThanTheirShare) {
  FailingDisk::answer(SQLITE_OK);
  const auto registry = open({.most_waiting = 3});
  FailingDisk::answer(SQLITE_FULL);
  registry->begin(daemon_called("one"));
  for (std::uint64_t id = 1; id <= 5; ++id) registry->keep(session(id));
  FailingDisk::answer(SQLITE_OK);
  pass(5s);

  EXPECT_EQ(written("sessions"), 3);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("2 records")));
  EXPECT_EQ(registry->degraded(), "");
}

TEST_F(RegistryTimes, TheFirstLookForOldRowsComesHalfAMinuteAfterTheStart) {
  const auto registry = open();
  for (std::uint64_t number = 1; number <= 300; ++number) registry->keep(event_of(number, 1));
  registry->flush();
  pass(29'999ms);
  EXPECT_EQ(written("events"), 300);
  pass(1ms);
  EXPECT_EQ(written("events"), 100);
  pass(50ms);
  EXPECT_EQ(written("events"), 0) << "the next piece follows soon";
  registry->keep(event_of(301, 1));
  registry->flush();
  pass(50ms);
  EXPECT_EQ(written("events"), 0) << "a piece was removed, so it looked again";
  registry->keep(event_of(302, 1));
  registry->flush();
  pass(50ms);
  EXPECT_EQ(written("events"), 0);
  pass(50ms);
  registry->keep(event_of(303, 1));
  registry->flush();
  pass(9min);
  EXPECT_EQ(written("events"), 1) << "nothing was left, so it waits";
  pass(1min);
  EXPECT_EQ(written("events"), 0);
}

TEST_F(RegistryTimes, MemoryHoldsASmallShareOfWhatAFileHolds) {
  const auto registry =
      open_registry(loop_, "", {.most_events = 400, .most_sessions = 100, .first_prune = 1ms});
  for (std::uint64_t number = 1; number <= 60; ++number) {
    registry->keep(event_of(number, now()));
    registry->keep(session(number));
  }
  registry->flush();
  pass(1ms);

  EXPECT_EQ(registry->events_after(0, 100).size(), 20U);
  EXPECT_EQ(registry->past_sessions(100).size(), 5U);
  for (int i = 0; i <= 64; ++i) registry->keep_manifest(std::to_string(i), "files", "{}");
  EXPECT_EQ(registry->manifest("0"), std::nullopt);
  EXPECT_EQ(registry->manifest("1"), "{}");
  registry->keep_manifest("large", "files", std::string(256 << 10, 'x'));
  EXPECT_TRUE(registry->manifest("large"));
  registry->keep_manifest("larger", "files", std::string((256 << 10) + 1, 'x'));
  EXPECT_FALSE(registry->manifest("larger"));
}

TEST_F(RegistryTimes, AFileHoldsLargeManifests) {
  const auto registry = open();
  registry->keep_manifest("large", "files", std::string(kLargestManifest, 'x'));
  EXPECT_TRUE(registry->manifest("large"));
}

TEST_F(RegistryTimes, AnEndIsWrittenWithAllThatWaited) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  registry->journal(instance_called("a", "one"));
  registry->keep(event_of(1, 1));
  registry->end("one");
  EXPECT_EQ(written("events"), 1);
  EXPECT_EQ(written("daemons WHERE ended_ms=0"), 0);
  EXPECT_EQ(written("instances WHERE cause='shutdown'"), 1);

  InstanceRecord over = instance_called("b", "one");
  over.ended_ms = 5;
  registry->journal(over);
  std::filesystem::remove_all(root() + "/state");
  registry->keep(event_of(2, 1));
  registry->flush();
  EXPECT_EQ(written("events"), 1);
  EXPECT_EQ(written("daemons") + written("instances"), 0) << "a new file need not know what has ended";
}

TEST_F(RegistryTimes, EventsOfEarlierDaemonsAreThoseBeforeItsOwnStart) {
  {
    const auto registry = open();
    registry->begin(daemon_called("earlier"));
    registry->keep(event_of(1, 1));
  }
  const auto registry = open();
  const auto beside = open();
  beside->begin(daemon_called("beside"));
  beside->keep(event_of(2, 1));
  beside->flush();
  registry->begin(daemon_called("one"));

  EXPECT_EQ(registry->events_after(0, 10).size(), 1U);
  EXPECT_EQ(registry->last_event(), 2U);
}

}  // namespace
}  // namespace corral::registry
