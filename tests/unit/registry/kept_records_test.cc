// What a command reads of the registry without a daemon: everything that was kept, and nothing is changed.
#include "registry/kept_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>

#include "registry/registry_files.h"
#include "registry/sqlite.h"

namespace corral::registry {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class KeptRecordsRead : public RegistryFiles {
 protected:
  /// Without an end, as if it had been killed.
  void leave_events(const std::string& daemon, std::uint64_t first, std::uint64_t last) {
    const auto registry = open();
    registry->begin(daemon_called(daemon));
    for (std::uint64_t number = first; number <= last; ++number) registry->keep(event_of(number, 1000));
    registry->flush();
  }
  std::vector<std::uint64_t> numbers(bool newest_first = false, std::size_t most = 100) const {
    Result<KeptRecords> records = KeptRecords::open(path());
    EXPECT_TRUE(records) << records.error().message;
    std::vector<std::uint64_t> found;
    if (!records) return found;
    const auto take = [&](const events::Event& event) {
      found.push_back(event.number);
      return found.size() < most;
    };
    EXPECT_TRUE(newest_first ? records->newest_first(take) : records->oldest_first(take));
    return found;
  }
  std::string why_not() const {
    const Result<KeptRecords> records = KeptRecords::open(path());
    return records ? "" : records.error().message;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root() + "/state")) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(KeptRecordsRead, FindsTheEventsOfAllDaemonsInTheirOrder) {
  leave_events("one", 1, 2);
  leave_events("two", 3, 4);

  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(numbers(true), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(numbers(true, 1), ElementsAre(4));
}

TEST_F(KeptRecordsRead, FindsTheLastInstancesFirst) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  for (const int number : {1, 2, 3}) {
    InstanceRecord instance = instance_called("i" + std::to_string(number), "one");
    instance.started_ms = number;
    registry->journal(instance);
  }
  registry->instance_ended("i3", 9, "idle");
  Result<KeptRecords> records = KeptRecords::open(path());
  ASSERT_TRUE(records);

  const Result<std::vector<InstanceRecord>> found = records->last_instances(2);

  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ((*found)[0].id, "i3");
  EXPECT_EQ((*found)[0].cause, "idle");
  EXPECT_EQ((*found)[1].ended_ms, 0);
}

TEST_F(KeptRecordsRead, ChangesNothing) {
  leave_events("one", 1, 3);
  const std::vector<std::string> before = files();
  const std::string file = content_of(path());
  const std::string log = content_of(path() + "-wal");

  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3));

  EXPECT_EQ(files(), before);
  EXPECT_EQ(content_of(path()), file);
  EXPECT_EQ(content_of(path() + "-wal"), log);
}

TEST_F(KeptRecordsRead, DoesNotDisturbADaemonThatWrites) {
  const auto registry = open();
  registry->begin(daemon_called("one"));
  registry->keep(event_of(1, 1));
  registry->flush();
  Result<KeptRecords> records = KeptRecords::open(path());
  ASSERT_TRUE(records);
  bool wrote = false;
  const auto write_more = [&](const events::Event&) {
    registry->keep(event_of(2, 1));
    registry->flush();
    wrote = true;
    return true;
  };

  EXPECT_TRUE(records->oldest_first(write_more));

  EXPECT_TRUE(wrote);
  EXPECT_EQ(registry->degraded(), "");
  EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(KeptRecordsRead, ReadsAFileWithoutItsSharedMemory) {
  leave_events("one", 1, 2);
  std::filesystem::remove(path() + "-shm");

  EXPECT_THAT(numbers(), ElementsAre(1, 2));
}

TEST_F(KeptRecordsRead, SaysThatNothingWasKeptAndCreatesNothing) {
  const Result<KeptRecords> records = KeptRecords::open(path());

  ASSERT_FALSE(records);
  EXPECT_EQ(records.error().kind, Error::Kind::NotFound);
  EXPECT_THAT(records.error().message, HasSubstr("there is no registry " + path()));
  EXPECT_FALSE(std::filesystem::exists(root() + "/state"));
  EXPECT_THAT(KeptRecords::open("").error().message, HasSubstr("HOME"));
}

TEST_F(KeptRecordsRead, SaysWhatIsWrongWithTheFile) {
  write("state/registry.db", std::string(5000, 'x'));
  EXPECT_THAT(why_not(), AllOf(HasSubstr(path()), HasSubstr("damaged")));
  EXPECT_EQ(content_of(path()), std::string(5000, 'x'));

  write("state/registry.db", "");
  EXPECT_THAT(why_not(), HasSubstr("is empty"));

  std::filesystem::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_THAT(why_not(), HasSubstr("not a regular file"));
}

TEST_F(KeptRecordsRead, LeavesTheFileOfANewerCorralAlone) {
  leave_events("one", 1, 1);
  {
    Trouble trouble = Trouble::None;
    Database opened = Database::open(path(), trouble);
    ASSERT_EQ(opened.execute("PRAGMA user_version=99"), Trouble::None);
  }

  EXPECT_THAT(why_not(), AllOf(HasSubstr("a newer corral wrote it"), HasSubstr("99")));
}

TEST_F(KeptRecordsRead, ReadsAPathWithCharactersOfAUri) {
  std::filesystem::create_directories(root() + "/a?b#c%d e");
  const std::string odd = root() + "/a?b#c%d e/registry.db";
  {
    const auto registry = open_registry(loop_, odd);
    registry->begin(daemon_called("one"));
    registry->keep(event_of(5, 1));
    registry->flush();
  }
  Result<KeptRecords> records = KeptRecords::open(odd);
  ASSERT_TRUE(records) << records.error().message;
  std::uint64_t number = 0;
  EXPECT_TRUE(records->oldest_first([&number](const events::Event& event) {
    number = event.number;
    return true;
  }));

  EXPECT_EQ(number, 5U);
}

}  // namespace
}  // namespace corral::registry
