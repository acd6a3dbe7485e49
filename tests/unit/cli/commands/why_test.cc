// What `corral why` says of a server and of a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/screen/overview.h"
#include "cli/screen/sharing_text.h"
#include "cli/told_daemon.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kStatus = R"({
  "servers":[{"name":"files"},{"name":"quiet"},{"name":"42"}],
  "instances":[
    {"server":"files","id":"aaaaaaaa11","pid":1040,"keeper":1039,"state":"ready","share":"shared",
     "reason":"shared: every tool is annotated as read-only","separate":null,"differs":[],"hint":null,
     "sessions":[1,2],"uptime_ms":250000,"ends_in_ms":null,
     "usage":{"memory":1,"cpu":0,"processes":[{"pid":1040,"parent":1039,"name":"npm"},{"pid":1077,"parent":1040,"name":"node"}]}},
    {"server":"files","id":"bbbbbbbb22","pid":1044,"keeper":1043,"state":"idle","share":"shared",
     "reason":"shared: every tool is annotated as read-only","separate":"separate from process 1040: PATH differs",
     "differs":["PATH"],"hint":"to share it: \"corral\": {\"ignore\": [\"PATH\"]} in the entry \"files\"",
     "sessions":[],"uptime_ms":9000,"ends_in_ms":370000},
    {"server":"notes","id":"cccccccc33","pid":301,"keeper":300,"state":"ready","share":"session",
     "reason":"private: not known to be safe to share","hint":"to share it: corral connect --share shared -- COMMAND",
     "sessions":[3],"uptime_ms":1000}],
  "sessions":[
    {"id":1,"server":"files","client":{"pid":812,"name":"codex","version":"1.2"},"state":"ready","instance":"aaaaaaaa11"},
    {"id":2,"server":"files","client":{"pid":0,"name":"claude"},"state":"ready","instance":"aaaaaaaa11"},
    {"id":3,"server":"notes","client":{"pid":900,"name":"cursor"},"state":"ready","instance":"cccccccc33"},
    {"id":4,"server":"later","client":{"pid":900,"name":"cursor"},"state":"parked","instance":null}]})";

class Why : public testing::Test {
 protected:
  Why() { daemon_.status(kStatus); }
  Seen run(std::vector<std::string> words) {
    words.insert(words.begin(), {"why", "--runtime-dir", daemon_.runtime_dir()});
    return run_command(std::move(words));
  }

  ToldDaemon daemon_;
};

TEST_F(Why, ExplainsEveryProcessOfAServer) {
  const Seen seen = run({"files"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_EQ(seen.out, R"(files, process 1040: ready, up 4m 10s
  shared: every tool is annotated as read-only
  for codex 1.2 (pid 812), claude (by URL)

files, process 1044: idle, ends in 7m, up 9s
  shared: every tool is annotated as read-only
  separate from process 1040: PATH differs
  to share it: "corral": {"ignore": ["PATH"]} in the entry "files"
  for no session now
)");
}

TEST_F(Why, SaysHowAServerFailed) {
  daemon_.status(R"({"servers":[{"name":"files"}],"instances":[],"sessions":[],
    "failures":[{"server":"files","kind":"crash","text":"it exited with code 3","age_ms":3000,"stderr":["good bye"]},
                {"server":"notes","kind":"failed","text":"no such command","age_ms":4000}]})");

  EXPECT_EQ(run({"files"}).out,
            R"(files has no process and no session now
files failed 3s ago: it exited with code 3
  stderr: good bye
)");
  const Seen brought = run({"notes"});
  EXPECT_EQ(brought.code, 0) << "also one that only failed";
  EXPECT_THAT(brought.out, HasSubstr("notes failed 4s ago: no such command\n"));
  const auto both = boost::json::parse(run({"--json", "files"}).out);
  EXPECT_EQ(both.at("failures").as_array().size(), 1U);
  EXPECT_EQ(both.at("failures").at(0).at("server"), "files");
}

TEST_F(Why, TakesAnyProcessOfATree) {
  for (const char* const pid : {"1039", "1040", "1077"}) {
    const Seen seen = run({pid});
    EXPECT_EQ(seen.code, 0) << pid << seen.errors;
    EXPECT_THAT(seen.out, HasSubstr("files, process 1040")) << pid;
    EXPECT_THAT(seen.out, Not(HasSubstr("1044"))) << pid;
  }
  EXPECT_THAT(run({"301"}).out, HasSubstr("to share it: corral connect --share shared -- COMMAND"));
}

TEST_F(Why, SaysThatThereIsNothingToExplainYet) {
  EXPECT_THAT(run({"quiet"}).out, HasSubstr("quiet has no process and no session now"));
  EXPECT_THAT(run({"42"}).out, HasSubstr("42 has no process")) << "a server may be called by a number";
  EXPECT_THAT(run({"later"}).out,
              HasSubstr("later, session 4 of cursor (pid 900): parked; has no process now; the next call"));
}

TEST_F(Why, NamesAClientWithSeveralWindowsOnce) {
  daemon_.status(R"({
    "instances":[{"server":"files","id":"a","pid":10,"state":"ready","reason":"shared: safe","sessions":[1,2,3,4]}],
    "sessions":[
      {"id":1,"server":"files","client":{"pid":812,"name":"claude","version":"2.0"},"instance":"a"},
      {"id":2,"server":"files","client":{"pid":900,"name":"cursor"},"instance":"a"},
      {"id":3,"server":"files","client":{"pid":813,"name":"claude","version":"2.0"},"instance":"a"},
      {"id":4,"server":"files","client":{"pid":812,"name":"claude","version":"2.0"},"instance":"a"},
      {"id":5,"server":"later","client":{"pid":0,"name":"web"},"state":"parked","instance":null},
      {"id":6,"server":"later","client":{"pid":0,"name":"web"},"state":"parked","instance":null}]})");

  EXPECT_THAT(run({"files"}).out, HasSubstr("for claude 2.0 x3 (pids 812, 813), cursor (pid 900)\n"));
  EXPECT_THAT(run({"later"}).out,
              HasSubstr("later, 2 sessions of web x2 (by URL): parked; has no process now"));
}

