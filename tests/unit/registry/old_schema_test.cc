// Database files that a corral before 0.1.0 wrote. The scripts below are what it ran then, step by step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <string>
#include <thread>

#include "registry/database_file.h"
#include "registry/kept_records.h"
#include "registry/registry_files.h"
#include "registry/schema.h"

namespace corral::registry {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::array kOldSteps = {
    R"(
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE daemons(
  id TEXT PRIMARY KEY, boot_id TEXT NOT NULL, pid_namespace INTEGER NOT NULL,
  pid INTEGER NOT NULL, pidfs_inode INTEGER NOT NULL, start_ticks INTEGER NOT NULL, uid INTEGER NOT NULL,
  handle TEXT NOT NULL, version TEXT NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL);
CREATE TABLE instances(
  id TEXT PRIMARY KEY, daemon TEXT NOT NULL, server TEXT NOT NULL, cgroup TEXT NOT NULL,
  rlimit_tag INTEGER NOT NULL,
  keeper_pid INTEGER NOT NULL, keeper_pidfs_inode INTEGER NOT NULL, keeper_start_ticks INTEGER NOT NULL,
  keeper_uid INTEGER NOT NULL, keeper_handle TEXT NOT NULL,
  pid INTEGER NOT NULL, pidfs_inode INTEGER NOT NULL, start_ticks INTEGER NOT NULL, uid INTEGER NOT NULL,
  handle TEXT NOT NULL,
  started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, cause TEXT NOT NULL);
CREATE INDEX instances_by_end ON instances(ended_ms, daemon);
CREATE TABLE sessions(
  row INTEGER PRIMARY KEY, daemon TEXT NOT NULL, id INTEGER NOT NULL, server TEXT NOT NULL,
  instance TEXT NOT NULL, client_name TEXT NOT NULL, client_version TEXT NOT NULL,
  client_pid INTEGER NOT NULL, transport TEXT NOT NULL,
  opened_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL, reason TEXT NOT NULL,
  UNIQUE(daemon, id));
CREATE INDEX sessions_by_end ON sessions(ended_ms);
CREATE TABLE events(
  row INTEGER PRIMARY KEY, number INTEGER NOT NULL, time_ms INTEGER NOT NULL, kind TEXT NOT NULL,
  server TEXT NOT NULL, instance TEXT NOT NULL, session INTEGER NOT NULL, pid INTEGER NOT NULL,
  cause TEXT NOT NULL, text TEXT NOT NULL, took_ms INTEGER NOT NULL, count INTEGER NOT NULL);
CREATE INDEX events_by_number ON events(number);
CREATE TABLE manifests(
  digest TEXT PRIMARY KEY, server TEXT NOT NULL, written INTEGER NOT NULL, text TEXT NOT NULL);
PRAGMA application_id=1668443185; PRAGMA user_version=1;
)",
    R"(
ALTER TABLE events ADD COLUMN daemon TEXT NOT NULL DEFAULT '';
CREATE INDEX manifests_by_age ON manifests(written);
PRAGMA user_version=2;
)",
    R"(
ALTER TABLE instances ADD COLUMN container TEXT NOT NULL DEFAULT '';
ALTER TABLE daemons ADD COLUMN machine TEXT NOT NULL DEFAULT '';
PRAGMA user_version=3;
)"};

constexpr const char* kSomeRecords =
    "INSERT INTO events(number,time_ms,kind,server,instance,session,pid,cause,text,took_ms,count)"
    " VALUES(5, 6, 'crash', 's', 'i', 0, 0, 'c', 't', -1, 0);"
    "INSERT INTO manifests VALUES('digest', 'files', 1, '{}')";

class OldSchema : public RegistryFiles {
 protected:
  /// A file as a corral left it that knew so many of the steps.
  void leave_a_file_of_version(std::size_t version) {
    write("state/registry.db", "");
    chmod((root() + "/state").c_str(), 0700);
    chmod(path().c_str(), 0600);
    Database old = database();
    ASSERT_EQ(old.execute("PRAGMA journal_mode=WAL"), Trouble::None);
    for (std::size_t step = 0; step < version; ++step) {
      ASSERT_EQ(old.execute(kOldSteps.at(step)), Trouble::None);
    }
    ASSERT_EQ(old.execute(kSomeRecords), Trouble::None);
  }
  Database database() const { return database_at(path()); }
  static Database database_at(const std::string& file) {
    Trouble trouble = Trouble::None;
    Database opened = Database::open(file, trouble);
    EXPECT_EQ(trouble, Trouble::None);
    return opened;
  }
  /// Every column of every table, with its type and its constraints, and every index.
  static std::string shape_of(Database& database) {
    Trouble trouble = Trouble::None;
    const std::string columns = database.text(
        "SELECT group_concat(line, char(10)) FROM (SELECT m.name||' '||p.cid||' '||p.name||' '||p.type||' '||"
        "p.\"notnull\"||' '||p.pk||' '||coalesce(p.dflt_value,'-') AS line"
        " FROM sqlite_schema AS m, pragma_table_info(m.name) AS p WHERE m.type='table' ORDER BY m.name, "
        "p.cid)",
        trouble);
    EXPECT_EQ(trouble, Trouble::None);
    const std::string indexes = database.text(
        "SELECT group_concat(line, char(10)) FROM (SELECT name||' '||tbl_name||' '||coalesce(sql,'-') AS line"
        " FROM sqlite_schema WHERE type='index' ORDER BY name)",
        trouble);
    EXPECT_EQ(trouble, Trouble::None);
    return columns + "\n" + indexes;
  }
};

