#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/screen/top_model.h"
#include "cli/screen/top_screen.h"
#include "cli/status_samples.h"

namespace corral::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = TopKey::Kind;

TopAction type(TopModel& model, std::string_view keys) {
  TopAction last;
  for (const TopKey& key : read_keys(keys)) last = model.press(key);
  return last;
}

TopModel busy_top() {
  TopModel model;
  model.take(read_overview(busy_status()));
  return model;
}

std::vector<std::string> names(const TopModel& model) {
  std::vector<std::string> list;
  for (const InstanceRow& row : model.rows()) list.push_back(row.server);
  return list;
}

std::string selected_name(const TopModel& model) { return model.rows().at(model.selected()).server; }

std::string joined(const std::vector<TopLine>& lines) {
  std::string text;
  for (const TopLine& line : lines) text += line.text + "\n";
  return text;
}

TEST(TopKeys, AreReadFromWhatTerminalsSend) {
  std::vector<Kind> kinds;
  for (const TopKey& key : read_keys("k\x1b[A\x1bOB\x1b[6~\x1b[1;5C\x1b[H\x1b")) kinds.push_back(key.kind);

  EXPECT_THAT(kinds, ElementsAre(Kind::Character, Kind::Up, Kind::Down, Kind::PageDown, Kind::Other,
                                 Kind::Home, Kind::Escape));
}

TEST(TopModel, SortsByWhatTheKeySays) {
  TopModel model = busy_top();

  EXPECT_THAT(names(model), ElementsAre("search", "files", "notes", "old"));
  type(model, "c");
  EXPECT_THAT(names(model), ElementsAre("files", "search", "notes", "old"));
  type(model, "u");
  EXPECT_THAT(names(model), ElementsAre("search", "files", "notes", "old"));
  type(model, "s");
  EXPECT_THAT(names(model), ElementsAre("files", "notes", "old", "search"));
  type(model, "n");
  EXPECT_THAT(names(model), ElementsAre("files", "notes", "old", "search"));
  EXPECT_EQ(model.order(), TopOrder::Name);
}

TEST(TopModel, TheSelectionStaysWithItsServerWhenTheOrderChanges) {
  TopModel model = busy_top();
  type(model, "j");
  ASSERT_EQ(selected_name(model), "files");

  type(model, "n");
  EXPECT_EQ(selected_name(model), "files");
  model.take(read_overview(busy_status()));
  EXPECT_EQ(selected_name(model), "files");
}

TEST(TopModel, TheSelectionNeverLeavesTheRows) {
  TopModel model = busy_top();

  type(model, "kkk\x1b[5~");
  EXPECT_EQ(model.selected(), 0U);
  type(model, "jjjjjjj\x1b[6~\x1b[F");
  EXPECT_EQ(model.selected(), 3U);
  model.take({});
  EXPECT_EQ(model.selected(), 0U);
  type(model, "j\x1b[Fr");
  EXPECT_EQ(model.question(), "");
  EXPECT_THAT(model.message(), HasSubstr("no server"));
}

TEST(TopModel, StopsAndRestartsOnlyAfterAYes) {
  TopModel model = busy_top();

  EXPECT_EQ(type(model, "x").kind, TopAction::Kind::None);
  EXPECT_THAT(model.question(), HasSubstr("stop search"));
  EXPECT_EQ(type(model, "q").kind, TopAction::Kind::None);  // an answer, and not yes
  EXPECT_EQ(model.question(), "");
  EXPECT_EQ(type(model, "x\x1b[A").kind, TopAction::Kind::None);
  EXPECT_EQ(type(model, "y").kind, TopAction::Kind::None);  // nothing waits for it any more

  const TopAction stop = type(model, "xy");
  EXPECT_EQ(stop.kind, TopAction::Kind::Stop);
  EXPECT_EQ(stop.server, "search");
  EXPECT_EQ(type(model, "ry").kind, TopAction::Kind::Restart);
  EXPECT_EQ(type(model, "y").kind, TopAction::Kind::None);
}

TEST(TopModel, AskedAboutAServerItStaysWithThatOneWhateverMoves) {
  TopModel model = busy_top();
  type(model, "x");

  model.take({});
  EXPECT_EQ(type(model, "y").server, "search");
}

TEST(TopModel, LeavesByQ) {
  TopModel model = busy_top();

  EXPECT_EQ(type(model, "q").kind, TopAction::Kind::Quit);
  EXPECT_EQ(type(model, "?q").kind, TopAction::Kind::Quit);
  EXPECT_EQ(type(model, "?j").kind, TopAction::Kind::None);
  EXPECT_FALSE(model.shows_help());
}

TEST(TopScreen, FitsEverySizeExactly) {
  TopModel model = busy_top();
  for (const bool trees : {false, true}) {
    if (trees) type(model, "t");
    for (const std::size_t width : {1U, 2U, 10U, 20U, 40U, 60U, 80U, 120U, 200U}) {
      for (const std::size_t height : {1U, 2U, 3U, 5U, 15U, 24U, 40U}) {
        const auto lines = draw_top(model, height, {width, true, true});

        EXPECT_EQ(lines.size(), height);
        for (const TopLine& line : lines) EXPECT_LE(width_of(line.text), width) << line.text;
      }
    }
  }
  EXPECT_TRUE(draw_top(model, 0, {80, true, true}).empty());
}

