// Files that are in the way: what cannot be changed stays as it is, byte for byte, and is named.
#include "adopt/adoption.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "adopt/drift.h"
#include "survey/temp_files.h"

namespace corral::adopt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* kTwo =
    R"({"mcpServers": {"a": {"command": "x", "args": ["1"]}, "b": {"command": "y"}}})";

class AdoptFiles : public survey::TempFiles {
 protected:
  std::string text(const std::string& name = "home/.cursor/mcp.json") const {
    std::ostringstream text;
    text << std::ifstream(root() + "/" + name).rdbuf();
    return text.str();
  }
  std::vector<FileLook> looks() const {
    std::vector<FileLook> all;
    for (const ClientFile& file : find_files({root() + "/home", {}, {}}, {})) {
      all.push_back(look_at(file, Through::Connect));
    }
    return all;
  }
  FileOutcome adopt() const {
    const std::vector<FileLook> all = looks();
    if (all.empty()) return {};
    return adopt(all.front());
  }
  FileOutcome adopt(const FileLook& look) const {
    Adopting adopting{look.file, {}, Through::Connect, "/usr/bin/corral"};
    for (const FoundServer& server : look.servers) {
      if (server.judged.verdict == Verdict::Wrap)
        adopting.servers.push_back({server.entry.keys, server.hash});
    }
    return adopt_file(adopting, desk_);
  }
  FileOutcome release() const { return release_file(cursor_, {}, desk_); }
  std::vector<LedgerRow> rows() const {
    const Result<std::vector<LedgerRow>> rows = read_ledger(desk_.state_directory);
    return rows ? *rows : std::vector<LedgerRow>();
  }
  Standing standing(std::size_t index) const { return compare_with_files(rows()).at(index); }

  const std::string cursor_ = root() + "/home/.cursor/mcp.json";
  Desk desk_{root() + "/state", 1'763'500'000'000, {}};
};

