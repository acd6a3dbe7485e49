#include "events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <set>

#include "version.h"

namespace corral::events {
namespace {

namespace json = boost::json;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class LogOfEvents : public testing::Test {
 protected:
  ~LogOfEvents() override { set_log_form(LogForm::Text); }

  static std::string written(const Event& event) {
    CaptureStderr();
    write_to_log(event);
    return GetCapturedStderr();
  }

  LogOfEvents() {
    event_.number = 7;
    event_.time_ms = 1'794'800'400'123;
    event_.kind = Kind::Crash;
    event_.server = "files";
    event_.instance = "1a2b3c4d";
    event_.pid = 4711;
    event_.text = "server files died: \"\x1b[2J\xff\"\n";
  }
  Event event_;
};

TEST_F(LogOfEvents, HasAsJsonWhatIsKnownAndNothingElse) {
  event_.text = "server files died";
  const json::object bare = json::parse(to_json(event_)).as_object();
  for (const char* unknown : {"session", "cause", "took_ms", "count"}) EXPECT_FALSE(bare.contains(unknown));

  event_.session = 3;
  event_.cause = "idle";
  event_.took = std::chrono::milliseconds(40);
  event_.count = 5;
  const json::object full = json::parse(to_json(event_)).as_object();

  EXPECT_EQ(full.at("session"), 3);
  EXPECT_EQ(full.at("cause"), "idle");
  EXPECT_EQ(full.at("took_ms"), 40);
  EXPECT_EQ(full.at("count"), 5);
}

TEST_F(LogOfEvents, HasAsJsonNoMemberForWhatIsNotSaid) {
  EXPECT_EQ(to_json({}), R"({"number":0,"time_ms":0,"kind":"start","text":""})");

  event_.text = "died";
  event_.session = 3;
  event_.cause = "idle";
  event_.took = std::chrono::milliseconds(0);
  event_.count = 1;
  EXPECT_EQ(to_json(event_),
            R"({"number":7,"time_ms":1794800400123,"kind":"crash","server":"files","instance":"1a2b3c4d",)"
            R"("session":3,"cause":"idle","took_ms":0,"count":1,"pid":4711,"text":"died"})");
}

TEST_F(LogOfEvents, IsATimeAndASentenceForPeople) {
  const std::string line = people_log_line({LogLevel::Warn, "it is\x1b[2J\ndone", "", 1794800400123});

  EXPECT_THAT(line, testing::MatchesRegex("[0-2][0-9]:[0-5][0-9]:00 it is.*done"));
  EXPECT_EQ(line.find_first_of("\x1b\n"), std::string::npos);
}

TEST_F(LogOfEvents, HasTheLevelOfItsKind) {
  set_log_form(LogForm::Json);
  const std::set<Kind> errors = {Kind::Survivor, Kind::Broken};
  const std::set<Kind> warnings = {Kind::Crash,   Kind::Failed,   Kind::Stale, Kind::Refused,
                                   Kind::Finding, Kind::Registry, Kind::Drift, Kind::SlowTurn};
  for (int i = 0; i <= static_cast<int>(Kind::SlowTurn); ++i) {
    const auto kind = static_cast<Kind>(i);
    if (kind == Kind::Attach || kind == Kind::Detach) continue;
    event_.kind = kind;
    const char* const level = errors.contains(kind) ? "error" : warnings.contains(kind) ? "warn" : "info";
    EXPECT_EQ(json::parse(written(event_)).at("level"), level) << name_of(kind);
  }
}

TEST_F(LogOfEvents, NamesNoProcessIfThereIsNone) {
  set_log_form(LogForm::Json);
  event_.pid = 0;
  EXPECT_FALSE(json::parse(written(event_)).as_object().contains("process"));
}

TEST_F(LogOfEvents, HasTheLastLineThatTheServerWrote) {
  event_.text = "server files died";
  event_.error_lines = {"first", "no licence"};
  EXPECT_THAT(written(event_), testing::HasSubstr("server files died; its stderr ended with: no licence"));
}

TEST_F(LogOfEvents, WithoutAnEventIsALineAllTheSame) {
  EXPECT_EQ(json_log_line({LogLevel::Error, "no \"room\"", "", 0}),
            R"({"time":"1970-01-01T00:00:00.000Z","level":"error","version":")" + std::string(kVersion) +
                R"(","pid":)" + std::to_string(getpid()) + R"(,"text":"no \"room\""})");
}

TEST_F(LogOfEvents, IsASentenceAsText) {
  set_log_form(LogForm::Text);
  event_.text = "server files died";
  EXPECT_EQ(written(event_), "[corral v" + std::string(kVersion) + "] server files died\n");
}

TEST_F(LogOfEvents, IsOneObjectPerLineAsJson) {
  set_log_form(LogForm::Json);

  const std::string line = written(event_);

  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const json::value said = json::parse(line);
  EXPECT_EQ(said.at("time"), "2026-11-16T03:40:00.123Z");
  EXPECT_EQ(said.at("level"), "warn");
  EXPECT_EQ(said.at("version"), kVersion);
  EXPECT_EQ(said.at("pid"), getpid());
  EXPECT_EQ(said.at("kind"), "crash");
  EXPECT_EQ(said.at("event"), 7);
  EXPECT_EQ(said.at("server"), "files");
  EXPECT_EQ(said.at("instance"), "1a2b3c4d");
  EXPECT_EQ(said.at("process"), 4711);
  EXPECT_EQ(said.at("text"), "server files died: \"\x1b[2J\xEF\xBF\xBD\"\n");
}

TEST_F(LogOfEvents, StaysOneObjectHoweverLongItIs) {
  set_log_form(LogForm::Json);
  for (const char byte : {'x', '\x01', '\xff'}) {
    event_.text = std::string(50'000, byte);
    const std::string line = written(event_);
    boost::system::error_code error;
    json::parse(line, error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_GT(line.size(), 2000U);
  }
}

TEST_F(LogOfEvents, SaysNothingOfSessionsThatComeAndGo) {
  for (const Kind kind : {Kind::Attach, Kind::Detach}) {
    event_.kind = kind;
    EXPECT_EQ(written(event_), "");
  }
}

TEST_F(LogOfEvents, IsJsonByItselfWhereThereIsNoTerminal) {
  CaptureStderr();  // a file
  set_log_form(LogForm::Auto);
  log_line("hello");
  EXPECT_EQ(json::parse(GetCapturedStderr()).at("text"), "hello");
}

TEST(LogForms, HaveNames) {
  EXPECT_EQ(log_form_called("auto"), LogForm::Auto);
  EXPECT_EQ(log_form_called("json"), LogForm::Json);
  EXPECT_EQ(log_form_called("text"), LogForm::Text);
  EXPECT_EQ(log_form_called("xml"), std::nullopt);
}

}  // namespace
}  // namespace corral::events
