#include "cli/screen/ps_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/status_samples.h"

namespace corral::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string table_of(const Overview& overview, std::size_t width, bool unicode = true, bool bold = false,
                     PsView view = {}) {
  std::ostringstream out;
  Page page(out, {width, unicode, bold});
  show_process_table(page, overview, view);
  return out.str();
}

std::string verbose_of(const Overview& overview, std::size_t width) {
  return table_of(overview, width, true, false, {.verbose = true});
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string trees_of(const Overview& overview, std::size_t width = 100, bool unicode = true) {
  std::ostringstream out;
  Page page(out, {width, unicode, false});
  show_process_trees(page, overview);
  return out.str();
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, width_of(line));
  return widest;
}

std::string without_colours(std::string text) {
  for (std::size_t at = 0; (at = text.find("\x1b[", at)) != std::string::npos;) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

TEST(PsTable, SaysOfEachInstanceWhatItUsesOfItsLimitsAndWhyItIsShared) {
  const std::string wide = table_of(read_overview(busy_status()), 200);

  const std::string row = line_with(wide, "files");
  for (const char* const cell :
       {"101", "3/64", "keeper+cgroup", "shared", "claude, codex", "4m 10s", "81 MB/512 MB", "50%/150%",
        "ready", "fresh", "every tool is annotated as read-only"}) {
    EXPECT_THAT(row, HasSubstr(cell));
  }
  EXPECT_THAT(line_with(wide, "search"), HasSubstr("stale"));
  EXPECT_THAT(line_with(wide, "notes"), HasSubstr("parked"));
  EXPECT_THAT(wide, HasSubstr("`corral start old`"));
}

boost::json::value nine_servers() {
  return boost::json::parse(
      R"({"instances":[
          {"server":"files","id":"a","pid":5,"state":"ready","uptime_ms":1000,"reason":"shared: every tool only reads",
           "sessions":[1],"limits":{"memory":1048576},
           "usage":{"memory":1048576,"cpu":0.25,"processes":[{"pid":5,"parent":4}]}},
          {"server":"files","id":"b","pid":6,"state":"ready","uptime_ms":60000,"reason":"private: by the file",
           "hint":"to share it: \"corral\": {\"share\": \"shared\"} in the entry \"files\"","stale":"x has changed",
           "sessions":[2],"usage":{"memory":2097152,"cpu":0.5,"processes":[{"pid":6,"parent":4},{"pid":7,"parent":6}]}},
          {"server":"files","id":"c","pid":8,"state":"idle","ends_in_ms":1000,"uptime_ms":2000,"reason":"private: by the file"},
          {"server":"memory","id":"d","pid":9,"state":"idle","ends_in_ms":400000,"reason":"shared: safe"},
          {"server":"memory","id":"e","pid":10,"state":"idle","ends_in_ms":200000,"reason":"shared: safe"}],
         "sessions":[{"id":1,"server":"files","state":"ready","instance":"a"},
           {"id":2,"server":"files","state":"ready","instance":"b"},
           {"id":3,"server":"files","state":"parked","instance":null},
           {"id":4,"server":"notes","state":"parked","instance":null},
           {"id":5,"server":"notes","state":"lazy","instance":null}]})");
}

TEST(PsTable, HasOneLineForEachServerOnEveryScreen) {
  for (const std::size_t width : {40U, 60U, 76U, 80U, 120U, 200U}) {
    const std::string text = table_of(read_overview(nine_servers()), width);

    EXPECT_EQ(lines_of(text), 4U) << text;
    EXPECT_LE(widest_line(text), width) << text;
    EXPECT_THAT(line_with(text, "SERVER"), HasSubstr("STATE")) << width;
  }
  EXPECT_EQ(table_of(read_overview(nine_servers()), 80),
            "SERVER     PID  PROCS  SESS  UP  MEMORY  CPU  STATE\n"
            "files   3 pids      3     3  1m  3.0 MB  75%  ready x2, idle, parked\n"
            "memory  2 pids      -     0   -       -    -  idle, ends in 7m\n"
            "notes        -      -     2   -       -    -  lazy, parked\n");
}

