// What a person is shown by the commands that ask the daemon, letter by letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "cli/screen/json_view.h"
#include "cli/told_daemon.h"

namespace corral::cli {
namespace {

using control::Verb;
using Kind = ToldDaemon::Kind;
using testing::HasSubstr;

/// One member of each object of a list.
std::string words_of(const boost::json::value& value, std::string_view name, std::string_view of_each) {
  std::string words;
  for (const boost::json::value& one : list(value, name)) {
    words += (words.empty() ? "" : " ") + text(one, of_each);
  }
  return words;
}

class CommandOutput : public testing::Test {
 protected:
  Seen run(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--runtime-dir", daemon_.runtime_dir()});
    return run_command(std::move(words));
  }

  ToldDaemon daemon_;
};

constexpr const char* kStatus = R"({
  "daemon":{"pid":4711,"version":"1.2.3","build":"2026-11-01","uptime_ms":3900000,"config":"/etc/corral.json",
    "config_error":"line 3: a comma is missing","registry":"/var/lib/registry.db","degraded":"the disk is full"},
  "http":{"url":"http://127.0.0.1:8765","unix":"/run/http.sock"},
  "servers":[{"name":"files","stopped":false},{"name":"old","stopped":true}],
  "instances":[
    {"server":"files","id":"aaaaaaaa11","pid":101,"state":"ready","reason":"shared: every tool only reads",
     "level":"keeper","stale":null,"root":null,"sessions":[1,2],"calls":7,"uptime_ms":250000},
    {"server":"search","id":"bbbbbbbb22","pid":201,"state":"idle","reason":"private: by the file","level":"cgroup",
     "stale":"/opt/main.py has changed","root":"/srv/project","sessions":[],"calls":0,"uptime_ms":7200000},
    {"server":"notes","id":"cccccccc33","pid":301,"state":"ready","reason":"private: by the file","level":"cgroup",
     "stale":"/opt/notes has changed","rolls":true,"root":null,"sessions":[3],"calls":1,"uptime_ms":1000}],
  "sessions":[
    {"id":1,"server":"files","client":{"pid":812,"name":"codex","version":"1.2"},"state":"ready",
     "instance":"aaaaaaaa11","age_ms":240000,"calls":1},
    {"id":2,"server":"files","client":{"pid":0,"name":"claude","version":""},"state":"ready",
     "instance":"aaaaaaaa11","age_ms":1000,"calls":0},
    {"id":3,"server":"notes","client":{"name":"cursor"},"state":"parked","instance":null,"age_ms":900000,"calls":0},
    {"id":4,"server":"notes","state":"parked","instance":null,"age_ms":900000,"calls":0}],
  "objects":[{"id":"s-1","attached":[1,2],"owner":77,"ttl_ms":600000,"age_ms":5000,"silent_ms":2000,
    "servers":["files","notes"]}]})";

constexpr const char* kDaemon =
    R"(corral 1.2.3 (build 2026-11-01), pid 4711, up 1h 5m, configured by /etc/corral.json
  by URL: http://127.0.0.1:8765
  The file has changed but cannot be used; the previous configuration is in force: line 3: a comma
  is missing

)";

