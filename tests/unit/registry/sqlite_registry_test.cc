#include "registry/sqlite_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "registry/kept_records.h"
#include "registry/registry_files.h"
#include "registry/sqlite.h"

namespace corral::registry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::milliseconds kAtOnce{0};

class Kept : public RegistryFiles {};

std::vector<std::uint64_t> numbers(const std::vector<events::Event>& events) {
  std::vector<std::uint64_t> found;
  for (const events::Event& event : events) found.push_back(event.number);
  return found;
}

TEST_F(Kept, WhatACrashedDaemonStartedIsThereForTheNextOldestFirst) {
  InstanceRecord second = instance_called("second", "crashed");
  {
    const auto registry = open();
    registry->begin(daemon_called("crashed"));
    second.started_ms = 20;
    registry->journal(second);
    registry->journal(instance_called("first", "crashed"));
    registry->journal(instance_called("over", "crashed"));
    registry->instance_ended("over", 30, "crash");
  }

  const auto registry = open();
  registry->begin(daemon_called("next"));
  const std::vector<Unfinished> left = registry->unfinished("next");

  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].daemon, daemon_called("crashed"));
  EXPECT_THAT(left[0].instances, ElementsAre(instance_called("first", "crashed"), second));
}

TEST_F(Kept, ARecordIsCompletedAndDoesNotLiveAgain) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  InstanceRecord record = instance_called("a", "one");
  record.container = {"/tmp/folder", "/usr/bin/docker", "--context", "far away"};
  registry->journal(record);
  record.cgroup = "/corral/a";
  record.rlimit_tag = ~std::uint64_t{0};
  record.keeper = {.pid = 7, .pidfs_inode = 8, .start_ticks = 9, .uid = 10, .handle = std::string("\0x", 2)};
  record.process = {.pid = 17, .pidfs_inode = 18, .start_ticks = 19, .uid = 110, .handle = "k"};

  registry->journal(record);
  ASSERT_THAT(registry->unfinished("")[0].instances, ElementsAre(record));
  registry->instance_ended("a", 99, "stopped");
  registry->journal(record);

  EXPECT_THAT(registry->unfinished("")[0].instances, IsEmpty());
}

TEST_F(Kept, ADaemonThatEndedInOrderOrIsForgottenLeavesNothing) {
  leave_a_crashed_daemon("crashed");
  const auto registry = open();
  registry->begin(daemon_called("orderly"));
  registry->journal(instance_called("b", "orderly"));
  registry->keep(SessionRecord{.daemon = "orderly", .id = 1, .server = "files", .opened_ms = 5});

  registry->end("orderly");
  ASSERT_THAT(registry->unfinished(""), SizeIs(1));
  registry->forget("crashed");

  EXPECT_THAT(registry->unfinished(""), IsEmpty());
  ASSERT_THAT(registry->past_sessions(5), SizeIs(1));
  EXPECT_EQ(registry->past_sessions(5)[0].reason, "shutdown");
}

TEST_F(Kept, BytesOfAnyKindComeBackAsTheyWere) {
  const std::string hostile = std::string("a\0b'\"; DROP TABLE events; --\xff\xfe\xc3", 32);
  const events::Event event{.number = 1,
                            .time_ms = 2,
                            .kind = events::Kind::Crash,
                            .server = hostile,
                            .instance = hostile,
                            .session = ~std::uint64_t{0} >> 1U,
                            .pid = 3,
                            .cause = hostile,
                            .text = hostile,
                            .took = std::chrono::milliseconds(4),
                            .count = 5};
  const SessionRecord session{.daemon = "one",
                              .id = 1,
                              .server = hostile,
                              .instance = hostile,
                              .client_name = hostile,
                              .client_version = hostile,
                              .client_pid = 5,
                              .transport = hostile,
                              .opened_ms = 1,
                              .ended_ms = 2,
                              .reason = hostile};
  {
    const auto registry = open();
    registry->begin(daemon_called(hostile));
    registry->journal(instance_called(hostile, hostile));
    registry->keep(event);
    registry->keep(session);
    registry->keep_manifest(hostile, hostile, hostile);
  }

  const auto registry = open();

  EXPECT_EQ(registry->unfinished("").at(0).instances.at(0), instance_called(hostile, hostile));
  const events::Event found = registry->events_after(0, 10).at(0);
  EXPECT_EQ(to_json(found), to_json(event));
  EXPECT_EQ(found.text, hostile);
  EXPECT_EQ(registry->past_sessions(10).at(0), session);
  EXPECT_EQ(registry->manifest(hostile), hostile);
}

