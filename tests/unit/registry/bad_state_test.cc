// Everything that can be wrong with the file: the daemon goes on, and says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "registry/failing_disk.h"
#include "registry/registry_files.h"
#include "registry/sqlite.h"

namespace corral::registry {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::chrono::milliseconds kSoon{1};

class BadState : public RegistryFiles {
 protected:
  ~BadState() override { FailingDisk::answer(SQLITE_OK); }

  Database database() const {
    Trouble trouble = Trouble::None;
    Database opened = Database::open(path(), trouble);
    EXPECT_EQ(trouble, Trouble::None);
    return opened;
  }
  /// It serves, in memory.
  static void expect_it_works(Registry& registry) {
    registry.begin(daemon_called("now"));
    registry.journal(instance_called("now-1", "now"));
    registry.keep(event_of(7, 1));
    registry.flush();
    registry.keep_manifest("digest", "files", "{}");
    EXPECT_THAT(registry.unfinished(""), Not(IsEmpty()));
    EXPECT_GE(registry.last_event(), 7U);
    EXPECT_EQ(registry.manifest("digest"), "{}");
  }
  void expect_refused(const std::string& words) {
    const auto registry = open();
    EXPECT_THAT(registry->degraded(), AllOf(HasSubstr(path()), HasSubstr(words), HasSubstr("--state-dir")));
    expect_it_works(*registry);
    EXPECT_THAT(registry->degraded(), Not(IsEmpty()));
  }
};

TEST_F(BadState, ADatabaseOfANewerCorralIsLeftAsItIs) {
  leave_a_crashed_daemon("old");
  ASSERT_EQ(database().execute("PRAGMA user_version=99"), Trouble::None);
  const std::string file = content_of(path());
  const std::string log = content_of(path() + "-wal");

  expect_refused("newer corral");

  EXPECT_EQ(content_of(path()), file);
  EXPECT_EQ(content_of(path() + "-wal"), log);
  EXPECT_THAT(put_aside(), IsEmpty());
}

TEST_F(BadState, AFileThatIsNotADatabaseIsPutAsideAndANewOneBegun) {
  write("state/registry.db", std::string(5000, 'x'));

  const auto registry = open();

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr(path()), HasSubstr("damaged"), HasSubstr(".corrupt-"))));
  EXPECT_THAT(losses_, ElementsAre(Loss::DamagedFile));
  ASSERT_THAT(put_aside(), SizeIs(1));
  EXPECT_EQ(content_of(root() + "/state/" + put_aside()[0]), std::string(5000, 'x'));
  expect_it_works(*registry);
  EXPECT_EQ(open()->manifest("digest"), "{}");
}

TEST_F(BadState, SomebodyElsesDatabaseIsPutAside) {
  leave_a_crashed_daemon("old");
  ASSERT_EQ(database().execute("PRAGMA application_id=1"), Trouble::None);

  EXPECT_THAT(open()->unfinished(""), IsEmpty());
  EXPECT_THAT(put_aside(), SizeIs(1));
}

TEST_F(BadState, ADatabaseWithoutOurTablesIsPutAside) {
  leave_a_crashed_daemon("old");
  ASSERT_EQ(database().execute("DROP TABLE sessions"), Trouble::None);

  const auto registry = open();

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(put_aside(), SizeIs(1));
  expect_it_works(*registry);
}

TEST_F(BadState, OnlyAFewAreKeptAside) {
  for (std::size_t i = 1; i <= 6; ++i) {
    write("state/registry.db", "no database, number " + std::to_string(i));
    std::filesystem::remove(path() + "-wal");
    open();

    EXPECT_THAT(put_aside(), SizeIs(std::min<std::size_t>(i, 3))) << "after number " << i;
  }
}

TEST_F(BadState, DamageWhileItIsOpenIsPutAsideAndWhatRunsIsWrittenAgain) {
  {
    const auto registry = open();
    for (int i = 0; i < 40; ++i) registry->keep_manifest(std::to_string(i), "files", std::string(9000, 'm'));
    registry->begin(daemon_called("one"));
  }
  ASSERT_EQ(database().checkpoint(), Trouble::None);
  std::filesystem::remove(path() + "-wal");
  const auto registry = open();
  registry->begin(daemon_called("two"));
  registry->journal(instance_called("two-1", "two"));
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(std::filesystem::file_size(path()) - 4096, '\xee');
  }

  for (int i = 0; i < 40; ++i) registry->manifest(std::to_string(i));

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(put_aside(), SizeIs(1));
  ASSERT_THAT(registry->unfinished(""), SizeIs(1));
  EXPECT_THAT(registry->unfinished("")[0].instances, ElementsAre(instance_called("two-1", "two")));
}