TEST_F(AdoptFiles, KeepModeAndSymbolicLink) {
  write("dotfiles/mcp.json", kTwo);
  link("home/.cursor/mcp.json", root() + "/dotfiles/mcp.json");
  ASSERT_EQ(chmod((root() + "/dotfiles/mcp.json").c_str(), 0644), 0);

  EXPECT_THAT(adopt().changed, ElementsAre("a", "b"));

  EXPECT_TRUE(std::filesystem::is_symlink(cursor_));
  struct stat status {};
  ASSERT_EQ(stat(cursor_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0644U);
  EXPECT_THAT(text("dotfiles/mcp.json"), HasSubstr("/usr/bin/corral"));
  EXPECT_THAT(release().changed, SizeIs(2));
  EXPECT_EQ(text("dotfiles/mcp.json"), kTwo);
}

TEST_F(AdoptFiles, HaveACopyThatOnlyTheUserCanRead) {
  write("home/.cursor/mcp.json", kTwo);

  const FileOutcome outcome = adopt();

  struct stat status {};
  ASSERT_EQ(stat(outcome.copy.c_str(), &status), 0) << outcome.copy;
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  EXPECT_EQ(text(outcome.copy.substr(root().size() + 1)), kTwo);
  EXPECT_THAT(outcome.copy, HasSubstr("/state/adopted/mcp.json-"));
  release();
  write("home/.cursor/mcp.json", "{\"mcpServers\": {\"c\": {\"command\": \"z\"}}}");
  EXPECT_EQ(adopt().copy, outcome.copy);
  EXPECT_EQ(text(outcome.copy.substr(root().size() + 1)), kTwo) << "the first one of a day stays";
}

TEST_F(AdoptFiles, ThatAreNoJsonAreNamedByLine) {
  const std::string broken = "{\n  \"mcpServers\": {\n    \"a\": }\n}\n";
  write("home/.cursor/mcp.json", broken);

  EXPECT_THAT(looks().front().error, HasSubstr(cursor_ + ":3:"));
  EXPECT_THAT(
      adopt_file({looks().front().file, {{{"mcpServers", "a"}, "x"}}, Through::Connect, "/c"}, desk_).error,
      HasSubstr(cursor_ + ":3:"));
  EXPECT_EQ(text(), broken);
}

TEST_F(AdoptFiles, ThatAreDirectoriesAreNamed) {
  std::filesystem::create_directories(cursor_);

  EXPECT_THAT(looks().front().error, HasSubstr("not a regular file"));
  EXPECT_THAT(
      adopt_file({looks().front().file, {{{"mcpServers", "a"}, "x"}}, Through::Connect, "/c"}, desk_).error,
      HasSubstr("not a regular file"));
}

TEST_F(AdoptFiles, ThatAreEmptyHaveNothingToChange) {
  write("home/.cursor/mcp.json", "");

  EXPECT_EQ(looks().front().error, "");
  EXPECT_THAT(adopt().changed, IsEmpty());
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(AdoptFiles, ThatAreReadOnlyStay) {
  write("home/.cursor/mcp.json", kTwo);
  ASSERT_EQ(chmod(cursor_.c_str(), 0444), 0);

  EXPECT_THAT(adopt().error, AllOf(HasSubstr("is read-only"), HasSubstr("chmod u+w")));
  EXPECT_EQ(text(), kTwo);
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(AdoptFiles, OfAnotherUserStay) {
  write("home/.cursor/mcp.json", kTwo);
  constexpr uid_t kAnother = 12'345;
  if (chown(cursor_.c_str(), kAnother, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "needs root";

  EXPECT_THAT(looks().front().error, HasSubstr("belongs to another user"));
  EXPECT_THAT(
      adopt_file({looks().front().file, {{{"mcpServers", "a"}, "x"}}, Through::Connect, "/c"}, desk_).error,
      HasSubstr("belongs to another user"));
  EXPECT_EQ(text(), kTwo);
}

TEST_F(AdoptFiles, WithASecondNameStay) {
  write("home/.cursor/mcp.json", kTwo);
  std::filesystem::create_hard_link(cursor_, root() + "/other");

  EXPECT_THAT(adopt().error, HasSubstr("hard link"));
  EXPECT_EQ(text(), kTwo);
}

TEST_F(AdoptFiles, StayIfTheDiskIsFull) {
  // Nothing may be longer than the ledger, so that the copy of the file is what fails.
  const std::string large = std::string(kTwo) + std::string(200'000, ' ');
  write("home/.cursor/mcp.json", large);
  const FileLook look = looks().front();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit little{100'000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);

  const FileOutcome outcome = adopt(look);

  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_THAT(outcome.error, HasSubstr("cannot be written"));
  EXPECT_THAT(outcome.changed, IsEmpty());
  EXPECT_EQ(text(), large);
  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(root() + "/home/.cursor"), {}), 1) << "no rest";
}

TEST_F(AdoptFiles, OfFiveMegabytesAreChanged) {
  std::string large = "{\"history\": [";
  while (large.size() < (std::size_t{5} << 20))
    large += "\"a line that somebody has typed, with \\\"quotes\\\"\", ";
  large += "0], \"mcpServers\": {\"a\": {\"command\": \"x\"}}}";
  write("home/.cursor/mcp.json", large);

  EXPECT_THAT(adopt().changed, ElementsAre("a"));
  EXPECT_EQ(text().size(), large.size() +
                               std::string(R"(, "args": ["connect", "--name", "a", "--", "x"])").size() +
                               std::string("/usr/bin/corral").size() - 1);
  EXPECT_THAT(release().changed, ElementsAre("a"));
  EXPECT_TRUE(text() == large);
}

TEST_F(AdoptFiles, ThatChangeMeanwhileAreReadAgain) {
  write("home/.cursor/mcp.json", kTwo);
  int times = 0;
  desk_.before_commit = [this, &times] {
    if (++times > 2) return;
    const std::string more =
        R"({"mcpServers": {"a": {"command": "x", "args": ["1"]}, "b": {"command": "y"}}, "n": )";
    std::ofstream(cursor_) << more + std::to_string(times) + "}";
  };

  EXPECT_THAT(adopt().changed, ElementsAre("a", "b"));

  EXPECT_EQ(times, 3);
  EXPECT_THAT(text(), HasSubstr("\"n\": 2}"));
  EXPECT_THAT(rows(), SizeIs(2));
  EXPECT_EQ(standing(0), Standing::Ours);
}

TEST_F(AdoptFiles, ThatChangeEveryTimeStay) {
  write("home/.cursor/mcp.json", kTwo);
  int times = 0;
  desk_.before_commit = [&] {
    std::ofstream(cursor_) << std::string(kTwo) + std::string(static_cast<std::size_t>(++times), '\n');
  };

  EXPECT_THAT(adopt().error, HasSubstr("was changed by another program each time"));

  EXPECT_EQ(times, 5);
  EXPECT_THAT(text(), testing::Not(HasSubstr("corral")));
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(AdoptFiles, WhoseServerHasChangedSinceItWasShownStay) {
  write("home/.cursor/mcp.json", kTwo);
  const FileLook seen = looks().front();
  write("home/.cursor/mcp.json", R"({"mcpServers": {"a": {"command": "other", "args": ["1"]}}})");

  const FileOutcome outcome = adopt(seen);

  EXPECT_THAT(outcome.changed, IsEmpty());
  EXPECT_THAT(outcome.refused,
              ElementsAre(Pair("a", HasSubstr("changed meanwhile")), Pair("b", HasSubstr("gone"))));
}

TEST_F(AdoptFiles, AreChangedOnceByTwoAtATime) {
  write("home/.cursor/mcp.json", kTwo);
  const FileLook look = looks().front();
  FileOutcome first;
  FileOutcome second;

  std::thread other([&] { first = adopt(look); });
  second = adopt(look);
  other.join();

  EXPECT_EQ(first.changed.size() + second.changed.size(), 2U) << first.error << second.error;
  EXPECT_THAT(rows(), SizeIs(2));
  EXPECT_THAT(release().changed, SizeIs(2));
  EXPECT_EQ(text(), kTwo);
}

TEST_F(AdoptFiles, KeepWhatTheClientChangesElsewhere) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  std::string now = text();
  now.insert(now.find("\"b\""), R"("c": {"url": "https://x"}, )");
  now.replace(now.find("\"1\""), 3, "\"1\"");
  write("home/.cursor/mcp.json", now);

  EXPECT_THAT(release().changed, ElementsAre("a", "b"));

  EXPECT_EQ(
      text(),
      R"({"mcpServers": {"a": {"command": "x", "args": ["1"]}, "c": {"url": "https://x"}, "b": {"command": "y"}}})");
}

TEST_F(AdoptFiles, KeepWhatSomebodyHasChangedByHand) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  std::string now = text();
  now.replace(now.find("\"1\""), 3, "\"2\"");
  write("home/.cursor/mcp.json", now);
  EXPECT_EQ(standing(0), Standing::Changed);

  const FileOutcome outcome = release();

  EXPECT_THAT(outcome.changed, ElementsAre("b"));
  EXPECT_THAT(outcome.refused, ElementsAre(Pair("a", HasSubstr("changed since"))));
  EXPECT_THAT(text(), AllOf(HasSubstr("\"2\""), HasSubstr("/usr/bin/corral")));
  EXPECT_THAT(rows(), SizeIs(1));
}

TEST_F(AdoptFiles, AreForgottenIfTheyHaveGoneOrWerePutBack) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  write("home/.cursor/mcp.json",
        R"({"mcpServers": {"a": {"command": "x", "args": ["1"]}, "d": {"command": "y"}}})");
  EXPECT_EQ(standing(0), Standing::Undone);
  EXPECT_EQ(standing(1), Standing::Gone);
  const std::string before = text();

  const FileOutcome outcome = release();

  EXPECT_THAT(outcome.dropped,
              ElementsAre(Pair("a", HasSubstr("put back")), Pair("b", HasSubstr("no longer"))));
  EXPECT_EQ(text(), before);
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(AdoptFiles, MayBeGoneTogetherWithTheirClient) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  std::filesystem::remove_all(root() + "/home/.cursor");
  EXPECT_EQ(standing(0), Standing::Gone);

  const FileOutcome outcome = release();

  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.dropped, SizeIs(2));
  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(root() + "/home/.cursor")) << "it is not made again";
}

TEST_F(AdoptFiles, MayBeReleasedTwice) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  release();

  const FileOutcome again = release();

  EXPECT_EQ(again.error, "");
  EXPECT_THAT(again.changed, IsEmpty());
  EXPECT_THAT(again.dropped, IsEmpty());
}

TEST_F(AdoptFiles, ThatAReplacedCommandIsInAreForgotten) {
  write("home/.cursor/mcp.json", R"({"mcpServers": {"a": {"command": "x"}}})");
  adopt();
  const std::string other = R"({"mcpServers": {"a": {"command": "z"}}})";
  write("home/.cursor/mcp.json", other);
  EXPECT_EQ(standing(0), Standing::Replaced);

  EXPECT_THAT(release().dropped, ElementsAre(Pair("a", HasSubstr("another command"))));
  EXPECT_EQ(text(), other);
}

/// corral was killed between writing the row and replacing the file, or after that.
TEST_F(AdoptFiles, OfAnInterruptedRunAreSettledByTheNextOne) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  const std::string adopted = text();
  {
    Result<Ledger> ledger = Ledger::open(desk_.state_directory);
    ASSERT_TRUE(ledger);
    for (LedgerRow& row : ledger->rows()) row.state = LedgerRow::State::Pending;
    ASSERT_TRUE(ledger->save());
  }
  EXPECT_EQ(standing(0), Standing::Ours) << "the file was replaced";
  EXPECT_THAT(release().changed, SizeIs(2));
  EXPECT_EQ(text(), kTwo);

  write("home/.cursor/mcp.json", adopted);
  EXPECT_THAT(adopt().changed, IsEmpty()) << "it goes through corral already";
  write("home/.cursor/mcp.json", kTwo);
  EXPECT_THAT(adopt().changed, SizeIs(2));
}

/// A running client has read what corral wrote, and writes it again later.
TEST_F(AdoptFiles, ThatARunningClientPutsBackCanBeReleasedAgain) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  const std::string in_its_memory = text();
  EXPECT_THAT(release_file(cursor_, {}, desk_, Released::Remembered).changed, SizeIs(2));
  EXPECT_EQ(text(), kTwo);
  EXPECT_THAT(compare_open_rows(rows()).rows, IsEmpty()) << "there is nothing to report";

  write("home/.cursor/mcp.json", in_its_memory);

  EXPECT_THAT(compare_open_rows(rows()).standings, ElementsAre(Standing::Ours, Standing::Ours));
  EXPECT_THAT(release().changed, SizeIs(2));
  EXPECT_EQ(text(), kTwo);
  EXPECT_THAT(rows(), IsEmpty());
}