TEST_F(CommandOutput, OfStatusIsThatOfPsBelowTheDaemon) {
  daemon_.status(kStatus);

  const Seen seen = run({"status"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.errors, "");
  EXPECT_EQ(seen.out, kDaemon + run({"ps"}).out);
  EXPECT_TRUE(daemon_.asked().front().measure);
}

TEST_F(CommandOutput, OfPsIsOneLineForEachServer) {
  daemon_.status(kStatus);

  EXPECT_EQ(run({"ps"}).out, R"(SERVER  PID  PROCS  SESS      UP  MEMORY  CPU  STATE
files   101      -     2  4m 10s       -    -  ready
search  201      -     0      2h       -    -  idle
notes   301      -     2      1s       -    -  ready, parked
old is stopped; `corral start old` allows it to run
)");
}

TEST_F(CommandOutput, OfPsVerboseIsAllThatTheDaemonSaid) {
  daemon_.status(kStatus);

  EXPECT_EQ(run({"ps", "-v"}).out,
            kDaemon + std::string(R"(SERVER  PID  PROCS  SESS      UP  MEMORY  CPU  STATE
files   101      -     2  4m 10s       -    -  ready
  shared: every tool only reads; keeper; fresh code; for claude, codex
search  201      -     0      2h       -    -  idle
  private: by the file; for the project /srv/project; cgroup; stale code
notes   301      -     0      1s       -    -  ready
  private: by the file; cgroup; stale code
notes     -      -     2       -       -    -  parked
  has no process now; the next call starts one; for cursor, unnamed
search runs old code: /opt/main.py has changed; `corral restart search` runs the new code
notes runs old code: /opt/notes has changed; new sessions get the new code
old is stopped; `corral start old` allows it to run

Session objects: 1
  SESSION  ATTACHED  OWNER  TTL  AGE  SILENT  SERVERS
  s-1             2     77  10m   5s      2s  files, notes
)"));
}

TEST_F(CommandOutput, OfStatusIsShortIfThereIsNothing) {
  daemon_.status(R"({"daemon":{"pid":1,"version":"1","build":"b","uptime_ms":1000,"config":""}})");

  EXPECT_EQ(run({"status"}).out, R"(corral 1 (build b), pid 1, up 1s

no instance is running, and no client is attached
)");
}

TEST_F(CommandOutput, OfStatusAsJsonIsTheDaemonsOwn) {
  daemon_.status(R"({"daemon":{"pid":1}})");

  EXPECT_EQ(run({"status", "--json"}).out, "{\"daemon\":{\"pid\":1}}\n");
  EXPECT_FALSE(daemon_.asked().front().measure);
}

TEST_F(CommandOutput, OfPsMeasuresAndShowsTheServerThatIsAskedFor) {
  daemon_.status(kStatus);

  const Seen seen = run({"ps", "--server", "files", "--json"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_TRUE(daemon_.asked().front().measure);
  const boost::json::value shown = boost::json::parse(seen.out);
  EXPECT_EQ(words_of(shown, "instances", "id"), "aaaaaaaa11");
  EXPECT_EQ(words_of(shown, "sessions", "id"), "1 2");
  EXPECT_EQ(run({"ps", "--server", "search"}).out, R"(SERVER  PID  PROCS  SESS  UP  MEMORY  CPU  STATE
search  201      -     0  2h       -    -  idle
)");
}

TEST_F(CommandOutput, OfTopInBatchesIsOneTablePerLook) {
  daemon_.status(kStatus);

  const Seen seen = run({"top", "--batch", "2", "--interval", "100ms"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.out, R"(corral 1.2.3, pid 4711, up 1h 5m, by memory
instances 3, processes -, sessions 4, memory -, cpu -
  SERVER    PID  PROCS  SESS      UP  MEMORY  CPU  STATE    CODE    LEVEL   CLIENT
  files     101      -     2  4m 10s       -    -  ready    fresh   keeper  claude, codex
  notes       -      -     2       -       -    -  parked   parked  -       cursor, unnamed
  notes     301      -     0      1s       -    -  ready    stale   cgroup  -
  old         -      -     0       -       -    -  stopped  -       -       -
  search    201      -     0      2h       -    -  idle     stale   cgroup  -

corral 1.2.3, pid 4711, up 1h 5m, by memory
instances 3, processes -, sessions 4, memory -, cpu -
  SERVER    PID  PROCS  SESS      UP  MEMORY  CPU  STATE    CODE    LEVEL   CLIENT
  files     101      -     2  4m 10s       -    -  ready    fresh   keeper  claude, codex
  notes       -      -     2       -       -    -  parked   parked  -       cursor, unnamed
  notes     301      -     0      1s       -    -  ready    stale   cgroup  -
  old         -      -     0       -       -    -  stopped  -       -       -
  search    201      -     0      2h       -    -  idle     stale   cgroup  -
)");
  const boost::json::value shown =
      boost::json::parse(run({"top", "--batch", "1", "--json", "--sort", "name"}).out);
  EXPECT_EQ(words_of(shown, "instances", "id"), "aaaaaaaa11 bbbbbbbb22 cccccccc33");
  EXPECT_EQ(words_of(shown, "sessions", "id"), "1 2 3 4");
}

TEST_F(CommandOutput, OfTopNamesWhatCannotBe) {
  EXPECT_EQ(run({"top", "--interval", "99ms"}).errors,
            "corral top: the interval must be between 100ms and 1h\n");
  EXPECT_EQ(run({"top", "--interval", "3601s"}).errors,
            "corral top: the interval must be between 100ms and 1h\n");
  EXPECT_THAT(run({"top", "--json"}).errors, HasSubstr("--json requires --batch N"));
  EXPECT_THAT(run({"top", "--sort", "size"}).errors,
              HasSubstr("'size': use memory, cpu, uptime, sessions or name"));
}

TEST_F(CommandOutput, OfInfoIsHealthFilesAndProcesses) {
  daemon_.result(Verb::Info, R"({"server_version":"1.2.3","build_date":"2026-11-01","current_pid":4711,
    "current_uptime_formatted":"1h 5m","health":"degraded","health_reasons":["two copies of files",5],
    "pid_file":{"path":"/run/corral.pid","exists":true,"pid":4712,"version":"1.2.2","started":"yesterday",
      "matches":false},"total_server_processes":2,"server_processes":[
      {"pid":4711,"is_current":true,"version":"1.2.3","uptime_formatted":"1h 5m","status":"running","sessions":[]},
      {"pid":101,"server":"files","version":"2","uptime_formatted":"4m","status":"ready","sessions":[1,2],
       "client":["codex","claude"]},
      {"pid":102,"server":"files","version":"2","uptime_formatted":"4m","status":"ready","sessions":[3],
       "client":"cursor"}]})");
  daemon_.status(kStatus);

  const Seen seen = run({"info"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.out, R"(corral 1.2.3 (build 2026-11-01), pid 4711, up 1h 5m
health: degraded
  - two copies of files
pid file: /run/corral.pid: pid 4712, version 1.2.2, since yesterday; it belongs to another daemon
registry: /var/lib/registry.db: the disk is full

Processes: 2
   PID  SERVER      VERSION     UP  STATUS   SESSIONS  CLIENT
  4711  the daemon  1.2.3    1h 5m  running         0  -
   101  files       2           4m  ready           2  codex, claude
   102  files       2           4m  ready           1  cursor
)");
}

TEST_F(CommandOutput, OfInfoSaysThatAFileIsNotThere) {
  daemon_.result(Verb::Info, R"({"health":"healthy","pid_file":{"path":"/run/corral.pid","exists":false},
    "total_server_processes":0})");
  daemon_.status(R"({"daemon":{"registry":"/var/lib/registry.db"}})");

  EXPECT_EQ(run({"info"}).out, R"(corral - (build -), pid -, up -
health: healthy
pid file: /run/corral.pid, which is missing
registry: /var/lib/registry.db

Processes: 0
)");
  daemon_.result(Verb::Info,
                 R"({"pid_file":{"path":"/run/corral.pid","exists":true,"pid":1,"matches":true}})");
  daemon_.status(R"({"daemon":{}})");
  EXPECT_EQ(run({"info"}).out, R"(corral - (build -), pid -, up -
health: -
pid file: /run/corral.pid: pid 1, version -, since -

Processes: -
)");
}

TEST_F(CommandOutput, OfInfoEndsWithTheDescriptionsOfTheServers) {
  daemon_.result(Verb::Info, R"({"total_server_processes":0})");
  daemon_.status(R"({"servers":[{"name":"bare"},
    {"name":"files","about":{"description":"The files of this project."}},
    {"name":"notes","about":{"description":"What to\u001b remember."}}]})");

  EXPECT_THAT(run({"info"}).out, testing::EndsWith("\nProcesses: 0\n"
                                                   "files: The files of this project.\n"
                                                   "notes: What to? remember.\n"));
}

TEST_F(CommandOutput, OfInfoCountsTheFailures) {
  daemon_.result(Verb::Info, R"({"total_server_processes":0})");
  daemon_.status(R"({"counters":{"failed_starts":1,"refusals":0,"crashes":2}})");

  EXPECT_THAT(run({"info"}).out,
              testing::HasSubstr("failures: 1 failed start, 0 refusals, 2 crashes since it "
                                 "started; `corral events` has them\n"));
  daemon_.status(R"({"counters":{}})");
  EXPECT_THAT(run({"info"}).out, testing::Not(testing::HasSubstr("failures")));
}

TEST_F(CommandOutput, OfARestartSaysWhoStartsTheNextInstance) {
  const std::string one = R"({"ended":[{"server":"files","instance":"a","end":"stopped","proved":true}],)";
  daemon_.result(Verb::Restart, one + R"("sessions":0})");
  EXPECT_THAT(run({"restart", "files"}).out,
              testing::StartsWith("files: 1 instance ended; the next call starts a new one\n"));
  daemon_.result(Verb::Restart, one + R"("sessions":2})");
  EXPECT_THAT(run({"restart", "files"}).out,
              testing::StartsWith("files: 1 instance ended; its sessions get a new one\n"));
}

TEST_F(CommandOutput, OfServerVerbsSaysWhatEnded) {
  const char* const two = R"({"ended":[
    {"server":"files","instance":"aaaaaaaa11","end":"stopped","processes":1,"proved":true,"ms":12},
    {"server":"files","instance":"bbbbbbbb22","end":"killed","processes":3,"proved":false,"ms":900}]})";
  daemon_.result(Verb::Restart, two);
  daemon_.result(Verb::Stop, two);
  daemon_.result(Verb::Start, R"({"allowed":true})");

  const Seen restarted = run({"restart", "files"});
  EXPECT_EQ(restarted.code, 1);
  EXPECT_EQ(restarted.out, R"(files: 2 instances ended; its sessions get a new one
  files aaaaaaaa stopped: 1 process, gone after 12 ms
  files bbbbbbbb killed: 3 processes, NOT proved gone after 900 ms
)");
  const Seen stopped = run({"stop", "files"});
  EXPECT_EQ(stopped.code, 1);
  EXPECT_EQ(stopped.out, R"(files is stopped: 2 instances ended; `corral start files` allows it to start again
  files aaaaaaaa stopped: 1 process, gone after 12 ms
  files bbbbbbbb killed: 3 processes, NOT proved gone after 900 ms
)");
  EXPECT_EQ(run({"start", "files"}).out, "files may run again\n");
  EXPECT_EQ(daemon_.asked().front().server, "files");
}

