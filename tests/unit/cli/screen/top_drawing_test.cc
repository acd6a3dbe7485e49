// The screen of `corral top`, letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/screen/top_model.h"
#include "cli/screen/top_screen.h"
#include "cli/status_samples.h"
#include "cli/told_daemon.h"

namespace corral::cli {
namespace {

using Style = TopLine::Style;

TopModel model_of(const boost::json::value& status, TopOrder order = TopOrder::Name) {
  TopModel model(order);
  model.take(read_overview(status));
  return model;
}

void type(TopModel& model, std::string_view keys) {
  for (const TopKey& key : read_keys(keys)) model.press(key);
}

/// Each line with a letter for its style before it.
std::string drawn(const std::vector<TopLine>& lines) {
  std::string text;
  for (const TopLine& line : lines) {
    switch (line.style) {
      case Style::Plain: text += "P|"; break;
      case Style::Title: text += "T|"; break;
      case Style::Header: text += "H|"; break;
      case Style::Selected: text += "S|"; break;
      case Style::Faint: text += "F|"; break;
      case Style::Warning: text += "W|"; break;
      case Style::Bad: text += "B|"; break;
    }
    text += line.text.substr(0, line.text.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

TEST(TopDrawing, LeavesOutWhatMattersLeastWhereThereIsLess) {
  const TopModel model = model_of(busy_status());

  EXPECT_EQ(drawn(list_top(model, {100, true, true})), R"(T|corral 0.9.1, pid 4711, up 1h 5m, by name
P|instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%
H|  SERVER    PID  PROCS  SESS      UP        MEMORY       CPU  STATE    CODE    CLIENT
P|  files     101   3/64     2  4m 10s  81 MB/512 MB  50%/150%  ready    fresh   claude, codex
F|  notes       -      -     1       -             -         -  parked   parked  codex
B|  old         -      -     0       -             -         -  stopped  -       -
W|  search    201      1     0      2h        200 MB        1%  idle     stale   -
)");
  EXPECT_EQ(drawn(list_top(model, {60, true, true})), R"(T|corral 0.9.1, pid 4711, up 1h 5m, by name
P|instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%
H|  SERVER    PID  SESS        MEMORY       CPU  STATE
P|  files     101     2  81 MB/512 MB  50%/150%  ready
F|  notes       -     1             -         -  parked
B|  old         -     0             -         -  stopped
W|  search    201     0        200 MB        1%  idle
)");
  EXPECT_EQ(drawn(list_top(model, {30, false, false})), R"(T|corral 0.9.1, pid 4711, up ...
P|instances 2, processes 4, s...
H|  SERVER          MEMORY
P|  files     81 MB/512 MB
F|  notes                -
B|  old                  -
W|  search          200 MB
)");
  EXPECT_EQ(drawn(list_top(model, {9, false, false})), R"(T|corral...
P|instan...
H|  SERVER
P|  files
F|  notes
B|  old
W|  search
)");
}

TEST(TopDrawing, HeaderIsAsWideAsTheScreen) {
  for (const std::size_t width : {1U, 30U, 80U, 200U}) {
    EXPECT_EQ(width_of(list_top(model_of(busy_status()), {width, true, true})[2].text), width);
  }
}

TEST(TopDrawing, ShowsProcessesAndSessionsOfEachServer) {
  const SetVariable home("HOME", "/home/me");
  TopModel model = model_of(busy_status());
  type(model, "t");

  EXPECT_EQ(drawn(list_top(model, {90, true, true})), R"(T|corral 0.9.1, pid 4711, up 1h 5m, by name
P|instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%
H|  SERVER    PID  PROCS  SESS      UP        MEMORY       CPU  STATE    CODE
P|  files     101   3/64     2  4m 10s  81 MB/512 MB  50%/150%  ready    fresh
P|    101 npm  S  20 MB  0.35s  4m 10s
P|      102 node  R  61 MB  12s  4m 9s
P|    103 helper  S  0 B  0.00s  1s
F|    session 1: codex 1.2 (pid 812), ready, 4m, calls 1, ~/project
F|    session 2: claude (by URL), ready, 1s, calls 0
F|  notes       -      -     1       -             -         -  parked   parked
F|    session 3: codex 1.2 (pid 812), parked, 15m, calls 0
B|  old         -      -     0       -             -         -  stopped  -
W|  search    201      1     0      2h        200 MB        1%  idle     stale
P|    201 python3  S  200 MB  0.09s  2h
)");
}

TEST(TopDrawing, ColoursWhatIsWrong) {
  EXPECT_EQ(drawn(list_top(model_of(halted_status()), {110, true, true})), R"(T|corral -, pid -, up -, by name
P|instances 0, processes 0, sessions 4, memory 0 B, cpu 0%
H|  SERVER    PID  PROCS  SESS  UP  MEMORY  CPU  STATE    CODE    LEVEL  CLIENT  SHARED BECAUSE
B|  files       -      -     1   -       -    -  stopped  -       -      codex   `corral start files` al…
B|  loop        -      -     1   -       -    -  broken   -       -      codex   it died too often, so c…
F|  loop        -      -     1   -       -    -  opening  -       -      claude  is being started
F|  notes       -      -     1   -       -    -  parked   parked  -      codex   has no process now; the…
B|  tired       -      -     0   -       -    -  broken   -       -      -       it died too often, so c…
)");
}

TEST(TopDrawing, IsPlainWhereThereIsNoUnicode) {
  Overview overview;
  InstanceRow one;
  one.server = "bücher";
  one.id = "a";
  one.state = "ready";
  overview.instances.push_back(one);
  TopModel model;
  model.take(overview);

  EXPECT_THAT(list_top(model, {80, false, false})[3].text, testing::StartsWith("  b?cher "));
  EXPECT_THAT(list_top(model, {80, true, false})[3].text, testing::StartsWith("  bücher "));
}

TEST(TopDrawing, HelpNamesEveryKey) {
  TopModel model = model_of(busy_status());
  type(model, "?");

  EXPECT_EQ(drawn(draw_top(model, 18, {90, true, true})), R"(T|corral 0.9.1, pid 4711, up 1h 5m, by name
P|instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%
H|keys
P|  up, down, k, j    select a server (page up, page down, home, end)
P|  m c u s n         sort by memory, cpu, uptime, sessions, name
P|  t                 show the processes and sessions of each instance
P|  r                 restart the selected server
P|  x                 stop it, until `corral start NAME`
P|  q, Ctrl+C         quit
P|
P|  CPU is the usage since the last update; 100% is one core.
P|  A parked session has no process until its next call.
P|  A stopped or broken server refuses calls; `corral start NAME` allows them.
P|
P|  press any other key to return
P|
P|
F|? help  q quit  r restart  x stop  t tree  sort: m c u s n
)");
  EXPECT_EQ(draw_top(model, 18, {90, true, true}).size(), 18U);
}

TEST(TopDrawing, ShowsInstancesBeforeTheyAreMeasured) {
  TopModel model;
  model.take(read_overview(boost::json::parse(
      R"({"instances":[{"server":"files","id":"a","pid":5,"state":"ready"}],"sessions":[]})")));

  const std::string drawing = drawn(draw_top(model, 6, {60, true, true}));

  EXPECT_THAT(drawing, testing::HasSubstr("instances 1, processes -, sessions 0, memory -, cpu -"));
  EXPECT_THAT(drawing, testing::ContainsRegex("files +5 +- +0 +- +- +- +ready"));
}

TEST(TopDrawing, SaysThatNothingRuns) {
  TopModel model;
  model.take({});

  EXPECT_EQ(drawn(draw_top(model, 6, {90, true, true})), R"(T|corral -, pid -, up -, by memory
P|instances 0, processes 0, sessions 0, memory 0 B, cpu 0%
H|  SERVER    PID  PROCS  SESS  UP  MEMORY  CPU  STATE  CODE  LEVEL  CLIENT  SHARED BECAUSE
F|  no instance is running, and no client is attached
P|
F|? help  q quit  r restart  x stop  t tree  sort: m c u s n
)");
  EXPECT_EQ(rows_of_top(4), 1U);
  EXPECT_EQ(rows_of_top(5), 1U);
  EXPECT_EQ(rows_of_top(6), 2U);
  EXPECT_EQ(rows_of_top(0), 1U);
  EXPECT_TRUE(draw_top(model, 6, {0, true, true}).empty());
}

TEST(TopDrawing, TheLastLineIsWhatMattersMost) {
  TopModel model = model_of(busy_status());
  const auto last = [&model] { return drawn({draw_top(model, 9, {90, true, true}).back()}); };

  EXPECT_EQ(last(), "F|? help  q quit  r restart  x stop  t tree  sort: m c u s n\n");
  model.set_trouble("the daemon is gone");
  EXPECT_EQ(last(), "B|the daemon is gone\n");
  model.tell("files is stopped");
  EXPECT_EQ(last(), "T|files is stopped\n");
  type(model, "x");
  EXPECT_EQ(last().substr(0, 2), "T|");
  EXPECT_NE(last(), "T|files is stopped\n");
}

TEST(TopDrawing, TheTreeOfTheSelectedServerIsSeenAsFarAsItFits) {
  TopModel model = model_of(busy_status());
  type(model, "tjjj");  // the last row
  EXPECT_EQ(drawn(draw_top(model, 8, {90, true, true})), R"(T|corral 0.9.1, pid 4711, up 1h 5m, by name
P|instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%
H|  SERVER    PID  PROCS  SESS      UP        MEMORY       CPU  STATE    CODE
F|    session 3: codex 1.2 (pid 812), parked, 15m, calls 0
B|  old         -      -     0       -             -         -  stopped  -
S|> search    201      1     0      2h        200 MB        1%  idle     stale
P|    201 python3  S  200 MB  0.09s  2h
F|? help  q quit  r restart  x stop  t tree  sort: m c u s n
)");
  type(model, "kkk");
  EXPECT_EQ(drawn(draw_top(model, 8, {90, true, true})), R"(T|corral 0.9.1, pid 4711, up 1h 5m, by name
P|instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%
H|  SERVER    PID  PROCS  SESS      UP        MEMORY       CPU  STATE    CODE
S|> files     101   3/64     2  4m 10s  81 MB/512 MB  50%/150%  ready    fresh
P|    101 npm  S  20 MB  0.35s  4m 10s
P|      102 node  R  61 MB  12s  4m 9s
P|    103 helper  S  0 B  0.00s  1s
F|? help  q quit  r restart  x stop  t tree  sort: m c u s n
)");
  EXPECT_EQ(drawn(draw_top(model, 3, {90, true, true})),
            R"(H|  SERVER    PID  PROCS  SESS      UP        MEMORY       CPU  STATE    CODE
S|> files     101   3/64     2  4m 10s  81 MB/512 MB  50%/150%  ready    fresh
F|? help  q quit  r restart  x stop  t tree  sort: m c u s n
)");
}

}  // namespace
}  // namespace corral::cli
