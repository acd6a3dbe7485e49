#include "knowledge/manifest_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop.h"
#include "knowledge/manifest_store.h"
#include "knowledge/name_digest.h"
#include "registry/sqlite_registry.h"
#include "survey/temp_files.h"

namespace corral::knowledge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

Manifest about(const std::string& list) {
  Manifest manifest;
  manifest.portraits["plain"].lists[0] = list;
  return manifest;
}

class ManifestFiles : public survey::TempFiles {
 protected:
  std::string folder() const { return root() + "/manifests"; }
  std::string file_of(const std::string& key) const { return folder() + "/" + name_digest(key) + ".json"; }
  void write_manifest(const std::string& key) const {
    write(file_of(key), manifest_text("files", about("{}")));
  }
  static void set_age(const std::string& path, time_t seconds) {
    const timespec then{time(nullptr) - seconds, 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  bool known(const std::string& key) { return registry_->manifest(name_digest(key)).has_value(); }
  /// What it says.
  std::string move() {
    CaptureStderr();
    move_manifests(folder(), *registry_);
    return GetCapturedStderr();
  }

  Loop loop_;
  std::unique_ptr<registry::Registry> registry_ = registry::open_registry(loop_, root() + "/registry.db");
};

TEST_F(ManifestFiles, AreTakenOverOnceAndTheirFolderGoes) {
  write_manifest("one");
  write_manifest("two");

  EXPECT_EQ(move(), "");

  EXPECT_EQ(ManifestStore(registry_.get()).load("one"), about("{}"));
  EXPECT_EQ(ManifestStore(registry_.get()).load("two"), about("{}"));
  EXPECT_FALSE(std::filesystem::exists(folder()));
  EXPECT_EQ(move(), "");
}

TEST_F(ManifestFiles, DoNotReplaceWhatIsKnown) {
  ManifestStore(registry_.get()).save("key", "files", about(R"({"a":1})"));
  write_manifest("key");

  move();

  EXPECT_EQ(ManifestStore(registry_.get()).load("key"), about(R"({"a":1})"));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(ManifestFiles, StayWhileTheRegistryCannotKeepThem) {
  registry_ = registry::open_registry(loop_, "/dev/null/registry.db");
  ASSERT_NE(registry_->degraded(), "");
  write_manifest("key");

  move();

  EXPECT_TRUE(std::filesystem::exists(file_of("key")));
}

TEST_F(ManifestFiles, ThatAreCorruptForeignOrLargeAreToldAndRemoved) {
  const std::pair<const char*, std::string> cases[] = {
      {"is corrupt", "{\"format\":1,"},
      {"is no manifest", R"({"mcpServers":{}})"},
      {"another version", R"({"format":99})"},
      {"larger than 8 MiB", std::string(kLargestManifest + 1, ' ')}};
  for (const auto& [words, text] : cases) {
    write(file_of(words), text);
    EXPECT_THAT(move(), AllOf(HasSubstr(file_of(words)), HasSubstr(words), HasSubstr("learned anew")));
    EXPECT_FALSE(known(words));
  }
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(ManifestFiles, AreNotFollowedThroughLinks) {
  const std::string elsewhere = write("elsewhere", manifest_text("files", about("{}")));
  link("manifests/" + name_digest("key") + ".json", elsewhere);

  EXPECT_THAT(move(), HasSubstr("symbolic link"));

  EXPECT_FALSE(known("key"));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
}

TEST_F(ManifestFiles, ThatAreNoFilesNeitherBlockNorCrash) {
  std::filesystem::create_directories(file_of("folder"));
  ASSERT_EQ(mkfifo(file_of("pipe").c_str(), 0600), 0);

  EXPECT_THAT(move(), HasSubstr("no regular file"));

  EXPECT_TRUE(std::filesystem::exists(file_of("folder")));
}

TEST_F(ManifestFiles, ThatBelongToSomebodyElseStay) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write_manifest("key");
  ASSERT_EQ(chown(file_of("key").c_str(), 65534, 65534), 0);

  move();

  EXPECT_FALSE(known("key"));
  EXPECT_TRUE(std::filesystem::exists(file_of("key")));
}

TEST_F(ManifestFiles, AreNotTakenFromWhereOthersMayWrite) {
  write_manifest("key");
  ASSERT_EQ(chmod(folder().c_str(), 0777), 0);

  EXPECT_THAT(move(), HasSubstr("not yours alone"));

  EXPECT_FALSE(known("key"));
}

TEST_F(ManifestFiles, BeyondTheLimitTheOldestGo) {
  for (std::size_t i = 0; i < kMostManifests + 3; ++i) {
    write_manifest(std::to_string(i));
    set_age(file_of(std::to_string(i)), static_cast<time_t>(1000 - i));
  }

  move();

  for (const char* gone : {"0", "1", "2"}) EXPECT_FALSE(known(gone)) << gone;
  for (const char* kept : {"3", "258"}) EXPECT_TRUE(known(kept)) << kept;
  ManifestStore(registry_.get()).save("new", "files", about("{}"));
  EXPECT_FALSE(known("3"));
}

TEST_F(ManifestFiles, NeverCostAFileThatIsNotOurs) {
  write_manifest("key");
  const std::string notes = write(folder() + "/notes.json", "mine");

  move();

  EXPECT_TRUE(known("key"));
  EXPECT_TRUE(std::filesystem::exists(notes));
}

TEST_F(ManifestFiles, HalfWrittenOnesOfTheDeadGoAndThoseOfTheLivingStay) {
  const std::string dead = write(file_of("a") + ".1.tmp", "{");
  const std::string living = write(file_of("b") + ".2.tmp", "{");
  set_age(dead, 100'000);

  EXPECT_THAT(move(), IsEmpty());

  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(living));
}

}  // namespace
}  // namespace corral::knowledge
