// What needs attention in the status of a daemon that works.
#include "cli/screen/daemon_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace corral::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

const Build kOwn{"1.2.0", "2026-11-19"};

observe::DaemonView daemon_of(const std::string& version, const std::string& build) {
  observe::DaemonView daemon;
  daemon.version = version;
  daemon.build = build;
  daemon.program = "/usr/bin/corral";
  return daemon;
}

TEST(NewerProgram, TheSameBuildIsNotNamed) {
  EXPECT_THAT(newer_program(daemon_of("1.2.0", "2026-11-19"), kOwn), IsEmpty());
}

TEST(NewerProgram, AnOlderVersionIsNamedWithWhatToType) {
  EXPECT_THAT(
      newer_program(daemon_of("1.1.9", "2026-11-30"), kOwn),
      AllOf(HasSubstr("corral 1.2.0 (build 2026-11-19) is installed"), HasSubstr("1.1.9 (build 2026-11-30)"),
            HasSubstr("`corral serve --replace --background`")));
}

TEST(NewerProgram, AnOlderBuildOfTheSameVersionIsNamed) {
  EXPECT_THAT(newer_program(daemon_of("1.2.0", "2026-11-01"), kOwn), HasSubstr("build 2026-11-01"));
}

TEST(NewerProgram, ANewerDaemonIsNotNamed) {
  EXPECT_THAT(newer_program(daemon_of("1.3.0", "2026-12-01"), kOwn), IsEmpty());
  EXPECT_THAT(newer_program(daemon_of("1.2.0", "2026-12-01"), kOwn), IsEmpty());
}

TEST(NewerProgram, AReplacedFileIsNamedWhateverItsVersion) {
  observe::DaemonView daemon = daemon_of("1.2.0", "2026-11-19");
  daemon.program_replaced = true;
  EXPECT_THAT(newer_program(daemon, kOwn), HasSubstr("another program was installed at /usr/bin/corral"));
}

TEST(NewerProgram, ADaemonThatSaysNothingIsNotNamed) { EXPECT_THAT(newer_program({}, kOwn), IsEmpty()); }

TEST(DaemonNotes, OneForEachServerThatNobodyIsAttachedTo) {
  Overview overview;
  overview.daemon = daemon_of(own_build().version, own_build().date);
  for (const char* const server : {"files", "files", "memory", "quiet"}) {
    InstanceRow& row = overview.instances.emplace_back();
    row.server = server;
    if (row.server != "quiet") row.unattended = "nobody has been attached to Codex (pid 1) for 12m";
  }
  std::ostringstream text;
  Page page(text, {80, true, false});

  show_notes(page, overview);

  EXPECT_EQ(text.str(),
            "note: files: nobody has been attached to Codex (pid 1) for 12m.\n"
            "note: memory: nobody has been attached to Codex (pid 1) for 12m.\n");
}

}  // namespace
}  // namespace corral::cli