TEST_F(BadState, AHalfWrittenJournalCostsItsLastRecordsOnly) {
  leave_a_crashed_daemon("first");
  const auto whole = std::filesystem::file_size(path() + "-wal");
  leave_a_crashed_daemon("second");
  ASSERT_GT(std::filesystem::file_size(path() + "-wal"), whole);
  std::filesystem::resize_file(path() + "-wal", whole + 1000);

  const auto found = open()->unfinished("");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].daemon.id, "first");
  EXPECT_THAT(found[0].instances, SizeIs(1));
}

TEST_F(BadState, AFileOfAnEarlierBootIsCheckedOnceAndThenIsOfThisBoot) {
  open()->begin(daemon_called("old"));
  {
    Database file = database();
    ASSERT_EQ(file.execute("UPDATE facts SET value='earlier' WHERE name='boot_id'"), Trouble::None);
  }

  EXPECT_THAT(open()->degraded(), IsEmpty());

  Trouble trouble = Trouble::None;
  const std::string boot = database().text("SELECT value FROM facts WHERE name='boot_id'", trouble);
  EXPECT_EQ(trouble, Trouble::None);
  EXPECT_NE(boot, "earlier");
  EXPECT_NE(boot, "");
}

TEST_F(BadState, GarbageAfterTheJournalIsOverlooked) {
  leave_a_crashed_daemon("first");
  std::ofstream(path() + "-wal", std::ios::app | std::ios::binary) << std::string(10'000, '\x5a');

  EXPECT_THAT(open()->unfinished(""), SizeIs(1));
  EXPECT_THAT(open()->unfinished(""), SizeIs(1));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(BadState, AnyDamagedByteEitherHarmsNothingOrPutsTheFileAside) {
  {
    const auto registry = open();
    registry->begin(daemon_called("old"));
    for (std::uint64_t i = 1; i <= 20; ++i) {
      registry->journal(instance_called(std::to_string(i), "old"));
      registry->keep(event_of(i, 1));
      registry->keep(SessionRecord{.daemon = "old", .id = i, .server = "files", .ended_ms = 1});
    }
    registry->keep_manifest("digest", "files", std::string(10'000, 'm'));
  }
  ASSERT_EQ(database().checkpoint(), Trouble::None);
  const std::string whole = content_of(path());
  std::filesystem::remove_all(root() + "/state");
  const std::size_t step = 97 * (whole.size() / 97 / 60 + 1);
  for (std::size_t at = 0; at < whole.size(); at += step) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    write("state/registry.db", damaged);
    chmod((root() + "/state").c_str(), 0700);
    {
      const auto registry = open();
      registry->unfinished("");
      registry->past_sessions(100);
      registry->events_after(0, 100);
      expect_it_works(*registry);
      EXPECT_TRUE(registry->degraded().empty() || registry->degraded().find("newer") != std::string::npos)
          << at << ": " << registry->degraded();
    }
    std::filesystem::remove_all(root() + "/state");
  }
}

TEST_F(BadState, AReadOnlyFileOrFolderIsRefused) {
  leave_a_crashed_daemon("old");
  ASSERT_EQ(chmod(path().c_str(), 0400), 0);
  expect_refused("is read-only. Run `chmod 600`");
  ASSERT_EQ(chmod(path().c_str(), 0600), 0);
  ASSERT_EQ(chmod((root() + "/state").c_str(), 0500), 0);
  expect_refused("is read-only. Run `chmod 700`");
  ASSERT_EQ(chmod((root() + "/state").c_str(), 0700), 0);
}

TEST_F(BadState, AFolderOrFileThatOthersMayWriteToIsRefused) {
  leave_a_crashed_daemon("old");
  ASSERT_EQ(chmod((root() + "/state").c_str(), 0770), 0);
  expect_refused("other users may write to the directory");
  ASSERT_EQ(chmod((root() + "/state").c_str(), 0700), 0);
  ASSERT_EQ(chmod(path().c_str(), 0622), 0);
  expect_refused("other users may write to " + path());
  ASSERT_EQ(chmod(path().c_str(), 0644), 0);

  EXPECT_THAT(open()->unfinished(""), SizeIs(1));
  EXPECT_EQ(mode_of(path()), 0600U);
}

TEST_F(BadState, LinksAndOtherThingsInItsPlaceAreRefusedAndNotFollowed) {
  const std::string elsewhere = write("elsewhere", "mine");
  for (const char* name : {"state/registry.db", "state/registry.db-wal"}) {
    link(name, elsewhere);
    expect_refused("is a symbolic link");
    std::filesystem::remove(root() + "/" + name);
  }
  EXPECT_EQ(content_of(elsewhere), "mine");
  std::filesystem::create_directories(path());
  expect_refused("is not a regular file");
  std::filesystem::remove_all(root() + "/state");
  write("state", "a file where a directory should be");
  expect_refused("is not a directory");
}

TEST_F(BadState, WhatBelongsToSomebodyElseIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  leave_a_crashed_daemon("old");
  ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
  expect_refused("belongs to user 65534");
  ASSERT_EQ(chown(path().c_str(), 0, 0), 0);
  ASSERT_EQ(chown((root() + "/state").c_str(), 65534, 65534), 0);
  expect_refused("belongs to user 65534");
}

TEST_F(BadState, AFullDiskIsToldAndWhatWaitedIsWrittenWhenThereIsRoom) {
  FailingDisk::answer(SQLITE_OK);
  const auto registry = open({.retry = kSoon});
  std::vector<std::string> told;
  registry->when_degraded([&] {
    told.push_back(registry->degraded());
    FailingDisk::answer(SQLITE_OK);  // not before, because what is told is the state of that moment
  });
  registry->begin(daemon_called("one"));

  FailingDisk::answer(SQLITE_FULL);
  registry->journal(instance_called("one-1", "one"));
  registry->keep(event_of(7, 1));
  registry->flush();
  EXPECT_THAT(registry->degraded(),
              AllOf(HasSubstr(path()), HasSubstr("disk is full"), HasSubstr("Make room")));
  EXPECT_THAT(registry->unfinished("").at(0).instances, IsEmpty());
  run_until([&] { return registry->degraded().empty() && told.size() >= 2; });

  EXPECT_THAT(told, ElementsAre(HasSubstr("disk is full"), ""));
  EXPECT_THAT(registry->unfinished("").at(0).instances, SizeIs(1));
  EXPECT_EQ(open()->last_event(), 7U);
}

TEST_F(BadState, AFileThatCanBeOpenedLaterGetsWhatHappenedMeanwhile) {
  write("state", "a file where a directory should be");
  const auto registry = open({.retry = kSoon});
  expect_it_works(*registry);
  ASSERT_THAT(registry->degraded(), Not(IsEmpty()));

  std::filesystem::remove(root() + "/state");
  run_until([&] { return registry->degraded().empty(); });

  const auto next = open();
  EXPECT_THAT(next->unfinished("").at(0).instances, ElementsAre(instance_called("now-1", "now")));
  EXPECT_EQ(next->last_event(), 7U);
}

TEST_F(BadState, ARemovedFileIsCreatedAgain) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  registry->journal(instance_called("one-1", "one"));
  std::filesystem::remove_all(root() + "/state");

  registry->keep(event_of(1, 1));
  registry->flush();

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(open()->unfinished("").at(0).instances, SizeIs(1));
}

TEST_F(BadState, AFileThatIsRemovedWhileTheDiskIsFullIsCreatedAgainWhenThereIsRoom) {
  FailingDisk::answer(SQLITE_OK);
  const auto registry = open({.retry = kSoon});
  registry->begin(daemon_called("one"));
  FailingDisk::answer(SQLITE_FULL);
  registry->journal(instance_called("one-1", "one"));
  ASSERT_THAT(registry->degraded(), HasSubstr("disk is full"));

  std::filesystem::remove_all(root() + "/state");
  FailingDisk::answer(SQLITE_OK);
  run_until([&] { return registry->degraded().empty(); });

  EXPECT_TRUE(std::filesystem::exists(path()));
  const auto next = open();
  ASSERT_THAT(next->unfinished(""), SizeIs(1));
  EXPECT_THAT(next->unfinished("").at(0).instances, SizeIs(1));
}

TEST_F(BadState, ALockOfAnotherProcessDelaysAWriteAndNoMore) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  Database other = database();
  {
    const Transaction lock(other);
    ASSERT_EQ(lock.trouble(), Trouble::None);
    registry->journal(instance_called("one-1", "one"));
    EXPECT_THAT(registry->degraded(), HasSubstr("locked"));
  }
  run_until([&] { return registry->degraded().empty(); });

  EXPECT_THAT(registry->unfinished("").at(0).instances, SizeIs(1));
}

TEST_F(BadState, WhatCannotBeWrittenTakesNoMoreThanItsShareOfMemory) {
  FailingDisk::answer(SQLITE_OK);
  const auto registry = open({.most_waiting = 10, .retry = kSoon});
  FailingDisk::answer(SQLITE_FULL);
  registry->keep(event_of(1, 1));
  registry->flush();

  for (std::uint64_t number = 2; number <= 30; ++number) registry->keep(event_of(number, 1));

  EXPECT_THAT(registry->events_after(0, 100), SizeIs(10));
  EXPECT_EQ(registry->events_after(0, 100).front().number, 21U);
  FailingDisk::answer(SQLITE_OK);
  run_until([&] { return registry->degraded().empty(); });
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr("20 records"), HasSubstr("lost"))));
  EXPECT_THAT(losses_, ElementsAre(Loss::Records));
}