TEST(PsTable, TheReasonsOfAServerAreOneOrWithVerbose) {
  const std::string text = table_of(read_overview(nine_servers()), 200);

  EXPECT_THAT(line_with(text, "files"), HasSubstr("stale  several reasons: `corral ps -v`"));
  EXPECT_THAT(line_with(text, "memory"), HasSubstr("fresh  safe"));
}

TEST(PsTable, HasALineForEachProcessIfAllIsWanted) {
  for (const std::size_t width : {60U, 80U, 200U}) {
    const std::string text = verbose_of(read_overview(nine_servers()), width);

    EXPECT_THAT(line_with(text, "files     5"), HasSubstr("ready"));
    EXPECT_THAT(line_with(text, "files     6"), HasSubstr("ready"));
    EXPECT_THAT(line_with(text, "files     8"), HasSubstr("idle, ends in 1s"));
    EXPECT_THAT(line_with(text, "memory    9"), HasSubstr("idle, ends in 7m"));
    EXPECT_THAT(line_with(text, "memory   10"), HasSubstr("idle, ends in 4m"));
    EXPECT_LE(widest_line(text), width) << text;
  }
}

TEST(PsTable, SaysWhatWouldShareAPrivateServerIfAllIsWanted) {
  const std::string line = R"(to share it: "corral": {"share": "shared"} in the entry "files")";

  EXPECT_THAT(verbose_of(read_overview(nine_servers()), 200), HasSubstr("private: by the file; " + line));
  EXPECT_THAT(table_of(read_overview(nine_servers()), 200), Not(HasSubstr(line)));
  EXPECT_THAT(trees_of(read_overview(nine_servers()), 200), HasSubstr("private: by the file; " + line));
}

TEST(PsTable, CutsAPathThatIsWiderThanThePage) {
  const auto status =
      boost::json::parse(R"({"instances":[{"server":"files","id":"a","pid":5,"state":"ready","root":"/)" +
                         std::string(200, 'r') + R"(","reason":"private: by the file"}],"sessions":[]})");

  EXPECT_LE(widest_line(verbose_of(read_overview(status), 80)), 80U);
  EXPECT_LE(widest_line(trees_of(read_overview(status), 80)), 80U);
}

TEST(PsTable, LeavesOutTheLeastImportantColumnsWhereThereIsNoRoom) {
  const Overview overview = read_overview(busy_status());

  EXPECT_EQ(line_with(table_of(overview, 76), "files"),
            "files   101   3/64     2  4m 10s  81 MB/512 MB  50%/150%  ready");
  EXPECT_EQ(line_with(table_of(overview, 60), "files"),
            "files   101     2  4m 10s  81 MB/512 MB  50%/150%  ready");
  EXPECT_EQ(line_with(table_of(overview, 40), "files"), "files   101     2  81 MB/512 MB  ready");
}

TEST(PsTable, NamesTheCommandThatSaysMoreOnlyOnATerminalAndOnlyIfSomethingRuns) {
  const PsView at_terminal{.verbose = false, .hint = true};
  const Overview busy = read_overview(busy_status());
  const std::string hint = "`corral ps -v` says why each process is shared or private\n";

  EXPECT_TRUE(table_of(busy, 80, true, false, at_terminal).ends_with(hint));
  EXPECT_THAT(table_of(busy, 80), Not(HasSubstr(hint)));
  EXPECT_THAT(table_of(busy, 80, true, false, {.verbose = true, .hint = true}), Not(HasSubstr(hint)));
  EXPECT_THAT(table_of(busy, 200, true, false, at_terminal), Not(HasSubstr(hint))) << "a column says why";
  EXPECT_THAT(table_of(read_overview(boost::json::parse("{}")), 80, true, false, at_terminal),
              Not(HasSubstr(hint)));
}