TEST_F(Kept, EventsAreReadBeforeAndAfterTheyAreWritten) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  for (std::uint64_t number = 1; number <= 5; ++number) {
    registry->keep(event_of(number, 1));
    if (number == 3) registry->flush();
  }

  EXPECT_THAT(numbers(registry->events_after(1, 10)), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(numbers(registry->events_after(1, 3)), ElementsAre(2, 3, 4));
  EXPECT_EQ(registry->last_event(), 5U);
}

// A daemon that is killed a moment later has written it: nothing here turns the loop or flushes.
TEST_F(Kept, AFailureIsWrittenAtOnceWithWhatWaited) {
  const auto registry = open();
  registry->begin(daemon_called("d"));
  const auto in_file = [this] {
    Result<KeptRecords> records = KeptRecords::open(path());
    std::vector<std::uint64_t> numbers;
    EXPECT_TRUE(records && records->oldest_first([&](const events::Event& event) {
      numbers.push_back(event.number);
      return true;
    }));
    return numbers;
  };
  registry->keep(event_of(1, 1000));
  EXPECT_THAT(in_file(), IsEmpty());

  events::Event crash = event_of(2, 1000);
  crash.kind = events::Kind::Crash;
  registry->keep(crash);
  EXPECT_THAT(in_file(), ElementsAre(1, 2));
}

TEST_F(Kept, AnEventOfAKindThatOnlyALaterVersionKnowsIsLeftOut) {
  {
    const auto registry = open();
    registry->begin(daemon_called("one"));
    for (std::uint64_t number = 1; number <= 3; ++number) registry->keep(event_of(number, 1));
    registry->flush();
  }
  Trouble trouble = Trouble::None;
  Database file = Database::open(path(), trouble);
  ASSERT_EQ(trouble, Trouble::None);
  ASSERT_EQ(file.execute("UPDATE events SET kind='of-next-year' WHERE number=2"), Trouble::None);

  EXPECT_THAT(numbers(open()->events_after(0, 10)), ElementsAre(1, 3));
}

TEST_F(Kept, EventsOfADaemonBesideUsDoNotMixWithOurs) {
  { open()->keep(event_of(1, 1)); }
  const auto ours = open();
  const auto beside = open();
  ours->begin(daemon_called("ours"));
  beside->begin(daemon_called("beside"));
  for (const auto* registry : {&ours, &beside}) {
    (*registry)->keep(event_of(2, 1));
    (*registry)->flush();
  }
  beside->keep(event_of(3, 1));
  beside->flush();

  EXPECT_THAT(numbers(ours->events_after(0, 10)), ElementsAre(1, 2));
  EXPECT_THAT(numbers(beside->events_after(0, 10)), ElementsAre(1, 2, 3));
}

TEST_F(Kept, SessionsAreWrittenOnceForEachState) {
  SessionRecord session{.daemon = "one", .id = 1, .server = "files", .client_name = "c", .opened_ms = 5};
  {
    const auto registry = open();
    registry->keep(session);
    registry->flush();
    EXPECT_THAT(registry->past_sessions(10), IsEmpty());
    session.ended_ms = 9;
    session.reason = "client";
    registry->keep(session);
  }

  EXPECT_THAT(open()->past_sessions(10), ElementsAre(session));
}

