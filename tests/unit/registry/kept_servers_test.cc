// What commands learn about servers from the registry's file, beside a daemon and without one.
#include "registry/kept_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/utc_time.h"
#include "registry/registry_files.h"

namespace corral::registry {
namespace {

using events::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

class KeptServers : public RegistryFiles {
 protected:
  std::map<std::string, KeptServer> kept() const {
    const auto servers = read_kept_servers(path());
    EXPECT_TRUE(servers) << (servers ? "" : servers.error().message);
    return servers ? *servers : std::map<std::string, KeptServer>{};
  }
};

events::Event happened(std::uint64_t number, Kind kind, const std::string& server, const std::string& text) {
  return {.number = number, .time_ms = unix_time_ms(), .kind = kind, .server = server, .text = text};
}

TEST_F(KeptServers, HaveTheirManifestsTheNewestFirst) {
  {
    const auto registry = open();
    registry->begin(daemon_called("d"));
    for (const char* const text : {"1", "2", "3", "4", "5"}) {
      registry->keep_manifest(std::string("digest") + text, "files", text);
    }
    registry->keep_manifest("other", "notes", "n");
    // The daemon still has the file open.
    EXPECT_THAT(kept()["files"].manifests, ElementsAre("5", "4", "3", "2"));
  }
  EXPECT_THAT(kept()["notes"].manifests, ElementsAre("n"));
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(KeptServers, HaveTheirLastFailureUntilTheyWorkAgain) {
  const auto registry = open();
  registry->begin(daemon_called("d"));
  registry->keep(happened(1, Kind::Failed, "files", "not found"));
  registry->keep(happened(2, Kind::Crash, "notes", "exited with code 1"));
  registry->keep(happened(3, Kind::Spawn, "files", "irrelevant"));
  registry->keep(happened(4, Kind::Ready, "notes", ""));
  registry->flush();

  EXPECT_EQ(kept()["files"].failure, "not found");
  EXPECT_GT(kept()["files"].failure_ms, 0);
  EXPECT_EQ(kept()["notes"].failure, "");

  registry->keep(happened(5, Kind::Broken, "notes", "died too often"));
  registry->flush();
  EXPECT_EQ(kept()["notes"].failure, "died too often");
}

TEST_F(KeptServers, KnowWhatWasWrittenBeforeAFailureAndAlsoARefusal) {
  const auto registry = open();
  registry->begin(daemon_called("d"));
  events::Event crash = happened(1, Kind::Crash, "files", "exited with code 3");
  crash.error_lines = {"no licence", "good bye"};
  registry->keep(crash);
  registry->keep(happened(2, Kind::Refused, "off", "refused: it is disabled"));

  EXPECT_EQ(kept()["files"].failure_kind, "crash");
  EXPECT_THAT(kept()["files"].error_lines, ElementsAre("no licence", "good bye"));
  EXPECT_EQ(kept()["off"].failure, "it is disabled");
  EXPECT_EQ(kept()["off"].failure_kind, "refused");
}

TEST_F(KeptServers, AreNotLookedForInAFileThatIsNotTheRegistry) {
  EXPECT_EQ(read_kept_servers(path()).error().kind, Error::Kind::NotFound);
  EXPECT_FALSE(std::filesystem::exists(path()));

  std::filesystem::create_directories(root() + "/state");
  std::ofstream(path()) << std::string(5000, 'x');
  EXPECT_THAT(read_kept_servers(path()).error().message, HasSubstr("cannot be read: it is damaged"));
  EXPECT_EQ(content_of(path()).size(), 5000U);

  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_THAT(read_kept_servers(path()).error().message, HasSubstr("it is not a regular file"));
}

TEST_F(KeptServers, AreNoneInAnEmptyFile) {
  std::filesystem::create_directories(root() + "/state");
  std::ofstream(path()) << "";

  EXPECT_EQ(read_kept_servers(path()).error().kind, Error::Kind::NotFound);
  EXPECT_EQ(content_of(path()), "");
}

}  // namespace
}  // namespace corral::registry