TEST(PsTable, CutsALongFailureAndALongWordUnlessAllIsWanted) {
  const std::string folder = "/" + std::string(100, 'f');
  const std::string long_text =
      "command 'x' was not found in " + folder + ": " + std::string(150, 'g') + " the end";
  const auto status = boost::json::parse(R"({"failures":[{"server":"files","text":")" + long_text + " and " +
                                         std::string(300, 'h') + R"(","age_ms":3000}]})");
  const std::string text = table_of(read_overview(status), 80);

  EXPECT_LE(widest_line(text), 80U) << text;
  EXPECT_LE(lines_of(text), 6U) << text;
  EXPECT_THAT(text, HasSubstr("files failed 3s ago: command 'x' was not found in\n/ffff"));
  EXPECT_THAT(text, Not(HasSubstr("the end and")));
  EXPECT_THAT(verbose_of(read_overview(status), 80), HasSubstr("the end and"));
}

TEST(PsTable, FitsTheWidthAndLosesNoFactIfAllIsWanted) {
  for (const std::size_t width : {40U, 80U, 120U, 200U}) {
    const std::string text = verbose_of(read_overview(busy_status()), width);

    EXPECT_LE(widest_line(text), width) << text;
    for (const char* const fact :
         {"files", "101", "81 MB", "ready", "fresh", "4m 10s", "50%", "codex", "parked"}) {
      EXPECT_THAT(text, HasSubstr(fact)) << width;
    }
  }
}

TEST(PsTable, SaysWhatMakesASharedProcessSeparate) {
  const auto status = boost::json::parse(
      R"({"instances":[{"server":"files","id":"a","pid":5,"state":"ready","uptime_ms":1000,"reason":"shared: safe",
          "separate":"separate from process 4: PATH differs"}],"sessions":[]})");
  for (const std::size_t width : {80U, 200U}) {
    EXPECT_THAT(verbose_of(read_overview(status), width),
                HasSubstr("safe; separate from process 4: PATH differs"))
        << width;
  }
}

TEST(PsTable, SaysHowServersFailedLately) {
  const auto status = boost::json::parse(
      R"({"failures":[{"server":"files","text":"server files could not be started: command 'x' was not found",
          "age_ms":3000}]})");
  const std::string all = table_of(read_overview(status), 80);
  EXPECT_THAT(all, HasSubstr("no instance is running"));
  EXPECT_THAT(all, HasSubstr("files failed 3s ago: server files could not be started: command 'x'"));
  EXPECT_THAT(table_of(read_overview(status, "notes"), 80), Not(HasSubstr("failed")));
  EXPECT_THAT(table_of(read_overview(status, "files"), 80), HasSubstr("failed 3s ago"));
}

TEST(PsTable, ShowsWhatAFailedServerWroteLast) {
  const auto status = boost::json::parse(
      R"({"failures":[{"server":"files","kind":"crash","text":"it exited with code 3","age_ms":3000,
          "stderr":["one","two","three","a word that is )" +
      std::string(200, 'w') + R"("]}]})");

  const std::string few = table_of(read_overview(status), 80);
  EXPECT_THAT(few, HasSubstr("files failed 3s ago: it exited with code 3\n  stderr: two\n  stderr: three\n"));
  EXPECT_THAT(few, Not(HasSubstr("stderr: one")));
  EXPECT_LE(widest_line(few), 80U) << few;

  const std::string all = verbose_of(read_overview(status), 80);
  EXPECT_THAT(all, HasSubstr("  stderr: one\n"));
  EXPECT_LE(widest_line(all), 80U) << all;
}

TEST(PsTable, SaysThatTheClientOfAServerWasRefused) {
  const auto status = boost::json::parse(
      R"({"failures":[{"server":"files","kind":"refused","text":"server files is disabled","age_ms":3000}]})");

  EXPECT_THAT(table_of(read_overview(status), 80),
              HasSubstr("files refused 3s ago: server files is disabled"));
}

TEST(PsTable, OneServerAlone) {
  const std::string text = table_of(read_overview(busy_status(), "search"), 80);

  EXPECT_THAT(text, HasSubstr("search"));
  EXPECT_THAT(text, Not(HasSubstr("files")));
  EXPECT_THAT(text, Not(HasSubstr("notes")));
}

TEST(PsTable, WhatAnOlderDaemonDoesNotSayIsADash) {
  const auto status = boost::json::parse(
      R"({"instances":[{"server":"files","id":"a","pid":5,"state":"ready","uptime_ms":1000}],"sessions":[]})");

  const std::string row = line_with(table_of(read_overview(status), 80), "files");

  EXPECT_THAT(row, testing::MatchesRegex("files +5 +- +0 +1s +- +- +ready"));
}