TEST_F(Why, NamesTheNearestServerAndWhatExplainsOtherProcesses) {
  const Seen mistyped = run({"filse"});
  EXPECT_EQ(mistyped.code, 125);
  EXPECT_EQ(mistyped.errors, "corral why: no server is called 'filse': did you mean files?\n");

  EXPECT_THAT(run({"nosuchthing"}).errors, HasSubstr("'nosuchthing': `corral list` lists the servers\n"));
  const Seen foreign = run({"77777"});
  EXPECT_EQ(foreign.code, 125);
  EXPECT_THAT(foreign.errors, HasSubstr("process 77777 belongs to no server of the daemon"));
  EXPECT_THAT(foreign.errors, HasSubstr("`corral who 77777`"));
}

TEST_F(Why, NeedsOneServerOrPid) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, std::vector<std::string>{""}, std::vector<std::string>{"a", "b"}}) {
    const Seen seen = run(words);
    EXPECT_EQ(seen.code, 125);
    EXPECT_EQ(seen.errors, "corral why: give one server or pid, as in `corral why memory`\n");
  }
  EXPECT_EQ(run({"-1"}).code, 125);
  EXPECT_EQ(run({"99999999999999999999"}).code, 125);
}

TEST_F(Why, PrintsTheInstancesAsJson) {
  const Seen seen = run({"files", "--json"});

  const boost::json::value found = boost::json::parse(seen.out);
  ASSERT_EQ(found.at("instances").as_array().size(), 2U);
  EXPECT_EQ(found.at("instances").at(1).at("differs").at(0), "PATH");
}

TEST(SharingLines, AreWhatIsKnown) {
  observe::InstanceView instance;
  instance.share = "session";
  EXPECT_THAT(sharing_lines(instance), ElementsAre("session")) << "of an older daemon";
  instance.reason = "shared: for all";
  instance.root = "/srv/project";
  EXPECT_THAT(sharing_lines(instance), ElementsAre("shared: for all", "for the project /srv/project"));
}

TEST(ShownState, SaysWhenAnIdleInstanceEnds) {
  using std::chrono::seconds;
  observe::InstanceView instance;
  instance.state = "idle";
  EXPECT_EQ(shown_state(instance), "idle");
  instance.ends_in = seconds(370);
  EXPECT_EQ(shown_state(instance), "idle, ends in 7m");
  instance.ends_in = seconds(42);
  EXPECT_EQ(shown_state(instance), "idle, ends in 42s");
  instance.ends_in = seconds(3600);
  EXPECT_EQ(shown_state(instance), "idle, ends in 1h");
  instance.state = "ready";
  EXPECT_EQ(shown_state(instance), "ready");
  instance.state = "";
  EXPECT_EQ(shown_state(instance), "-");
}

}  // namespace
}  // namespace corral::cli