TEST_F(CommandOutput, OfServerVerbsSaysIfNothingHadToEnd) {
  daemon_.result(Verb::Restart, R"({"ended":[]})");
  daemon_.result(Verb::Stop, R"({"ended":[]})");
  daemon_.result(Verb::Start, R"({"allowed":false})");

  EXPECT_EQ(run({"restart", "files"}).out, "files: no instance was running; the next call starts one\n");
  EXPECT_EQ(run({"stop", "files"}).out,
            "files is stopped: no instance was running; `corral start files` allows it to start again\n");
  EXPECT_EQ(run({"start", "files"}).out,
            "files was not stopped; if it is not running, its next call starts it\n");
  EXPECT_EQ(run({"start", "files", "--json"}).out, "{\"allowed\":false}\n");
}

TEST_F(CommandOutput, OfReloadSaysWhatChanged) {
  daemon_.result(Verb::Reload, R"({"changed":["files"],"added":["a","b"],"removed":[],"ended":2,
    "warnings":["a: no such program"]})");
  EXPECT_EQ(run({"reload"}).out, R"(Configuration reloaded; changed files; added a, b
  instances ended: 2
  warning: a: no such program
)");
  daemon_.result(Verb::Reload, R"({"changed":[],"added":[],"removed":["old"],"ended":0})");
  EXPECT_EQ(run({"reload"}).out, "Configuration reloaded; removed old\n");
  daemon_.result(Verb::Reload, R"({"ended":0})");
  EXPECT_EQ(run({"reload"}).out, "Configuration reloaded; no server has changed\n");
}