TEST(PsTable, AnEmptyDaemonSaysSo) {
  EXPECT_THAT(table_of(read_overview(boost::json::parse("{}")), 80), HasSubstr("no instance is running"));
}

TEST(PsTable, WhatIsStoppedOrBrokenIsNotPromisedToStart) {
  const Overview overview = read_overview(halted_status());

  for (const std::size_t width : {60U, 80U, 200U}) {
    const std::string text = table_of(overview, width);

    EXPECT_THAT(line_with(text, "files"), HasSubstr("stopped"));
    EXPECT_THAT(text, testing::ContainsRegex("loop +- .*broken"));
    EXPECT_THAT(text, testing::ContainsRegex("notes +- .*parked"));
    EXPECT_THAT(text, HasSubstr("`corral start files`"));
    EXPECT_THAT(text, HasSubstr("`corral start loop`"));
    EXPECT_LE(widest_line(text), width) << text;
  }
}

TEST(PsTable, ASessionThatGetsAnInstanceNowIsNotCalledBroken) {
  EXPECT_THAT(table_of(read_overview(halted_status()), 80), testing::ContainsRegex("loop +- .*opening\n"));
  EXPECT_THAT(verbose_of(read_overview(halted_status()), 80),
              testing::ContainsRegex("loop +- .*opening\n  is being started; for claude"));
}

TEST(PsTable, ABrokenServerWithoutSessionsStandsAtTheEnd) {
  const std::string text = verbose_of(read_overview(halted_status()), 120);

  EXPECT_THAT(text, HasSubstr("tired is broken; it died too often, so calls are refused for now;"));
  EXPECT_THAT(text, HasSubstr("last error: server tired was killed by signal 9"));
  EXPECT_THAT(text, Not(HasSubstr("files is stopped"))) << "said below its row already";
  EXPECT_THAT(table_of(read_overview(halted_status()), 120),
              HasSubstr("files is stopped; `corral start files`"));
}

TEST(PsTable, WhereTheColumnIsTooNarrowForItTheWholeSentenceStandsAtTheEnd) {
  const std::string text = table_of(read_overview(halted_status()), 140);

  EXPECT_THAT(text, HasSubstr("files is stopped; `corral start files` allows it to run"));
  EXPECT_THAT(text, HasSubstr("loop is broken; it died too often"));
}

TEST(PsTable, AServerThatNobodyKnowsIsNamedAndTheNearestSuggested) {
  const auto status = busy_status();

  EXPECT_EQ(table_of(read_overview(status, "fils"), 80), "no server is called 'fils': did you mean files?\n");
  EXPECT_EQ(table_of(read_overview(status, "nots"), 80), "no server is called 'nots': did you mean notes?\n");
  EXPECT_EQ(table_of(read_overview(status, "coral"), 80),
            "no server is called 'coral': did you mean corral?\n");
  EXPECT_THAT(table_of(read_overview(status, "zzzzzz"), 80), HasSubstr("`corral list` lists the servers"));
  EXPECT_THAT(trees_of(read_overview(status, "fils")), HasSubstr("did you mean files?"));
}

TEST(PsTable, AShortenedNameNamesAllThatItMayMean) {
  EXPECT_EQ(table_of(read_overview(nine_servers(), "mem"), 80),
            "no server is called 'mem': did you mean memory?\n");
  EXPECT_EQ(
      table_of(read_overview(boost::json::parse(R"({"servers":[{"name":"git-a"},{"name":"git-b"}]})"), "git"),
               80),
      "no server is called 'git': did you mean git-a or git-b?\n");
}

TEST(PsTable, AKnownServerThatDoesNotRunIsNamed) {
  const std::string text = table_of(read_overview(busy_status(), "old"), 80);

  EXPECT_THAT(text, HasSubstr("no instance of old is running, and no client is attached to it\n"));
  EXPECT_THAT(text, HasSubstr("old is stopped"));
}

