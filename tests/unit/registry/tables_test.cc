// The tables by themselves, in memory: what is written comes back, in which order, and what is removed.
#include "registry/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "registry/registry_files.h"
#include "registry/schema.h"

namespace corral::registry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class TablesInMemory : public testing::Test {
 protected:
  TablesInMemory() { EXPECT_TRUE(tables_.usable()); }

  static Database made() {
    Database database = Database::unnamed();
    migrate(database);
    return database;
  }
  std::vector<std::uint64_t> numbers(std::uint64_t after, const std::string& daemon, std::uint64_t before,
                                     std::size_t most) {
    std::vector<std::uint64_t> found;
    for (const events::Event& event : tables_.events_after(after, daemon, before, most, trouble_)) {
      found.push_back(event.number);
    }
    return found;
  }
  std::int64_t rows(const std::string& table) {
    return database_.number(("SELECT count(*) FROM " + table).c_str(), trouble_);
  }
  SessionRecord session(std::uint64_t id, std::int64_t ended_ms) {
    return {.daemon = "one", .id = id, .server = "files", .opened_ms = 1, .ended_ms = ended_ms};
  }

  Database database_ = made();
  Tables tables_{database_};
  Trouble trouble_ = Trouble::None;
};

TEST_F(TablesInMemory, GiveBackWholeRecords) {
  DaemonRecord daemon = daemon_called("one");
  daemon.machine = "this one";
  InstanceRecord instance{.id = "a",
                          .daemon = "one",
                          .server = "files",
                          .cgroup = "/c",
                          .rlimit_tag = 5,
                          .container = {"docker", "x y"},
                          .keeper = {1, 2, 3, 4, "k"},
                          .process = {11, 12, 13, 14, "p"},
                          .started_ms = 15,
                          .cause = "so far none"};
  EXPECT_EQ(tables_.write(daemon), Trouble::None);
  EXPECT_EQ(tables_.write(instance), Trouble::None);

  const std::vector<Unfinished> found = tables_.unfinished("", trouble_);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].daemon, daemon);
  EXPECT_THAT(found[0].instances, ElementsAre(instance));
  EXPECT_THAT(tables_.unfinished("one", trouble_), IsEmpty());
  for (const std::vector<std::string>& odd : {std::vector<std::string>{"a", ""}, {"a\x1f", "b"}}) {
    instance.id += "b";
    instance.container = odd;
    tables_.write(instance);
    EXPECT_THAT(tables_.unfinished("", trouble_)[0].instances.back().container, IsEmpty());
  }
}

TEST_F(TablesInMemory, TellOfDaemonsNewestFirstAndOfInstancesOldestFirst) {
  for (const auto& [id, started] : {std::pair("b", 5), {"a", 5}, {"c", 6}}) {
    DaemonRecord daemon = daemon_called(id);
    daemon.started_ms = started;
    tables_.write(daemon);
  }
  for (const auto& [id, started] : {std::pair("late", 7), {"first", 3}, {"second", 3}}) {
    InstanceRecord instance = instance_called(id, "a");
    instance.started_ms = started;
    tables_.write(instance);
  }

  const std::vector<Unfinished> found = tables_.unfinished("", trouble_);

  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].daemon.id + found[1].daemon.id + found[2].daemon.id, "cab");
  ASSERT_THAT(found[1].instances, SizeIs(3));
  EXPECT_EQ(found[1].instances[0].id, "first");
  EXPECT_EQ(found[1].instances[1].id, "second");
  EXPECT_EQ(found[1].instances[2].id, "late");
}