TEST_F(Kept, TheManifestsWrittenLongestAgoGo) {
  const auto registry = open();
  for (std::size_t i = 0; i < kMostManifests + 2; ++i) {
    registry->keep_manifest(std::to_string(i), "files", "{}");
    if (i == 1) registry->keep_manifest("0", "files", "again");
  }

  EXPECT_EQ(registry->manifest("1"), std::nullopt);
  EXPECT_EQ(registry->manifest("0"), std::nullopt);
  EXPECT_EQ(registry->manifest("2"), "{}");
  registry->keep_manifest("large", "files", std::string(kLargestManifest + 1, ' '));
  EXPECT_EQ(registry->manifest("large"), std::nullopt);
}

TEST_F(Kept, WhatIsOlderThanTheHistoryGoesInPieces) {
  const std::int64_t now = 1'000'000 * static_cast<std::int64_t>(time(nullptr) / 1000);
  RegistryOptions options{.history = std::chrono::hours(24), .first_prune = kAtOnce};
  {
    const auto registry = open();
    registry->begin(daemon_called("one"));
    for (std::uint64_t number = 1; number <= 500; ++number) registry->keep(event_of(number, 1));
    registry->keep(event_of(501, now));
    registry->keep(SessionRecord{.daemon = "one", .id = 1, .server = "files", .ended_ms = 5});
    registry->keep(SessionRecord{.daemon = "one", .id = 2, .server = "files", .ended_ms = now});
    registry->keep(SessionRecord{.daemon = "one", .id = 3, .server = "files", .opened_ms = 5});
  }

  {
    const auto registry = open(options);
    loop_.run_due();
    EXPECT_EQ(registry->events_after(0, 1000).size(), 301U);  // a piece, not all of it
  }
  options.next_piece = kAtOnce;
  const auto registry = open(options);
  loop_.run_due();

  EXPECT_THAT(numbers(registry->events_after(0, 1000)), ElementsAre(501));
  ASSERT_THAT(registry->past_sessions(10), SizeIs(1));
  EXPECT_EQ(registry->past_sessions(10)[0].id, 2U);
}

TEST_F(Kept, NoMoreRowsThanAllowedStay) {
  RegistryOptions options{.most_events = 400, .first_prune = kAtOnce};
  const std::int64_t now = 1000 * static_cast<std::int64_t>(time(nullptr));
  const auto registry = open(options);
  for (std::uint64_t number = 1; number <= 500; ++number) registry->keep(event_of(number, now));
  registry->flush();

  loop_.run_due();

  EXPECT_EQ(registry->events_after(0, 1000).size(), 400U);
  EXPECT_EQ(registry->events_after(0, 1).at(0).number, 101U);
}

TEST_F(Kept, WithoutAPathEverythingIsInMemoryAndAllIsWell) {
  const auto registry = open_registry(loop_, "");
  registry->begin(daemon_called("one"));
  registry->journal(instance_called("a", "one"));
  registry->keep(event_of(1, 1));
  registry->flush();

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(registry->unfinished(""), SizeIs(1));
  EXPECT_EQ(registry->last_event(), 1U);
}

TEST_F(Kept, TheLogIsCopiedIntoTheDatabaseOnAThread) {
  const auto registry = open({.checkpoint_pages = 1, .quiet = kAtOnce});
  registry->begin(daemon_called("one"));
  const auto before = std::filesystem::file_size(path());

  registry->keep_manifest("digest", "files", std::string(100'000, 'x'));

  run_until([&] { return std::filesystem::file_size(path()) != before; });
  EXPECT_GT(std::filesystem::file_size(path()), before);
}

TEST_F(Kept, FilesAreForTheirOwnerAlone) {
  const mode_t before = umask(0);
  const auto registry = open();
  registry->begin(daemon_called("one"));
  umask(before);

  EXPECT_EQ(mode_of(root() + "/state"), 0700U);
  for (const char* ending : {"", "-wal", "-shm"}) EXPECT_EQ(mode_of(path() + ending), 0600U) << ending;
}

}  // namespace
}  // namespace corral::registry