TEST_F(BadState, WhatRunsIsKnownThoughItsRecordHadToGo) {
  FailingDisk::answer(SQLITE_OK);
  const auto registry = open({.retry = kSoon});
  FailingDisk::answer(SQLITE_FULL);
  registry->begin(daemon_called("one"));
  registry->journal(instance_called("runs", "one"));

  for (int i = 0; i < 5000; ++i) {
    const std::string id = "i" + std::to_string(i);
    registry->journal(instance_called(id, "one"));
    registry->instance_ended(id, 20, "idle");
  }
  FailingDisk::answer(SQLITE_OK);
  run_until([&] { return registry->degraded().empty(); });

  const auto left = open()->unfinished("");
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_THAT(left[0].instances, ElementsAre(instance_called("runs", "one")));
  // The oldest of 10,002 writes had to go: 8,192 of them wait at most.
  Trouble trouble = Trouble::None;
  EXPECT_LE(database().number("SELECT count(*) FROM instances", trouble), 4098);
}

TEST_F(BadState, ASessionThatStaysOpenDoesNotKeepTheOthers) {
  RegistryOptions options{.most_sessions = 50,
                          .first_prune = std::chrono::milliseconds(0),
                          .next_piece = std::chrono::milliseconds(0)};
  const std::int64_t now = 1000 * static_cast<std::int64_t>(time(nullptr));
  const auto registry = open(options);
  registry->keep(SessionRecord{.daemon = "one", .id = 1, .server = "files", .opened_ms = now});
  for (std::uint64_t id = 2; id <= 1000; ++id) {
    registry->keep(
        SessionRecord{.daemon = "one", .id = id, .server = "files", .opened_ms = now, .ended_ms = now});
    registry->journal(
        {.id = "i" + std::to_string(id), .daemon = "one", .server = "files", .started_ms = now});
    registry->instance_ended("i" + std::to_string(id), now, "idle");
  }
  registry->flush();

  run_until([&] { return registry->past_sessions(1000).size() == 50; });

  EXPECT_EQ(registry->past_sessions(1000).size(), 50U);
  Trouble trouble = Trouble::None;
  EXPECT_LE(database().number("SELECT count(*) FROM instances", trouble), 50);
  EXPECT_EQ(database().number("SELECT count(*) FROM sessions WHERE ended_ms=0", trouble), 1);
}

TEST_F(BadState, NumbersThatNoProcessHasAreNobody) {
  leave_a_crashed_daemon("old");
  ASSERT_EQ(database().execute("UPDATE instances SET pid=-1, keeper_pid=4294967297, uid=-5"), Trouble::None);
  ASSERT_EQ(database().execute("UPDATE daemons SET pid='1; rm'"), Trouble::None);

  const Unfinished found = open()->unfinished("").at(0);

  EXPECT_EQ(found.instances.at(0).process.pid, 0);
  EXPECT_EQ(found.instances.at(0).keeper.pid, 0);
  EXPECT_EQ(found.instances.at(0).process.uid, 65534U);
  EXPECT_EQ(found.daemon.process.pid, 1);
}

}  // namespace
}  // namespace corral::registry