TEST_F(TablesInMemory, ADaemonThatEndsTakesAlongOnlyWhatWasOpen) {
  for (const char* const id : {"one", "two"}) tables_.write(daemon_called(id));
  tables_.write(instance_called("open", "one"));
  tables_.write(instance_called("other", "two"));
  tables_.write(session(1, 0));
  SessionRecord ended = session(2, 7);
  ended.reason = "client";
  tables_.write(ended);

  EXPECT_EQ(tables_.end_daemon("one", 9, "lost"), Trouble::None);

  ASSERT_THAT(tables_.unfinished("", trouble_), SizeIs(1));
  EXPECT_EQ(tables_.unfinished("", trouble_)[0].daemon.id, "two");
  EXPECT_THAT(tables_.unfinished("", trouble_)[0].instances, SizeIs(1));
  const std::vector<SessionRecord> past = tables_.past_sessions(10, trouble_);
  ASSERT_THAT(past, SizeIs(2));
  EXPECT_EQ(past[0].reason, "lost");
  EXPECT_EQ(past[0].ended_ms, 9);
  EXPECT_EQ(past[1], ended);
  EXPECT_EQ(database_.text("SELECT cause || ended_ms FROM instances WHERE id='open'", trouble_), "lost9");
  EXPECT_EQ(database_.number("SELECT ended_ms FROM daemons WHERE id='one'", trouble_), 9);
}

TEST_F(TablesInMemory, EventsAreThoseOfTheDaemonAndOfEarlierOnes) {
  for (std::uint64_t number = 1; number <= 3; ++number) tables_.write(event_of(number, 1), "earlier");
  for (std::uint64_t number = 3; number <= 5; ++number) tables_.write(event_of(number, 1), "ours");

  EXPECT_THAT(numbers(0, "ours", 2, 10), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(numbers(0, "ours", 3, 10), ElementsAre(1, 2, 3, 3, 4, 5));
  EXPECT_THAT(numbers(4, "ours", 3, 10), ElementsAre(5));
  EXPECT_THAT(numbers(5, "ours", 3, 10), IsEmpty());
  EXPECT_THAT(numbers(0, "nobody", 0, 10), IsEmpty());
  EXPECT_THAT(numbers(0, "ours", 0, 2), ElementsAre(3, 4));
  EXPECT_THAT(numbers(~std::uint64_t{0}, "ours", 3, 10), IsEmpty());
  EXPECT_EQ(tables_.last_event(trouble_), 5U);
}

TEST_F(TablesInMemory, AnEventComesBackWhole) {
  events::Event event{.number = 1,
                      .time_ms = 2,
                      .kind = events::Kind::Crash,
                      .server = "s",
                      .instance = "i",
                      .session = 3,
                      .pid = 4,
                      .cause = "c",
                      .text = "t",
                      .took = std::chrono::milliseconds(0),
                      .count = 5};
  tables_.write(event, "one");
  EXPECT_EQ(to_json(tables_.events_after(0, "one", 0, 1, trouble_).at(0)), to_json(event));
  event.number = 2;
  event.took.reset();
  tables_.write(event, "one");
  EXPECT_FALSE(tables_.events_after(1, "one", 0, 1, trouble_).at(0).took);
}

TEST_F(TablesInMemory, NumbersThatJsonDoesNotHaveAreNotTheLast) {
  EXPECT_EQ(tables_.last_event(trouble_), 0U);
  EXPECT_EQ(trouble_, Trouble::None);
  tables_.write(event_of(std::uint64_t{1} << 53U, 1), "one");
  EXPECT_EQ(tables_.last_event(trouble_), 0U);
  tables_.write(event_of((std::uint64_t{1} << 53U) - 1, 1), "one");
  EXPECT_EQ(tables_.last_event(trouble_), (std::uint64_t{1} << 53U) - 1);
  database_.execute("DELETE FROM events");
  tables_.write(event_of(~std::uint64_t{0}, 1), "one");  // which is -1 there
  EXPECT_EQ(tables_.last_event(trouble_), 0U);
}

TEST_F(TablesInMemory, PastSessionsAreThoseThatEndedNewestFirst) {
  for (const auto& [id, ended] : {std::pair(1, 5), {2, 9}, {3, 0}, {4, 5}}) {
    tables_.write(session(static_cast<std::uint64_t>(id), ended));
  }
  const auto ids = [this](std::size_t most) {
    std::string text;
    for (const SessionRecord& one : tables_.past_sessions(most, trouble_)) text += std::to_string(one.id);
    return text;
  };
  EXPECT_EQ(ids(10), "241");
  EXPECT_EQ(ids(2), "24");
  EXPECT_EQ(ids(0), "");
}

TEST_F(TablesInMemory, ManifestsAreReplacedAndTheOldestGo) {
  for (const char* const digest : {"a", "b", "c"}) {
    EXPECT_EQ(tables_.write_manifest(digest, "files", digest, 3), Trouble::None);
  }
  tables_.write_manifest("a", "files", "again", 3);
  EXPECT_EQ(rows("manifests"), 3);
  tables_.write_manifest("d", "files", "d", 3);

  EXPECT_EQ(tables_.manifest("a", trouble_), "again");
  EXPECT_EQ(tables_.manifest("b", trouble_), std::nullopt);
  EXPECT_EQ(tables_.manifest("c", trouble_), "c");
  EXPECT_EQ(tables_.manifest("d", trouble_), "d");
}

TEST_F(TablesInMemory, WhatIsOlderOrBeyondTheNumberGoesAndIsCounted) {
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const auto time = static_cast<std::int64_t>(i * 10);
    tables_.write(event_of(i, time), "one");
    tables_.write(session(i, time));
    const std::string id = std::to_string(i);
    tables_.write(instance_called(id, "one"));
    tables_.end_instance(id, time, "idle");
    tables_.write(daemon_called(id));
    tables_.end_daemon(id, time, "shutdown");
  }
  tables_.write(session(5, 0));
  tables_.write(daemon_called("now"));
  tables_.write(instance_called("now", "now"));

  EXPECT_EQ(tables_.prune_some({.oldest_ms = 10, .events = 100, .sessions = 100}, trouble_), 0);
  EXPECT_EQ(tables_.prune_some({.oldest_ms = 11, .events = 100, .sessions = 100}, trouble_), 4);
  EXPECT_EQ(tables_.prune_some({.oldest_ms = 11, .events = 2, .sessions = 100}, trouble_), 1);
  EXPECT_EQ(rows("events"), 2);
  EXPECT_EQ(tables_.prune_some({.oldest_ms = 11, .events = 2, .sessions = 2}, trouble_), 4);
  EXPECT_EQ(trouble_, Trouble::None);
  EXPECT_EQ(rows("sessions"), 2) << "the open one counts";
  EXPECT_EQ(rows("instances"), 2);
  EXPECT_EQ(rows("daemons"), 4);
  EXPECT_EQ(tables_.prune_some({.oldest_ms = 1000, .events = 100, .sessions = 100}, trouble_), 7);
  EXPECT_EQ(rows("sessions") + rows("instances") + rows("daemons"), 3) << "what is open stays";
}