TEST_F(CommandOutput, OfAnEndedSessionSaysWhatWentAndWhatStays) {
  daemon_.result(Verb::SessionEnd, R"({"session":"s-1","ms":31,"leaked":true,"ended":[
    {"server":"files","instance":"aaaaaaaa11","end":"stopped","processes":1,"proved":true,"ms":12}],
    "kept":[{"server":"notes","instance":"cccccccc33","sessions":2}],
    "survivors":[{"pid":9,"command":"sleep 99","cause":"not permitted"}]})");

  const Seen seen = run({"session", "end", "s-1"});

  EXPECT_EQ(seen.code, 1);
  EXPECT_EQ(seen.out, R"(Session s-1 has ended after 31 ms: 1 instance ended with it
  files aaaaaaaa stopped: 1 process, gone after 12 ms
  notes cccccccc keeps running: it is shared; sessions that use it: 2
  NOT ended: process 9 (sleep 99), not permitted
)");
  EXPECT_EQ(daemon_.asked().front().session, "s-1");
  daemon_.result(Verb::SessionEnd, R"({"session":"s-1","ms":31,"leaked":false,"ended":[]})");
  const Seen clean = run({"session", "end", "s-1"});
  EXPECT_EQ(clean.code, 0);
  EXPECT_EQ(clean.out, "Session s-1 has ended after 31 ms: 0 instances ended with it, nothing is left\n");
}

