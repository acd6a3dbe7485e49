// `corral reap` on a terminal: it asks about each group, and does what it was told and nothing else.
#include <gmock/gmock.h>

#include <fstream>

#include "support/eventually.h"
#include "support/survey_test.h"
#include "support/terminal.h"

namespace corral::os_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr const char* kQuestion = "[y]es, [N]o, [a]ll groups, [q]uit: ";

double uptime() {
  double seconds = 0;
  std::ifstream("/proc/uptime") >> seconds;
  return seconds;
}

/// Two groups of orphans, the files first and older.
class ReapAsks : public SurveyTest {
 protected:
  void SetUp() override {
    SurveyTest::SetUp();
    const std::string notes = install(programs().adversary, "servers/notes-server");
    write("home/.codex/config.toml", "[mcp_servers.files]\ncommand = \"" + server() +
                                         "\"\n[mcp_servers.notes]\ncommand = \"" + notes + "\"\n");
    files_.emplace(client("codex", 2, server_line()), 2);
    const double then = uptime();
    eventually([&] { return uptime() > then + 0.05; });  // start times have a resolution of 10 ms
    notes_.emplace(client("codex", 2, {notes, "--tag=" + tag(), "--life=60", "--ignore-eof"}), 2);
    files_->die();
    notes_->die();

    Launch launch = corral_launch({"reap", "--match", tag()});
    launch.in = launch.out = Stdio::Terminal;
    launch.terminal = &terminal_;
    terminal_.resize(80, 24);
    reap_.emplace(launch);
  }
  void TearDown() override {
    reap_.reset();
    SurveyTest::TearDown();
  }

  Terminal& terminal() { return terminal_; }
  Session& reap() { return *reap_; }
  std::vector<pid_t> files() const { return living(files_->servers()); }
  std::vector<pid_t> notes() const { return living(notes_->servers()); }

 private:
  Terminal terminal_;
  std::optional<Holder> files_;
  std::optional<Holder> notes_;
  std::optional<Session> reap_;
};

TEST_F(ReapAsks, AboutEachGroupAndEndsNothingBefore) {
  ASSERT_TRUE(terminal().shows("2 orphans of files-server, left by Codex")) << terminal().screen();
  ASSERT_TRUE(terminal().shows(kQuestion)) << terminal().screen();
  EXPECT_THAT(files(), SizeIs(2));
  terminal().type("y\r");
  ASSERT_TRUE(terminal().shows("2 orphans of notes-server, left by Codex")) << terminal().screen();
  ASSERT_TRUE(terminal().shows(kQuestion)) << terminal().screen();
  EXPECT_THAT(files(), SizeIs(2));  // only when all is said
  terminal().type("n\r");

  EXPECT_TRUE(terminal().shows("Ended: 2 servers")) << terminal().screen();
  EXPECT_EQ(reap().wait(), 0);
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(notes(), SizeIs(2));
}

TEST_F(ReapAsks, AndTakesEnterForNo) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("\r");
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("yes\r");

  EXPECT_EQ(reap().wait(), 0);
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(ReapAsks, AndTakesWhatItDoesNotUnderstandForNo) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("what?\r");
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("\xff\xfe\r");

  EXPECT_EQ(reap().wait(), 0);
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_THAT(notes(), SizeIs(2));
}

TEST_F(ReapAsks, AndEndsAllAfterOneAnswer) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("a\r");

  EXPECT_TRUE(terminal().shows("Ended: 4 servers")) << terminal().screen();
  EXPECT_EQ(reap().wait(), 0);
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(notes(), IsEmpty());
}

TEST_F(ReapAsks, AndLeavesAtOnceWithNothingAgreed) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("q\r");

  EXPECT_EQ(reap().wait(), 0);
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_THAT(notes(), SizeIs(2));
}

TEST_F(ReapAsks, AndTakesTheEndOfInputForLeaving) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("\x04");

  EXPECT_EQ(reap().wait(), 0);
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_THAT(notes(), SizeIs(2));
}

TEST_F(ReapAsks, AndEndsNothingOnCtrlC) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type("y\r");
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().type(Terminal::kCtrlC);

  EXPECT_EQ(reap().wait(), 130);
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_THAT(notes(), SizeIs(2));
}

TEST_F(ReapAsks, AndEndsNothingWhenTheWindowCloses) {
  ASSERT_TRUE(terminal().shows(kQuestion));
  terminal().close_window();

  EXPECT_TRUE(reap().wait());
  EXPECT_THAT(files(), SizeIs(2));
  EXPECT_THAT(notes(), SizeIs(2));
}

}  // namespace
}  // namespace corral::os_tests