TEST_F(TablesInMemory, AnswerWithTroubleWhereTheTablesAreOthers) {
  EXPECT_EQ(tables_.probe(), Trouble::None);
  EXPECT_EQ(rows("facts WHERE name='probe'"), 1);
  database_.execute("DROP TABLE events");

  EXPECT_EQ(tables_.write(event_of(1, 1), "one"), Trouble::Refused);
  tables_.last_event(trouble_);
  EXPECT_EQ(trouble_, Trouble::Refused);
  EXPECT_EQ(tables_.prune_some({.oldest_ms = 1000, .events = 1, .sessions = 1}, trouble_), 0);
  EXPECT_EQ(trouble_, Trouble::Refused);
  EXPECT_FALSE(Tables(database_).usable());
}

// ---- the database below

TEST(SqliteDatabase, TransactionsWithoutACommitHaveNoEffect) {
  Database database = Database::unnamed();
  Trouble trouble = Trouble::None;
  ASSERT_TRUE(database.valid());
  EXPECT_FALSE(database.read_only());
  EXPECT_EQ(database.execute("CREATE TABLE t(a)"), Trouble::None);
  {
    Transaction transaction(database);
    EXPECT_EQ(transaction.trouble(), Trouble::None);
    database.execute("INSERT INTO t VALUES(1),(2)");
    EXPECT_EQ(database.changed(), 2);
    EXPECT_EQ(Transaction(database).trouble(), Trouble::Refused) << "there is one already";
  }
  EXPECT_EQ(database.number("SELECT count(*) FROM t", trouble), 0);
  {
    Transaction transaction(database);
    database.execute("INSERT INTO t VALUES(7)");
    EXPECT_EQ(transaction.commit(), Trouble::None);
  }
  EXPECT_EQ(database.number("SELECT a FROM t", trouble), 7);
  EXPECT_EQ(trouble, Trouble::None);
}