TEST_F(CommandOutput, OfSessionsIsATable) {
  daemon_.result(Verb::SessionList, R"({"sessions":[{"id":"s-1","attached":[1,2],"owner":77,"ttl_ms":600000,
    "age_ms":5000,"silent_ms":2000,"servers":["files","notes"]}]})");

  EXPECT_EQ(run({"session", "list"}).out, R"(Sessions: 1
  SESSION  ATTACHED  OWNER  TTL  AGE  SILENT  SERVERS
  s-1             2     77  10m   5s      2s  files, notes
)");
  daemon_.result(Verb::SessionList, R"({"sessions":[]})");
  EXPECT_EQ(run({"session", "list"}).out, "Sessions: 0\n");
  EXPECT_EQ(run({"session", "list", "--json"}).out, "{\"sessions\":[]}\n");
}

TEST_F(CommandOutput, OfSessionNamesTheWordThatIsMissing) {
  EXPECT_EQ(run({"session"}).errors,
            "corral session: expected a subcommand: create, end or list; see `corral session --help`\n");
  EXPECT_EQ(run({"session", "end"}).errors,
            "corral session: give the id of one session: `corral session end ID`\n");
  EXPECT_EQ(run({"session", "list", "--server", "a"}).errors,
            "corral session: only `corral session create` takes --server and commands\n");
  EXPECT_EQ(run({"session", "create", "more"}).errors,
            "corral session: unexpected argument 'more': use --server NAME, or put a command after `--`\n");
  EXPECT_EQ(run({"session", "create", "--", "a", "--"}).errors,
            "corral session: no command after `--`: add one, or remove the `--`\n");
  EXPECT_TRUE(daemon_.asked().empty());
}

TEST_F(CommandOutput, OfEventsIsOneLineEachUntilThereAreNoMore) {
  daemon_.answers(
      Verb::Events,
      {ToldDaemon::reply(
           Kind::Result,
           R"({"next":2,"events":[{"seq":1,"kind":"spawn","server":"files"},{"seq":2,"kind":"crash",
                      "server":"notes"}]})"),
       ToldDaemon::reply(Kind::Result, R"({"next":3,"events":[{"seq":3,"kind":"spawn","server":"notes"}]})"),
       ToldDaemon::reply(Kind::Result, R"({"next":3,"events":[]})")});

  const Seen seen = run({"events", "--json", "-n", "2"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_EQ(seen.out, R"({"seq":2,"kind":"crash","server":"notes"}
{"seq":3,"kind":"spawn","server":"notes"}
)");
  const std::vector<control::Hello> asked = daemon_.asked();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[0].after, 0U);
  EXPECT_EQ(asked[1].after, 2U);
  EXPECT_EQ(asked[2].after, 3U);
  EXPECT_EQ(asked[0].limit, control::kMostEvents);
  EXPECT_EQ(asked[0].wait.count(), 0);
}

TEST_F(CommandOutput, OfEventsIsAllOfThemWithoutANumber) {
  daemon_.answers(
      Verb::Events,
      {ToldDaemon::reply(Kind::Result, R"({"next":2,"events":[{"seq":1,"kind":"spawn","server":"files"},
                                    {"seq":2,"kind":"crash","server":"notes"}]})"),
       ToldDaemon::reply(Kind::Result, R"({"next":2,"events":[]})")});

  EXPECT_EQ(run({"events", "--json"}).out, R"({"seq":1,"kind":"spawn","server":"files"}
{"seq":2,"kind":"crash","server":"notes"}
)");
  daemon_.answers(
      Verb::Events,
      {ToldDaemon::reply(Kind::Result, R"({"next":2,"events":[{"seq":1,"kind":"spawn","server":"files"},
                                    {"seq":2,"kind":"crash","server":"notes"}]})"),
       ToldDaemon::reply(Kind::Result, R"({"next":2,"events":[]})")});
  EXPECT_EQ(run({"events", "--json", "--server", "notes"}).out,
            "{\"seq\":2,\"kind\":\"crash\",\"server\":\"notes\"}\n");
}