TEST_F(OldSchema, TheStepsOfBeforeMadeTheTablesOfToday) {
  leave_a_file_of_version(3);
  Database old = database();
  ASSERT_EQ(migrate(old), Trouble::None);
  Database made = Database::unnamed();
  ASSERT_EQ(migrate(made), Trouble::None);

  EXPECT_THAT(shape_of(made), HasSubstr("instances 18 container TEXT"));
  EXPECT_EQ(shape_of(old), shape_of(made));
  EXPECT_EQ(look_at_schema(old).version, schema_version());
}

TEST_F(OldSchema, AFileOfVersionThreeIsOpenedAsItIs) {
  leave_a_file_of_version(3);
  const FileId file = file_at(path());

  const auto registry = open();

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(notices_, IsEmpty());
  EXPECT_EQ(file_at(path()), file);
  ASSERT_THAT(registry->events_after(0, 10), SizeIs(1));
  EXPECT_EQ(registry->events_after(0, 10)[0].kind, events::Kind::Crash);
  EXPECT_EQ(registry->manifest("digest"), "{}");
}

TEST_F(OldSchema, AFileOfVersionThreeIsWrittenToAndReadAgain) {
  leave_a_file_of_version(3);
  leave_a_crashed_daemon("old");

  const auto registry = open();

  const auto unfinished = registry->unfinished("");
  ASSERT_THAT(unfinished, SizeIs(1));
  EXPECT_EQ(unfinished[0].daemon.id, "old");
  ASSERT_THAT(unfinished[0].instances, SizeIs(1));
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(OldSchema, AFileOfVersionThreeIsReadWithoutADaemonAndStaysAsItIs) {
  leave_a_file_of_version(3);

  Result<KeptRecords> records = KeptRecords::open(path());
  ASSERT_TRUE(records) << records.error().message;
  std::vector<events::Kind> found;
  const auto take = [&](const events::Event& event) {
    EXPECT_THAT(event.error_lines, IsEmpty());
    found.push_back(event.kind);
    return true;
  };
  EXPECT_TRUE(records->newest_first(take));
  EXPECT_TRUE(records->oldest_first(take));

  EXPECT_THAT(found, ElementsAre(events::Kind::Crash, events::Kind::Crash));
  Database still = database();
  EXPECT_EQ(look_at_schema(still).version, 3);
}

class NeverReleased : public OldSchema, public testing::WithParamInterface<std::size_t> {};

TEST_P(NeverReleased, IsPutAsideWithEverythingInItAndANewOneBegun) {
  const std::string version = std::to_string(GetParam());
  leave_a_file_of_version(GetParam());

  const auto registry = open();

  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(notices_,
              ElementsAre(AllOf(HasSubstr(path()), HasSubstr("version " + version + " of its tables"),
                                HasSubstr(".older-"), HasSubstr("corral doctor"))));
  EXPECT_THAT(losses_, ElementsAre(Loss::OlderFile)) << "it is not damaged";
  EXPECT_THAT(registry->events_after(0, 10), IsEmpty());
  EXPECT_EQ(registry->manifest("digest"), std::nullopt);
  EXPECT_THAT(put_aside(), IsEmpty());
  ASSERT_THAT(put_aside("older"), SizeIs(1));
  Database kept = database_at(root() + "/state/" + put_aside("older")[0]);
  Trouble trouble = Trouble::None;
  EXPECT_EQ(look_at_schema(kept).version, static_cast<std::int64_t>(GetParam()));
  EXPECT_EQ(kept.text("SELECT kind FROM events", trouble), "crash");
  EXPECT_EQ(kept.text("SELECT text FROM manifests", trouble), "{}");
}

TEST_P(NeverReleased, IsNotMistakenForTheNewOneAtTheNextStart) {
  leave_a_file_of_version(GetParam());
  leave_a_crashed_daemon("new");
  notices_.clear();

  const auto registry = open();

  EXPECT_THAT(registry->unfinished(""), SizeIs(1));
  EXPECT_THAT(notices_, IsEmpty());
  EXPECT_THAT(put_aside("older"), SizeIs(1));
}

TEST_P(NeverReleased, IsReplacedByOneOfTwoDaemonsThatStartTogether) {
  for (int round = 1; round <= 20; ++round) {
    leave_a_file_of_version(GetParam());
    std::array<OpenedFile, 2> opened;
    std::array<std::thread, 2> daemons;
    for (std::size_t one = 0; one < 2; ++one) {
      daemons[one] = std::thread([&, one] { opened[one] = open_database_file(path(), When::Starting); });
    }
    for (std::thread& daemon : daemons) daemon.join();

    for (const OpenedFile& one : opened) EXPECT_EQ(one.problem, "");
    ASSERT_THAT(put_aside("older"), SizeIs(round)) << "the new file of the other daemon was moved";
    opened = {};
    for (const char* const ending : {"", "-wal", "-shm"}) std::filesystem::remove(path() + ending);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, NeverReleased, testing::Values(1, 2));

}  // namespace
}  // namespace corral::registry
