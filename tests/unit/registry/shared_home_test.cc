// A home that several machines have in common: which journal the registry keeps there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>

#include "registry/database_file.h"
#include "registry/registry_files.h"

namespace corral::registry {
namespace {

TEST(JournalFor, IsTheWriteAheadLogWhereOnlyThisMachineReachesTheFile) {
  for (const std::uint64_t type :
       {std::uint64_t{EXT4_SUPER_MAGIC}, std::uint64_t{XFS_SUPER_MAGIC}, std::uint64_t{BTRFS_SUPER_MAGIC},
        std::uint64_t{TMPFS_MAGIC}, std::uint64_t{OVERLAYFS_SUPER_MAGIC}, std::uint64_t{0}}) {
    EXPECT_EQ(journal_for(type), Journal::WriteAhead) << std::hex << type;
  }
}

TEST(JournalFor, IsARollbackJournalWhereOtherMachinesMayReachTheFile) {
  for (const std::uint64_t type :
       {std::uint64_t{NFS_SUPER_MAGIC}, std::uint64_t{CIFS_SUPER_MAGIC}, std::uint64_t{SMB2_SUPER_MAGIC},
        std::uint64_t{FUSE_SUPER_MAGIC}, std::uint64_t{V9FS_MAGIC}, std::uint64_t{CEPH_SUPER_MAGIC},
        std::uint64_t{AFS_SUPER_MAGIC}, std::uint64_t{OCFS2_SUPER_MAGIC}}) {
    EXPECT_EQ(journal_for(type), Journal::Rollback) << std::hex << type;
  }
}

class SharedHome : public RegistryFiles {
 protected:
  Database database(Journal journal) const {
    OpenedFile opened = open_database_file(path(), When::Starting, journal);
    EXPECT_EQ(opened.problem, "");
    return std::move(opened.database);
  }
  static std::string mode_of_journal(Database& database) {
    Trouble trouble = Trouble::None;
    return database.text("PRAGMA journal_mode", trouble);
  }
};

TEST_F(SharedHome, AFileWithoutAWriteAheadLogNeedsNoSharedMemory) {
  Database one = database(Journal::Rollback);
  Database other = database(Journal::Rollback);

  const char* const insert = "INSERT OR REPLACE INTO facts VALUES('one', 'written')";
  ASSERT_EQ(one.execute(insert), Trouble::None);

  EXPECT_EQ(mode_of_journal(one), "delete");
  Trouble trouble = Trouble::None;
  EXPECT_EQ(other.text("SELECT value FROM facts WHERE name='one'", trouble), "written");
  EXPECT_FALSE(std::filesystem::exists(path() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(path() + "-shm"));
}

TEST_F(SharedHome, AFileThatHadAWriteAheadLogLosesItAndKeepsWhatIsInIt) {
  leave_a_crashed_daemon("old");

  Database now = database(Journal::Rollback);

  EXPECT_EQ(mode_of_journal(now), "delete");
  Trouble trouble = Trouble::None;
  EXPECT_EQ(now.text("SELECT id FROM daemons", trouble), "old");
}

TEST_F(SharedHome, AFileOnThisMachineAloneHasAWriteAheadLog) {
  Database own = database(Journal::WriteAhead);

  EXPECT_EQ(mode_of_journal(own), "wal");
}

}  // namespace
}  // namespace corral::registry