TEST_F(CommandOutput, OfEventsGoesOnAfterADaemonWithTooManyConnections) {
  daemon_.answers(
      Verb::Events,
      {ToldDaemon::reply(Kind::Result, R"({"next":1,"events":[]})"),
       ToldDaemon::reply(Kind::RunIt, "the daemon has too many connections"),
       ToldDaemon::reply(Kind::Result, R"({"next":2,"events":[{"seq":1,"kind":"spawn","server":"files"}]})"),
       ToldDaemon::reply(Kind::Refused, "that was all")});
  const Seen seen = run({"events", "-f", "--json"});
  EXPECT_EQ(seen.out, "{\"seq\":1,\"kind\":\"spawn\",\"server\":\"files\"}\n");
  EXPECT_EQ(seen.errors, "corral events: that was all\n");
}

TEST_F(CommandOutput, OfAShutdownIsTheDaemonsLastSentence) {
  daemon_.answers(Verb::Shutdown, {ToldDaemon::reply(Kind::Exit, "Two servers have ended.")});
  EXPECT_EQ(run({"shutdown"}).out, "Two servers have ended.\n");
  daemon_.answers(Verb::Shutdown, {});
  EXPECT_EQ(run({"shutdown"}).out, "The daemon has ended.\n");
  daemon_.refuses(Verb::Shutdown, "not now");
  const Seen refused = run({"shutdown"});
  EXPECT_EQ(refused.code, kOwnFailure);
  EXPECT_EQ(refused.errors, "corral shutdown: the daemon refuses: not now\n");
}

TEST_F(CommandOutput, OfARefusalIsTheDaemonsReason) {
  daemon_.refuses(Verb::Status, "ask me later");
  daemon_.refuses(Verb::Restart, "there is no server 'x'");
  daemon_.refuses(Verb::Events, "nobody listens");

  for (const char* const command : {"status", "ps", "info"}) {
    const Seen seen = run({command});
    EXPECT_EQ(seen.code, kOwnFailure) << command;
    EXPECT_EQ(seen.out, "") << command;
  }
  EXPECT_EQ(run({"status"}).errors, "corral status: the daemon refuses: ask me later\n");
  EXPECT_EQ(run({"restart", "x"}).errors, "corral restart: there is no server 'x'\n");
  EXPECT_EQ(run({"events"}).errors, "corral events: nobody listens\n");
  EXPECT_EQ(run({"top", "--batch", "1"}).errors, "corral top: the daemon refuses: ask me later\n");
}

TEST_F(CommandOutput, SaysThatAnAnswerIsNotJson) {
  daemon_.status("{");
  daemon_.result(Verb::Info, "{");
  daemon_.result(Verb::Events, "{");

  for (const char* const command : {"status", "ps", "info", "events"}) {
    const Seen seen = run({command});
    EXPECT_EQ(seen.code, kOwnFailure) << command;
    EXPECT_THAT(seen.errors, HasSubstr("not valid JSON")) << command;
  }
  EXPECT_THAT(run({"top", "--batch", "1"}).errors, HasSubstr("not valid JSON"));
}

TEST(CommandOutputAlone, SaysThatNoDaemonRuns) {
  std::string nowhere;
  {
    const ToldDaemon gone;
    nowhere = gone.runtime_dir();
  }
  const auto run = [&nowhere](std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--runtime-dir", nowhere});
    return run_command(std::move(words));
  };
  for (const auto& words : std::vector<std::vector<std::string>>{{"status"},
                                                                 {"ps"},
                                                                 {"info"},
                                                                 {"events"},
                                                                 {"top"},
                                                                 {"restart", "a"},
                                                                 {"stop", "a"},
                                                                 {"start", "a"},
                                                                 {"reload"},
                                                                 {"session", "list"},
                                                                 {"session", "end", "a"}}) {
    const Seen seen = run(words);
    EXPECT_EQ(seen.code, kNoDaemonRuns) << words[0];
    EXPECT_THAT(seen.errors, HasSubstr("corral " + words[0] + ": no daemon is running; ")) << words[0];
    EXPECT_EQ(seen.out, "") << words[0];
  }
  const Seen shut = run({"shutdown"});
  EXPECT_EQ(shut.code, 0);
  EXPECT_EQ(shut.out, "No daemon is running.\n");
}

}  // namespace
}  // namespace corral::cli
