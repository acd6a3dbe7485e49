#include "knowledge/manifest_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.h"
#include "knowledge/launch_key.h"
#include "registry/sqlite_registry.h"
#include "survey/temp_files.h"

namespace corral::knowledge {
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
  std::string file() const { return root() + "/state/registry.db"; }
  std::unique_ptr<registry::Registry> next_daemon() { return registry::open_registry(loop_, file()); }

  Loop loop_;
  std::unique_ptr<registry::Registry> registry_ = next_daemon();
};

TEST_F(Manifests, AreThereForTheNextDaemon) {
  ManifestStore(registry_.get()).save("key", "files", about(R"({"tools":[]})"));
  registry_ = next_daemon();

  EXPECT_EQ(ManifestStore(registry_.get()).load("key"), about(R"({"tools":[]})"));
  EXPECT_EQ(ManifestStore(registry_.get()).load("other"), Manifest{});
}

TEST_F(Manifests, AreReplacedWhole) {
  ManifestStore store(registry_.get());
  store.save("key", "files", about(R"({"tools":["a long one that leaves no rest behind"]})"));
  store.save("key", "files", about("{}"));

  EXPECT_EQ(store.load("key"), about("{}"));
  EXPECT_EQ(registry_->manifest(name_digest("key")), manifest_text("files", about("{}")));
}

TEST_F(Manifests, ShowTheKeyNowhere) {
  ManifestStore(registry_.get()).save("TOKEN=hush", "files", about("{}"));

  std::string bytes;
  for (const char* ending : {"", "-wal"}) {
    std::ifstream stream(file() + ending, std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(stream), {});
  }
  EXPECT_THAT(bytes, testing::AllOf(HasSubstr("\"server\":\"files\""), testing::Not(HasSubstr("hush"))));
}

TEST_F(Manifests, WithoutARegistryAreNotKept) {
  ManifestStore store(nullptr);
  store.save("key", "files", about("{}"));

  EXPECT_EQ(store.load("key"), Manifest{});
}

TEST_F(Manifests, ThatDoNotExistAreNotWarnedOf) {
  CaptureStderr();
  EXPECT_EQ(ManifestStore(registry_.get()).load("key"), Manifest{});
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST_F(Manifests, ThatAreCorruptAreIgnoredWithOneWarning) {
  registry_->keep_manifest(name_digest("key"), "files", "{\"format\":1,");
  const ManifestStore store(registry_.get());

  CaptureStderr();
  EXPECT_EQ(store.load("key"), Manifest{});
  const std::string first = GetCapturedStderr();
  CaptureStderr();
  EXPECT_EQ(store.load("key"), Manifest{});
  const std::string second = GetCapturedStderr();

  EXPECT_THAT(
      first, testing::AllOf(HasSubstr(name_digest("key")), HasSubstr("corrupt"), HasSubstr("learned again")));
  EXPECT_EQ(second, "");
}

TEST_F(Manifests, ThatAreEmptyForeignOrOfAnotherFormatAreIgnored) {
  const std::pair<const char*, const char*> cases[] = {{"", "is corrupt"},
                                                       {R"({"mcpServers":{}})", "is not a manifest"},
                                                       {R"({"format":99})", "another version"}};
  for (const auto& [text, words] : cases) {
    registry_->keep_manifest(name_digest(words), "files", text);
    CaptureStderr();
    EXPECT_EQ(ManifestStore(registry_.get()).load(words), Manifest{});
    EXPECT_THAT(GetCapturedStderr(), HasSubstr(words));
  }
}

TEST(NameDigest, IsTheSameForTheSameTextOnly) {
  EXPECT_EQ(name_digest("a"), name_digest("a"));
  EXPECT_NE(name_digest("a"), name_digest("b"));
  EXPECT_EQ(name_digest("").size(), 36U);
}

}  // namespace
}  // namespace corral::knowledge
