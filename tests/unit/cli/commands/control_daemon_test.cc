// What the tools of the control server say, letter by letter.
#include "cli/commands/control_daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/utc_time.h"
#include "cli/file_commands.h"
#include "observe/control_tools.h"

namespace corral::cli {
namespace {

using control::Verb;
using observe::ToolResult;
using testing::HasSubstr;
using testing::StartsWith;

class ControlTools : public FileCommands {
 protected:
  static ControlDaemon::Arguments naming(const char* key, const char* value) { return {{key, value}}; }

  ToldDaemon daemon_;
  const ControlDaemon control_{daemon_.runtime_dir()};
};

const std::string kServers =
    R"([{"name":"corral"},{"name":"files","stopped":false,"broken":null},{"name":"off","disabled":true},)"
    R"({"name":"old","stopped":true},{"name":"loop","stopped":true,"broken":"it died"}])";
const std::string kInstances =
    R"([{"server":"files","id":"aaaaaaaa11","pid":101,"state":"ready","stale":null,"sessions":[1,2],)"
    R"("calls":7,"uptime_ms":250000,"reason":"shared: by the file"},{"server":"files","id":"bbbbbbbb22","pid":102,)"
    R"("state":"idle","stale":"main.py","sessions":[3],"calls":0,"uptime_ms":1000,"reason":"private"},)"
    R"({"server":"brought","id":"c","pid":9,"state":"ready","sessions":[],"calls":1,"uptime_ms":1000,)"
    R"("reason":"private"},{"server":"brought","id":"d","pid":10,"state":"ready","sessions":[],"calls":1,)"
    R"("uptime_ms":1000,"reason":"private"},{"server":"corral","id":"e","pid":11,"state":"ready",)"
    R"("sessions":[],"calls":0,"uptime_ms":1000,"reason":"own"}])";

TEST_F(ControlTools, ListServersWithTheirInstances) {
  daemon_.status(R"({"servers":)" + kServers + R"(,"instances":)" + kInstances + "}");

  const ToolResult result = control_.list_servers();

  EXPECT_FALSE(result.failed);
  EXPECT_EQ(result.text, R"(corral
  e pid 11, ready, 0 sessions, calls 0, up 1s; own
files
  aaaaaaaa pid 101, ready, 2 sessions, calls 7, up 4m 10s; shared: by the file
  bbbbbbbb pid 102, idle, old code, 1 session, calls 0, up 1s; private
off (disabled in the configuration)
old (stopped; start_server allows it to start)
loop (not started for now: it died)
brought
  c pid 9, ready, 0 sessions, calls 1, up 1s; private
  d pid 10, ready, 0 sessions, calls 1, up 1s; private)");
  EXPECT_EQ(result.structured, R"({"servers":)" + kServers + R"(,"instances":)" + kInstances + "}");
  EXPECT_TRUE(daemon_.asked().front().measure);
}

TEST_F(ControlTools, SayThatNoServerIsConfigured) {
  daemon_.status("{}");

  const ToolResult result = control_.list_servers();

  EXPECT_FALSE(result.failed);
  EXPECT_EQ(result.text, "no server is configured: `corral add NAME -- COMMAND` adds one");
  EXPECT_EQ(result.structured, R"({"servers":[],"instances":[]})");
}

TEST_F(ControlTools, ListSessionsWithTheirClients) {
  daemon_.status(R"({"sessions":[
    {"id":1,"server":"files","state":"ready","client":{"name":"codex","version":"1.2","pid":812,
     "root":"/srv"},"instance":"aaaaaaaa11","calls":3,"age_ms":240000},
    {"id":2,"server":"files","state":"parked","client":{"name":"claude","pid":0},"instance":null,"calls":0,
     "age_ms":1000},{"id":3,"server":"notes","state":"ready","calls":0,"age_ms":1000}],
    "objects":[{"id":"s-1","servers":["files","notes"]}]})");

  const ToolResult result = control_.list_sessions();

  EXPECT_FALSE(result.failed);
  EXPECT_EQ(result.text, R"(3 sessions
  1 files, ready, client codex 1.2 (pid 812) in /srv, instance aaaaaaaa, calls 3, open for 4m
  2 files, parked, client claude, instance -, calls 0, open for 1s
  3 notes, ready, client -, instance -, calls 0, open for 1s
  session object s-1 owns files, notes)");
  EXPECT_THAT(result.structured, StartsWith(R"({"sessions":[)"));
  EXPECT_TRUE(result.structured.ends_with(R"(,"objects":[{"id":"s-1","servers":["files","notes"]}]})"));
  daemon_.status(R"({"sessions":[{"id":1}]})");
  EXPECT_THAT(control_.list_sessions().text, StartsWith("1 session\n"));
  EXPECT_EQ(control_.list_sessions().structured, R"({"sessions":[{"id":1}],"objects":[]})");
}

