#include "server/manifest_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "server/name_digest.h"
#include "survey/temp_files.h"

namespace corral::server {
namespace {

using testing::HasSubstr;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

Manifest about(const std::string& list) {
  Manifest manifest;
  manifest.portraits["plain"].lists[0] = list;
  return manifest;
}

class Manifests : public survey::TempFiles {
 protected:
  std::string folder() const { return root() + "/state/corral"; }
  std::string file_of(const std::string& key) const { return folder() + "/" + name_digest(key) + ".json"; }
  static mode_t mode_of(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
  }
  static void set_age(const std::string& path, time_t seconds) {
    const timespec then{time(nullptr) - seconds, 0};
    const timespec times[2] = {then, then};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }
  /// Loads with a new store; the words that it logs.
  std::string words_on_loading(const std::string& key) const {
    CaptureStderr();
    EXPECT_EQ(ManifestStore(folder()).load(key), Manifest{});
    return GetCapturedStderr();
  }
};

TEST_F(Manifests, AreThereForTheNextDaemon) {
  ManifestStore(folder()).save("key", "files", about(R"({"tools":[]})"));

  EXPECT_EQ(ManifestStore(folder()).load("key"), about(R"({"tools":[]})"));
  EXPECT_EQ(ManifestStore(folder()).load("other"), Manifest{});
}

TEST_F(Manifests, AreReplacedWhole) {
  ManifestStore store(folder());
  store.save("key", "files", about(R"({"tools":["a long one that leaves no rest behind"]})"));
  store.save("key", "files", about("{}"));

  EXPECT_EQ(store.load("key"), about("{}"));
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(Manifests, AreForTheirOwnerAlone) {
  ManifestStore(folder()).save("key", "files", about("{}"));

  EXPECT_EQ(mode_of(folder()), 0700U);
  EXPECT_EQ(mode_of(file_of("key")), 0600U);
}

TEST_F(Manifests, ShowTheKeyNowhere) {
  ManifestStore(folder()).save("TOKEN=hush", "files", about("{}"));

  EXPECT_THAT(names(), testing::ElementsAre(testing::Not(HasSubstr("hush"))));
  std::ifstream file(file_of("TOKEN=hush"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, testing::AllOf(HasSubstr("files"), testing::Not(HasSubstr("hush"))));
}

TEST_F(Manifests, WithoutAFolderAreNotKept) {
  ManifestStore store("");
  store.save("key", "files", about("{}"));

  EXPECT_EQ(store.load("key"), Manifest{});
}

TEST_F(Manifests, ThatDoNotExistAreNotWarnedOf) { EXPECT_EQ(words_on_loading("key"), ""); }

TEST_F(Manifests, ThatAreCorruptAreIgnoredWithOneWarning) {
  write(file_of("key"), "{\"format\":1,");
  const ManifestStore store(folder());

  CaptureStderr();
  EXPECT_EQ(store.load("key"), Manifest{});
  const std::string first = GetCapturedStderr();
  CaptureStderr();
  EXPECT_EQ(store.load("key"), Manifest{});
  const std::string second = GetCapturedStderr();

  EXPECT_THAT(first,
              testing::AllOf(HasSubstr(file_of("key")), HasSubstr("corrupt"), HasSubstr("learned anew")));
  EXPECT_EQ(second, "");
}

TEST_F(Manifests, ThatAreEmptyForeignOrOfAnotherFormatAreIgnored) {
  write(file_of("empty"), "");
  write(file_of("foreign"), R"({"mcpServers":{}})");
  write(file_of("later"), R"({"format":99})");

  EXPECT_THAT(words_on_loading("empty"), HasSubstr("is corrupt"));
  EXPECT_THAT(words_on_loading("foreign"), HasSubstr("is no manifest"));
  EXPECT_THAT(words_on_loading("later"), HasSubstr("another version"));
}

TEST_F(Manifests, AreNotFollowedThroughLinksAndReplaceThem) {
  const std::string elsewhere = write("elsewhere", manifest_text("files", about("{}")));
  link("state/corral/" + name_digest("key") + ".json", elsewhere);

  EXPECT_THAT(words_on_loading("key"), HasSubstr("symbolic link"));
  ManifestStore(folder()).save("key", "files", about(R"({"a":1})"));
  EXPECT_EQ(ManifestStore(folder()).load("key"), about(R"({"a":1})"));
  EXPECT_FALSE(std::filesystem::is_symlink(file_of("key")));
  std::ifstream file(elsewhere);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, manifest_text("files", about("{}")));
}

TEST_F(Manifests, ThatAreNoFilesNeitherBlockNorCrash) {
  std::filesystem::create_directories(file_of("folder"));
  ASSERT_EQ(mkfifo(file_of("pipe").c_str(), 0600), 0);

  EXPECT_THAT(words_on_loading("folder"), HasSubstr("no regular file"));
  EXPECT_THAT(words_on_loading("pipe"), HasSubstr("no regular file"));
}

TEST_F(Manifests, ThatAreTooLargeAreNotRead) {
  write(file_of("key"), "");
  std::filesystem::resize_file(file_of("key"), kLargestManifest + 1);

  EXPECT_THAT(words_on_loading("key"), HasSubstr("larger than 8 MiB"));
}

TEST_F(Manifests, ThatBelongToSomebodyElseAreNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write(file_of("key"), manifest_text("files", about("{}")));
  ASSERT_EQ(chown(file_of("key").c_str(), 65534, 65534), 0);

  EXPECT_THAT(words_on_loading("key"), HasSubstr("belongs to user 65534"));
}

TEST_F(Manifests, ThatCannotBeKeptAreToldOnce) {
  write("state", "a file where a folder should be");
  ManifestStore store(folder());

  CaptureStderr();
  store.save("key", "files", about("{}"));
  const std::string first = GetCapturedStderr();
  CaptureStderr();
  store.save("key", "files", about("{}"));
  store.save("other", "files", about("{}"));
  const std::string later = GetCapturedStderr();

  EXPECT_THAT(first, testing::AllOf(HasSubstr(folder()), HasSubstr("not kept")));
  EXPECT_EQ(later, "");
}

TEST_F(Manifests, AreNotWrittenWhereOthersMayWriteToo) {
  std::filesystem::create_directories(folder());
  ASSERT_EQ(chmod(folder().c_str(), 0777), 0);

  CaptureStderr();
  ManifestStore(folder()).save("key", "files", about("{}"));

  EXPECT_THAT(GetCapturedStderr(), HasSubstr("not yours alone"));
  EXPECT_TRUE(names().empty());
}

TEST_F(Manifests, BeyondTheLimitTheOldestGo) {
  for (std::size_t i = 0; i < kMostManifests + 3; ++i) {
    const std::string path = write(file_of(std::to_string(i)), "{}");
    set_age(path, static_cast<time_t>(1000 - i));
  }

  ManifestStore(folder()).save("new", "files", about("{}"));

  EXPECT_EQ(names().size(), kMostManifests);
  for (const char* gone : {"0", "1", "2", "3"}) EXPECT_FALSE(std::filesystem::exists(file_of(gone))) << gone;
  for (const char* kept : {"4", "258", "new"}) EXPECT_TRUE(std::filesystem::exists(file_of(kept))) << kept;
}

TEST_F(Manifests, NeverCostAFileThatIsNotOurs) {
  for (std::size_t i = 0; i < kMostManifests + 3; ++i) write(file_of(std::to_string(i)), "{}");
  const std::string notes = write(folder() + "/notes.json", "mine");
  set_age(notes, 100'000);

  ManifestStore(folder()).save("new", "files", about("{}"));

  EXPECT_TRUE(std::filesystem::exists(notes));
  EXPECT_EQ(names().size(), kMostManifests + 1);
}

TEST_F(Manifests, HalfWrittenOnesOfTheDeadGoAndThoseOfTheLivingStay) {
  const std::string dead = write(file_of("a") + ".1.tmp", "{");
  const std::string living = write(file_of("b") + ".2.tmp", "{");
  set_age(dead, 100'000);

  ManifestStore(folder()).save("new", "files", about("{}"));

  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(living));
}

TEST(NameDigest, IsTheSameForTheSameTextOnly) {
  EXPECT_EQ(name_digest("a"), name_digest("a"));
  EXPECT_NE(name_digest("a"), name_digest("b"));
  EXPECT_EQ(name_digest("").size(), 36U);
}

}  // namespace
}  // namespace corral::server