TEST(SqliteDatabase, ValuesThatAreNotThereAreNothing) {
  Database database = Database::unnamed();
  Trouble trouble = Trouble::None;

  EXPECT_EQ(database.number("SELECT 5 WHERE 0", trouble), 0);
  EXPECT_EQ(trouble, Trouble::None);
  EXPECT_EQ(database.text("SELECT 'a' WHERE 0", trouble), "");
  EXPECT_EQ(database.text("SELECT 'a'", trouble), "a");
  EXPECT_EQ(database.number("SELECT nonsense", trouble), 0);
  EXPECT_EQ(trouble, Trouble::Refused);
  EXPECT_EQ(database.text("SELECT nonsense", trouble), "");
  EXPECT_EQ(trouble, Trouble::Refused);
  EXPECT_EQ(database.execute("nonsense"), Trouble::Refused);
  EXPECT_FALSE(database.prepare("nonsense").valid());
  Statement none = database.prepare("nonsense");
  Rows rows = none.run(1, std::string("a"));
  EXPECT_FALSE(rows.next());
  EXPECT_EQ(rows.trouble(), Trouble::Refused);
}

TEST(SqliteDatabase, StatementsRunAgainWithOtherValues) {
  Database database = Database::unnamed();
  Statement statement = database.prepare("SELECT ?1, ?2");
  ASSERT_TRUE(statement.valid());
  {
    Rows rows = statement.run(5, std::string_view("a\0b", 3));
    ASSERT_TRUE(rows.next());
    EXPECT_EQ(rows.number(0), 5);
    EXPECT_EQ(rows.text(1), std::string("a\0b", 3));
    EXPECT_FALSE(rows.next());
    EXPECT_EQ(rows.trouble(), Trouble::None);
  }
  Rows rows = statement.run(6);
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.number(0), 6);
  EXPECT_EQ(rows.text(1), "") << "nothing is left of the first time";
  Statement empty = database.prepare("SELECT ?1 IS NULL");
  Rows given = empty.run(std::string_view());
  ASSERT_TRUE(given.next());
  EXPECT_EQ(given.number(0), 0);
}

TEST(SqliteDatabase, MovesWithWhatItHolds) {
  Database first = Database::unnamed();
  first.execute("CREATE TABLE t(a)");
  Database second = std::move(first);
  Database third = Database::unnamed();
  third = std::move(second);
  Trouble trouble = Trouble::None;

  EXPECT_EQ(third.number("SELECT count(*) FROM t", trouble), 0);
  EXPECT_EQ(trouble, Trouble::None);
  EXPECT_FALSE(Database::open("/not/there.db", trouble).valid());
  EXPECT_EQ(trouble, Trouble::NoRoom);
}

TEST(SqliteDatabase, RunsNoTriggerOrViewOfAFile) {
  Database database = Database::unnamed();
  Trouble trouble = Trouble::None;
  database.execute("CREATE TABLE t(a)");
  database.execute("CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO t VALUES(99); END");
  database.execute("CREATE VIEW v AS SELECT 1");
  EXPECT_EQ(database.execute("INSERT INTO t VALUES(1)"), Trouble::None);

  EXPECT_EQ(database.number("SELECT count(*) FROM t", trouble), 1);
  EXPECT_EQ(database.execute("SELECT * FROM v"), Trouble::Refused);
  EXPECT_EQ(database.execute("ATTACH ':memory:' AS other"), Trouble::Refused);
  EXPECT_NE(database.execute("INSERT INTO t VALUES(zeroblob((16 << 20) + 1))"), Trouble::None);
  EXPECT_EQ(database.execute("INSERT INTO t VALUES(zeroblob((16 << 20) - 100))"), Trouble::None);
  EXPECT_NE(database.execute(("SELECT '" + std::string(64 << 10, 'x') + "'").c_str()), Trouble::None);
}

}  // namespace
}  // namespace corral::registry