TEST_F(ControlTools, TellTheInfoOfTheDaemonAsItIs) {
  daemon_.result(Verb::Info, R"({"health":"healthy"})");

  const ToolResult result = control_.get_server_info();

  EXPECT_FALSE(result.failed);
  EXPECT_EQ(result.text, R"({"health":"healthy"})");
  EXPECT_EQ(result.structured, R"({"health":"healthy"})");
}

TEST_F(ControlTools, SayWhatWentWithASession) {
  const char* const answer =
      R"({"ended":[{"server":"files","instance":"aaaaaaaa11","processes":2,"proved":true,"ms":12}]})";
  daemon_.result(Verb::SessionEnd, answer);

  const ToolResult result = control_.end_session(naming("session", "s-1"));

  EXPECT_FALSE(result.failed);
  EXPECT_EQ(
      result.text,
      "session s-1 has ended: 1 instance ended with it\n  files aaaaaaaa: 2 processes, gone after 12 ms");
  EXPECT_EQ(result.structured, answer);
  EXPECT_EQ(daemon_.asked().front().session, "s-1");
}

TEST_F(ControlTools, FailIfSomethingIsNotProvedToBeGone) {
  daemon_.result(Verb::SessionEnd, R"({"ended":[{"server":"files","instance":"aaaaaaaa11","processes":2,
    "proved":false,"ms":12}]})");
  const ToolResult unproved = control_.end_session(naming("session", "s-1"));
  EXPECT_TRUE(unproved.failed);
  EXPECT_THAT(unproved.text, HasSubstr("2 processes, NOT proved gone after 12 ms"));
  daemon_.result(Verb::SessionEnd,
                 R"({"survivors":[{"pid":9,"command":"sleep 99","cause":"not permitted"}]})");
  const ToolResult survived = control_.end_session(naming("session", "s-1"));
  EXPECT_TRUE(survived.failed);
  EXPECT_EQ(
      survived.text,
      "session s-1 has ended: 0 instances ended with it\n  NOT ended: process 9 (sleep 99), not permitted");
}

TEST_F(ControlTools, StopStartAndRestartAServer) {
  const auto say = [this](Verb verb, const std::string& answer) {
    daemon_.result(verb, answer);
    return control_.handle_server(verb, naming("server", "files")).text;
  };
  const std::string one =
      R"({"ended":[{"server":"files","instance":"aaaaaaaa11","processes":1,"proved":true,"ms":5}]})";
  const std::string gone = "\n  files aaaaaaaa: 1 processes, gone after 5 ms";

  EXPECT_EQ(say(Verb::Restart, "{}"), "server files: no instance was running; the next call starts one");
  EXPECT_EQ(say(Verb::Restart, one), "server files: 1 instance ended; its sessions get a new one" + gone);
  EXPECT_EQ(say(Verb::Stop, "{}"),
            "server files is stopped: 0 instances ended; start_server allows it to start again");
  EXPECT_EQ(say(Verb::Stop, one),
            "server files is stopped: 1 instance ended; start_server allows it to start again" + gone);
  EXPECT_EQ(say(Verb::Start, R"({"allowed":true})"), "server files may run again");
  EXPECT_EQ(say(Verb::Start, R"({"allowed":false})"), "server files was not stopped");
  EXPECT_EQ(daemon_.asked().front().server, "files");
}

TEST_F(ControlTools, DoNotEndTheServerThatAnswers) {
  daemon_.result(Verb::Start, R"({"allowed":false})");
  for (const Verb verb : {Verb::Restart, Verb::Stop}) {
    const ToolResult result = control_.handle_server(verb, naming("server", "corral"));
    EXPECT_TRUE(result.failed);
    EXPECT_THAT(result.text,
                StartsWith("server corral is this control server, which could not answer after that"));
  }
  EXPECT_TRUE(daemon_.asked().empty());
  EXPECT_FALSE(control_.handle_server(Verb::Start, naming("server", "corral")).failed);
}

TEST_F(ControlTools, FailWithTheDaemonsReason) {
  daemon_.refuses(Verb::Status, "not now");
  daemon_.refuses(Verb::Info, "not now");
  daemon_.refuses(Verb::Stop, "not now");
  daemon_.refuses(Verb::SessionEnd, "not now");
  for (const ToolResult& result :
       {control_.list_servers(), control_.list_sessions(), control_.get_server_info(),
        control_.handle_server(Verb::Stop, naming("server", "files")),
        control_.end_session(naming("session", "s-1")), control_.server_logs(naming("server", "files"))}) {
    EXPECT_TRUE(result.failed);
    EXPECT_THAT(result.text, HasSubstr("not now"));
    EXPECT_EQ(result.structured, "");
  }
  daemon_.result(Verb::Info, "[]");
  EXPECT_THAT(control_.get_server_info().text,
              StartsWith("the daemon did not send a JSON object: it is another"));
  EXPECT_THAT(ControlDaemon(folder_).list_servers().text, StartsWith("no daemon is running; "));
}