TEST(TopScreen, TheHelpFitsEverySizeToo) {
  TopModel model = busy_top();
  type(model, "h");
  ASSERT_TRUE(model.shows_help());

  for (const std::size_t height : {1U, 3U, 5U, 15U, 40U}) {
    EXPECT_EQ(draw_top(model, height, {80, true, true}).size(), height);
  }
  EXPECT_EQ(draw_top(model, 24, {80, true, true}).at(2).text.substr(0, 4), "keys");
}

TEST(TopScreen, At80ColumnsItShowsWhatMatters) {
  const auto lines = draw_top(busy_top(), 24, {80, false, false});

  EXPECT_THAT(lines[0].text, HasSubstr("corral 0.9.1, pid 4711"));
  EXPECT_THAT(lines[1].text, HasSubstr("instances 2, processes 4, sessions 3, memory 281 MB, cpu 51%"));
  EXPECT_THAT(lines[2].text, HasSubstr("SERVER"));
  EXPECT_THAT(lines[3].text, testing::MatchesRegex("> search .*201.*200 MB.*1%.*idle.*"));
  EXPECT_EQ(lines[3].style, TopLine::Style::Selected);
  EXPECT_THAT(lines[4].text, testing::MatchesRegex("  files .*101.*81 MB/512 MB.*50%/150%.*ready.*"));
  EXPECT_THAT(lines[5].text, HasSubstr("parked"));
  EXPECT_THAT(lines[6].text, HasSubstr("stopped"));
  EXPECT_THAT(lines.back().text, HasSubstr("q quit"));
}

TEST(TopScreen, SaysOfStoppedAndBrokenServersWhatPsSays) {
  TopModel model(TopOrder::Name);
  model.take(read_overview(halted_status()));

  const auto lines = list_top(model, {200, true, true});
  const auto line_of = [&lines](const std::string& regex) {
    for (const TopLine& line : lines) {
      if (testing::Value(line.text, testing::ContainsRegex(regex))) return line;
    }
    return TopLine{"no line has " + regex};
  };

  EXPECT_THAT(line_of("files ").text, testing::ContainsRegex("stopped +- .*codex +`corral start files`"));
  EXPECT_EQ(line_of("files ").style, TopLine::Style::Bad);
  EXPECT_THAT(line_of("loop .*broken").text, testing::ContainsRegex("broken +- .*codex +it died too often"));
  EXPECT_EQ(line_of("loop .*broken").style, TopLine::Style::Bad);
  EXPECT_THAT(line_of("loop .*opening").text, HasSubstr("claude"));
  EXPECT_THAT(line_of("tired ").text, HasSubstr("broken"));
  EXPECT_THAT(line_of("notes ").text, testing::ContainsRegex("parked +parked .*has no process now"));
  EXPECT_EQ(model.rows().size(), 5U);
}

TEST(TopScreen, TheSelectedRowIsAlwaysSeen) {
  TopModel model;
  Overview many;
  for (int i = 0; i < 100; ++i) {
    InstanceRow one;
    one.server = "server" + std::to_string(1000 + i);
    one.id = std::to_string(i);
    many.instances.push_back(one);
  }
  model.take(many);

  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(joined(draw_top(model, 10, {80, true, true})),
                HasSubstr("> server" + std::to_string(1000 + i)));
    type(model, "j");
  }
}

TEST(TopScreen, TreesAndSessionsStandBelowTheirServer) {
  TopModel model = busy_top();
  type(model, "t");

  const std::string text = joined(draw_top(model, 24, {100, true, true}));

  EXPECT_THAT(text, HasSubstr("    101 npm  S  20 MB  0.35s"));
  EXPECT_THAT(text, HasSubstr("      102 node  R"));
  EXPECT_THAT(text, HasSubstr("session 1: codex 1.2 (pid 812), ready"));
}

TEST(TopScreen, AQuestionOrTroubleHasTheLastLine) {
  TopModel model = busy_top();
  model.set_trouble("the daemon is gone");
  EXPECT_EQ(draw_top(model, 24, {80, true, true}).back().text, "the daemon is gone");
  type(model, "x");
  EXPECT_THAT(draw_top(model, 3, {80, true, true}).back().text, HasSubstr("stop search"));
}

TEST(TopScreen, HostileNamesStayInTheirLine) {
  TopModel model;
  model.take(read_overview(hostile_status()));
  type(model, "t");

  for (const TopLine& line : draw_top(model, 24, {80, true, true})) {
    EXPECT_EQ(line.text.find_first_of("\x1b\r\n\a\t"), std::string::npos) << line.text;
    EXPECT_EQ(line.text.find("\xc2\x9b"), std::string::npos);
  }
}

TEST(TopScreen, ABatchHasEveryRowAndNoMark) {
  const std::string text = joined(list_top(busy_top(), {80, false, false}));

  EXPECT_THAT(text, HasSubstr("  search"));
  EXPECT_EQ(text.find("> "), std::string::npos);
}

}  // namespace
}  // namespace corral::cli
