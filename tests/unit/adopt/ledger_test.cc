#include "adopt/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "adopt/safe_copy.h"
#include "survey/temp_files.h"

namespace corral::adopt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AdoptLedger : public survey::TempFiles {
 protected:
  std::string error() const {
    const Result<std::vector<LedgerRow>> rows = read_ledger(root());
    return rows ? "" : rows.error().message;
  }
};

LedgerRow row_of(const std::string& name) {
  LedgerRow row;
  row.client = "cursor";
  row.file = "/home/me/\"odd\"\n.json";
  row.table = "projects/*/mcpServers";
  row.keys = {"projects", "/srv", "mcpServers", name};
  row.shape = Shape::Object;
  row.through = Through::Run;
  row.program = "/usr/bin/corral";
  row.undo = {2, Arguments::Null, LastLine::Open};
  row.original_hash = "0123456789abcdef";
  row.ours_hash = "fedcba9876543210";
  row.time = "2026-11-19T20:17:33.000Z";
  row.version = "0.1.0";
  row.state = LedgerRow::State::Pending;
  return row;
}

TEST_F(AdoptLedger, ThatIsMissingHasNoRows) { EXPECT_THAT(*read_ledger(root()), IsEmpty()); }

TEST_F(AdoptLedger, KeepsEverythingOfARow) {
  Result<Ledger> ledger = Ledger::open(root() + "/new/state");
  ASSERT_TRUE(ledger) << ledger.error().message;
  ledger->rows() = {row_of("a"), row_of("\xC3\xA9 \"b\"")};
  ASSERT_TRUE(ledger->save());

  const std::vector<LedgerRow> rows = *read_ledger(root() + "/new/state");

  ASSERT_THAT(rows, SizeIs(2));
  const LedgerRow wanted = row_of("\xC3\xA9 \"b\"");
  const LedgerRow& row = rows[1];
  EXPECT_EQ(row.client, wanted.client);
  EXPECT_EQ(row.file, wanted.file);
  EXPECT_EQ(row.table, wanted.table);
  EXPECT_EQ(row.keys, wanted.keys);
  EXPECT_EQ(row.shape, wanted.shape);
  EXPECT_EQ(row.through, wanted.through);
  EXPECT_EQ(row.program, wanted.program);
  EXPECT_EQ(row.undo.words, wanted.undo.words);
  EXPECT_EQ(row.undo.arguments, wanted.undo.arguments);
  EXPECT_EQ(row.undo.last_line, wanted.undo.last_line);
  EXPECT_EQ(row.original_hash, wanted.original_hash);
  EXPECT_EQ(row.ours_hash, wanted.ours_hash);
  EXPECT_EQ(row.time, wanted.time);
  EXPECT_EQ(row.version, wanted.version);
  EXPECT_EQ(row.state, wanted.state);
  struct stat status {};
  ASSERT_EQ(stat((root() + "/new/state/adopted.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

TEST_F(AdoptLedger, ThatIsBrokenIsNamedByLineAndNeverWrittenOver) {
  write("adopted.json", "{\"schema\": 1,\n \"entries\": [\n  {\"client\": ]}");
  EXPECT_THAT(error(), AllOf(HasSubstr("adopted.json:3:"), HasSubstr("nothing was changed")));
  EXPECT_FALSE(Ledger::open(root()));

  write("adopted.json", "{\"schema\": 1,\n \"entries\": [\n  {\"client\": \"cursor\"}]}");
  EXPECT_THAT(error(), AllOf(HasSubstr("adopted.json:3:"), HasSubstr("not complete")));

  write("adopted.json", "[]");
  EXPECT_THAT(error(), HasSubstr("not a ledger"));
}

TEST_F(AdoptLedger, OfANewerVersionIsLeftToThatVersion) {
  write("adopted.json", R"({"schema": 2, "entries": "?"})");
  EXPECT_THAT(error(), HasSubstr("not a ledger"));
  write("adopted.json", R"({"schema": 2, "entries": [{"new": 1}]})");
  EXPECT_THAT(error(), HasSubstr("newer version"));
}

TEST_F(AdoptLedger, NeedsAHome) {
  EXPECT_THAT(Ledger::open("").error().message, HasSubstr("no home directory"));
}

TEST_F(AdoptLedger, KeepsTheNewestTenCopiesOfAFile) {
  for (int day = 10; day < 25; ++day) {
    ASSERT_TRUE(keep_copy(root(), "/home/me/a.json", "x", "day-" + std::to_string(day)));
  }
  const std::string last = *keep_copy(root(), "/home/me/a.json", "x", "day-24");
  const std::filesystem::path folder = std::filesystem::path(last).parent_path();

  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 10);
  EXPECT_TRUE(std::filesystem::exists(folder / "day-15"));
  EXPECT_FALSE(std::filesystem::exists(folder / "day-14"));
  EXPECT_NE(std::filesystem::path(*keep_copy(root(), "/home/you/a.json", "x", "d")).parent_path(), folder);
}

}  // namespace
}  // namespace corral::adopt