class ControlLogs : public ControlTools {
 protected:
  void SetUp() override {
    daemon_.status(R"({"servers":[{"name":"notes"},{"name":"files","log_file":")" + folder_ +
                   "/files.log\"}]}");
  }
  ToolResult logs(ControlDaemon::Arguments more = {}) {
    more["server"] = "files";
    return control_.server_logs(more);
  }
};

TEST_F(ControlLogs, AreTheLastLinesOfTheServersFile) {
  write("files.log",
        "2026-11-16T03:40:00.123Z 1a2b3c4d one\nodd\n2026-11-16T03:41:00.000Z 1a2b3c4d \"two\"\n");

  const ToolResult all = logs();
  EXPECT_FALSE(all.failed);
  EXPECT_EQ(all.text,
            "2026-11-16T03:40:00.123Z 1a2b3c4d one\nodd\n2026-11-16T03:41:00.000Z 1a2b3c4d \"two\"");
  EXPECT_EQ(plain(all.structured),
            R"({"server":"files","file":"~/files.log","lines":[)"
            R"({"time":"2026-11-16T03:40:00.123Z","instance":"1a2b3c4d","text":"one"},)"
            R"({"time":null,"instance":null,"text":"odd"},)"
            R"({"time":"2026-11-16T03:41:00.000Z","instance":"1a2b3c4d","text":"\"two\""}],"more":false})");
  const ToolResult last = logs({{"lines", 1}});
  EXPECT_EQ(last.text, "(older lines omitted)\n2026-11-16T03:41:00.000Z 1a2b3c4d \"two\"");
  EXPECT_TRUE(last.structured.ends_with(R"(],"more":true})"));
  EXPECT_EQ(logs({{"lines", 3}}).text, all.text);
  EXPECT_EQ(logs({{"since", "2026-11-16T03:41:00Z"}}).text, "2026-11-16T03:41:00.000Z 1a2b3c4d \"two\"");
  EXPECT_EQ(logs({{"since", "2026-11-16T03:41:01Z"}}).text,
            "server files wrote nothing to stderr in that time");
}

TEST_F(ControlLogs, AreNoLargerThanAnAnswerMayBe) {
  const std::string long_line = "2026-11-16T03:40:00.000Z 1a2b3c4d " + std::string(1 << 17, 'x') + "\n";
  write("files.log", long_line + long_line);
  EXPECT_THAT(logs().text, StartsWith("2026"));
  write("files.log", long_line + long_line + "2026-11-16T03:40:00.000Z 1a2b3c4d y\n");
  const std::string text = logs().text;
  EXPECT_THAT(text, StartsWith("(older lines omitted)\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  write("files.log", "2026-11-16T03:40:00.000Z 1a2b3c4d " + std::string((1 << 18) + 1, 'x') + "\n");
  EXPECT_THAT(logs().text, StartsWith("2026")) << "the last line is there, however long";
}

TEST_F(ControlLogs, NameWhatIsWrong) {
  EXPECT_EQ(logs({{"since", "soon"}}).text,
            "tool server_logs: argument \"since\": invalid time 'soon': use an age (10m, 3h, 2d) or a date "
            "(2026-11-16T03:40:00Z)");
  EXPECT_EQ(control_.server_logs(naming("server", "fils")).text,
            "no server is called 'fils': did you mean files?");
  EXPECT_EQ(control_.server_logs(naming("server", "qqqqqqqq")).text,
            "no server is called 'qqqqqqqq': list_servers shows all servers");
  EXPECT_THAT(control_.server_logs(naming("server", "notes")).text,
              StartsWith("the daemon keeps no log of server notes: it is an older version"));
}

// Only dry runs: what this looks at is the machine that runs the tests.
TEST(ControlReap, WouldEndNothingThatNobodyIsCalled) {
  const ToolResult shown = reap_tool({{"match", "a-name-that-no-server-has-8153"}});

  EXPECT_FALSE(shown.failed);
  EXPECT_THAT(shown.text, testing::EndsWith(" found; dry run, nothing was ended; would end 0 servers"));
  const boost::json::value value = boost::json::parse(shown.structured);
  EXPECT_TRUE(value.at("dry_run").get_bool());
  EXPECT_TRUE(value.at("chosen").get_array().empty());
  EXPECT_TRUE(value.at("ended").get_array().empty());
  EXPECT_THAT(reap_tool({{"older_than", "soon"}}).text,
              StartsWith("tool reap: argument \"older_than\": invalid duration 'soon': "));
}

}  // namespace
}  // namespace corral::cli