/// What was released under a running client is still written down after another change has failed.
TEST_F(AdoptFiles, WithAFailedChangeKeepTheRowsOfOtherServers) {
  write("home/.cursor/mcp.json", kTwo);
  adopt();
  const std::string in_its_memory = text();
  release_file(cursor_, {}, desk_, Released::Remembered);
  write("home/.cursor/mcp.json", R"({"mcpServers": {"c": {"command": "z"}}})");
  desk_.before_commit = [this] {
    std::filesystem::permissions(cursor_, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
  };
  EXPECT_NE(adopt().error, "");
  desk_.before_commit = {};
  EXPECT_THAT(rows(), SizeIs(2));
  std::filesystem::permissions(cursor_, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::remove);

  write("home/.cursor/mcp.json", in_its_memory);

  EXPECT_THAT(release().changed, SizeIs(2));
  EXPECT_EQ(text(), kTwo);
}

TEST_F(AdoptFiles, WithAFailedChangeLeaveNoPendingRow) {
  write("home/.cursor/mcp.json", kTwo);
  desk_.before_commit = [this] {
    std::filesystem::permissions(cursor_, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
  };

  EXPECT_NE(adopt().error, "");

  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_EQ(text(), kTwo);
}

}  // namespace
}  // namespace corral::adopt