TEST(PsTable, SaysHowLongAnIdleProcessStays) {
  const auto status = boost::json::parse(
      R"({"instances":[{"server":"files","id":"a","pid":5,"state":"idle","ends_in_ms":400000}],"sessions":[]})");
  for (const std::size_t width : {76U, 80U, 120U, 200U}) {
    EXPECT_THAT(table_of(read_overview(status), width), HasSubstr("idle, ends in 7m")) << width;
  }
}

TEST(PsTable, OnATerminalTroubleHasAColourAndTakesNoMoreRoom) {
  for (const std::size_t width : {60U, 80U, 200U}) {
    for (const auto& status : {busy_status(), halted_status()}) {
      const std::string plain = table_of(read_overview(status), width);
      const std::string text = table_of(read_overview(status), width, true, true);

      EXPECT_TRUE(text.starts_with("\x1b[1mSERVER")) << text;
      EXPECT_EQ(without_colours(text), plain);
    }
    const std::string halted = table_of(read_overview(halted_status()), width, true, true);
    EXPECT_THAT(halted, HasSubstr("\x1b[31mstopped\x1b[0m"));
    EXPECT_THAT(halted, HasSubstr("\x1b[31mbroken, opening\x1b[0m"));
    EXPECT_THAT(halted, Not(HasSubstr("mparked"))) << "a parked session is not halted";
  }
  EXPECT_THAT(table_of(read_overview(busy_status()), 200, true, true), HasSubstr("\x1b[33mstale\x1b[0m"));
  EXPECT_THAT(table_of(read_overview(busy_status()), 80, true, true), HasSubstr("\x1b[33midle\x1b[0m"));
}

TEST(PsTree, SaysOfTheSessionsOfAStoppedServerThatTheyAre) {
  const std::string text = trees_of(read_overview(halted_status()), 200);

  EXPECT_THAT(text, HasSubstr("codex (pid 812): files (stopped, session 1), loop (broken, session 2), "
                              "notes (parked, session 4)"));
  EXPECT_THAT(text, HasSubstr("files is stopped; `corral start files` allows it to run"));
}

TEST(PsTree, NamesEveryProcessBelowItsParentAndTheSessionsThatItServes) {
  const std::string text = trees_of(read_overview(busy_status()));

  EXPECT_THAT(text, HasSubstr("files 2.0 aaaaaaaa: ready"));
  EXPECT_THAT(line_with(text, "corral-keeper"), HasSubstr("100"));
  EXPECT_THAT(line_with(text, "├─ npm"), HasSubstr("0.35s"));
  EXPECT_THAT(line_with(text, "│  └─ node"), HasSubstr("61 MB"));
  EXPECT_THAT(text, HasSubstr("└─ helper"));
  EXPECT_THAT(text,
              HasSubstr("session 1: codex 1.2 (pid 812), ready, 4m old, 1 call in flight, runs codex exec"));
  EXPECT_THAT(text, HasSubstr("session 2: claude (by URL)"));
  EXPECT_THAT(text, HasSubstr("limits: memory 512 MB, 64 processes, processor 150%"));
  EXPECT_THAT(text, HasSubstr("has no sessions now"));
}

TEST(PsTree, TellsTheReverseTooWhichServersAClientHas) {
  const std::string text = trees_of(read_overview(busy_status()), 200);

  EXPECT_THAT(text, HasSubstr("codex 1.2 (pid 812): files (pid 101, session 1), notes (parked, session 3)"));
}

TEST(PsPage, HostileAnswersNeitherCrashNorSteerTheTerminal) {
  const Overview overview = read_overview(hostile_status());

  for (const std::string& text : {table_of(overview, 40), table_of(overview, 80), table_of(overview, 200),
                                  trees_of(overview), trees_of(overview, 60, false)}) {
    EXPECT_THAT(text, HasSubstr("evil"));
    EXPECT_EQ(text.find_first_of("\x1b\r\a\t"), std::string::npos) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);      // the same as ESC [
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);  // right to left
  }
}

TEST(PsPage, WithoutUnicodeOnlyAscii) {
  for (const char byte : trees_of(read_overview(busy_status()), 80, false)) {
    ASSERT_LT(static_cast<unsigned char>(byte), 0x80);
  }
}

}  // namespace
}  // namespace corral::cli
