// `corral events`, `corral logs` and `corral ps --last` after the daemon is gone: they show what it kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/utc_time.h"
#include "cli/file_commands.h"
#include "cli/frame/command.h"
#include "cli/frame/daemon_command.h"
#include "registry/sqlite_registry.h"

namespace corral::cli {
namespace {

using events::Event;
using events::Kind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class KeptHistory : public FileCommands {
 protected:
  static Event event(Kind kind, const std::string& server, const std::string& text) {
    Event event;
    event.kind = kind;
    event.server = server;
    event.text = text;
    event.time_ms = unix_time_ms();
    return event;
  }
  /// As a daemon that is killed: nothing has an end.
  void keep(std::vector<Event> events, const std::vector<registry::InstanceRecord>& instances = {}) {
    Loop loop;
    const auto registry = registry::open_registry(loop, state_ + "/registry.db");
    registry->begin({.id = "d", .boot_id = "b", .process = {}, .version = "0", .started_ms = 1});
    for (const registry::InstanceRecord& instance : instances) {
      registry->journal(instance);
      if (instance.ended_ms != 0) registry->instance_ended(instance.id, instance.ended_ms, instance.cause);
    }
    std::uint64_t number = registry->last_event();
    for (Event& one : events) {
      one.number = ++number;
      registry->keep(one);
    }
    registry->flush();
  }
  static registry::InstanceRecord instance(const std::string& id, const std::string& server, pid_t pid,
                                           std::int64_t started_ms, std::int64_t ended_ms = 0,
                                           const std::string& cause = "") {
    registry::InstanceRecord record{.id = id, .daemon = "d", .server = server, .started_ms = started_ms};
    record.process.pid = pid;
    record.ended_ms = ended_ms;
    record.cause = cause;
    return record;
  }
  Seen without_daemon(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--runtime-dir", folder_ + "/run"});
    return run(std::move(words));
  }

  const std::string state_ = folder_ + "/run/state";
};

TEST_F(KeptHistory, EventsAreReadWithoutADaemonWithTheSameFilters) {
  keep({event(Kind::Spawn, "files", "files runs"), event(Kind::Crash, "files", "files died\x1b[2J"),
        event(Kind::Crash, "memory", "memory died")});

  const Seen all = without_daemon({"events"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out, AllOf(HasSubstr("files runs\n"), HasSubstr("files died"), HasSubstr("memory died")));
  EXPECT_THAT(all.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(all.errors,
            "corral events: no daemon is running; these events are from ~/run/state/registry.db\n");

  const Seen one = without_daemon({"events", "--kind", "crash", "--server", "files"});
  EXPECT_THAT(one.out, AllOf(HasSubstr("files died"), Not(HasSubstr("memory"))));
  EXPECT_THAT(without_daemon({"events", "-n", "1"}).out, AllOf(HasSubstr("memory"), Not(HasSubstr("files"))));
  EXPECT_THAT(without_daemon({"events", "--json", "-n", "1"}).out, StartsWith(R"({"number":3,)"));
}

TEST_F(KeptHistory, EventsCannotBeFollowedWithoutADaemon) {
  keep({event(Kind::Spawn, "files", "files runs")});

  const Seen seen = without_daemon({"events", "-f"});

  EXPECT_EQ(seen.code, kNoDaemonRuns);
  EXPECT_THAT(seen.out, HasSubstr("files runs"));
  EXPECT_THAT(seen.errors, HasSubstr("no daemon is running; `corral serve --background` starts one"));
}

TEST_F(KeptHistory, NothingOrADamagedFileIsSaid) {
  const Seen none = without_daemon({"events"});
  EXPECT_EQ(none.code, kNoDaemonRuns);
  EXPECT_THAT(none.errors, AllOf(HasSubstr("no daemon is running"), HasSubstr("there is no registry ~/run")));
  EXPECT_EQ(without_daemon({"ps", "--last"}).code, kNoDaemonRuns);

  write("run/state/registry.db", std::string(5000, 'x'));
  for (const auto& words : std::vector<std::vector<std::string>>{{"events"}, {"ps", "--last"}}) {
    const Seen damaged = without_daemon(words);
    EXPECT_EQ(damaged.code, kOwnFailure) << words[0];
    EXPECT_THAT(damaged.errors, HasSubstr("it is damaged")) << words[0];
  }
}

TEST_F(KeptHistory, PsLastShowsHowEachServerEndedOrFailed) {
  const std::int64_t now = unix_time_ms();
  Event crash = event(Kind::Crash, "files", "files exited with code 3");
  crash.instance = "f2";
  crash.pid = 4712;
  keep({crash, event(Kind::Failed, "nope", "nope could not be started"),
        event(Kind::Refused, "off", "refused: off is disabled")},
       {instance("f1", "files", 4711, now - 60'000, now - 50'000, "idle"),
        instance("f2", "files", 0, now - 40'000, now - 39'000, "died"),
        instance("m1", "memory", 4713, now - 30'000)});

  const Seen seen = without_daemon({"ps", "--last"});

  EXPECT_EQ(seen.code, 0) << seen.errors;
  EXPECT_THAT(seen.out, StartsWith("SERVER   PID  STARTED"));
  EXPECT_THAT(seen.out, testing::ContainsRegex("\nfiles +4712 .* died\n"));
  EXPECT_THAT(seen.out, testing::ContainsRegex("\nmemory +4713 .* lost\n"));
  EXPECT_THAT(seen.out, testing::ContainsRegex("\nnope +- .* failed\n"));
  EXPECT_THAT(seen.out, testing::ContainsRegex("\noff +- .* refused\n"));
  EXPECT_THAT(seen.out, Not(HasSubstr("4711"))) << "only the last process of a server that ended";
  EXPECT_THAT(seen.out, HasSubstr("ago: files exited with code 3\n"));
  EXPECT_THAT(seen.out, HasSubstr("ago: off is disabled\n"));
  const Seen one = without_daemon({"ps", "--last", "--server", "files"});
  EXPECT_THAT(one.out, AllOf(HasSubstr("files"), Not(HasSubstr("memory")), Not(HasSubstr("nope"))));
}

TEST_F(KeptHistory, PsLastHasTheSameAsJson) {
  keep({event(Kind::Failed, "nope", "nope could not be started")}, {instance("m1", "memory", 4713, 10)});

  const Seen seen = without_daemon({"ps", "--last", "--json"});

  EXPECT_EQ(seen.code, 0);
  const boost::json::value last = boost::json::parse(seen.out);
  EXPECT_EQ(last.at("runs").at(0).at("how").as_string(), "failed");
  EXPECT_TRUE(last.at("runs").at(0).at("pid").is_null());
  EXPECT_EQ(last.at("runs").at(1).at("pid").as_int64(), 4713);
  EXPECT_EQ(last.at("runs").at(1).at("how").as_string(), "lost");
  EXPECT_EQ(last.at("failures").at(0).at("text").as_string(), "nope could not be started");
}

TEST_F(KeptHistory, PsLastKnowsWhatRunsNow) {
  keep({}, {instance("m1", "memory", 4713, 10)});
  ToldDaemon daemon;
  daemon.status(R"({"daemon":{"pid":1,"registry":")" + state_ +
                R"(/registry.db"},"instances":[{"server":"memory","id":"m1"}]})");

  EXPECT_THAT(ask(daemon, {"ps", "--last"}).out, HasSubstr("running\n"));
  daemon.status(R"({"daemon":{"pid":1,"registry":null}})");
  const Seen nowhere = ask(daemon, {"ps", "--last"});
  EXPECT_EQ(nowhere.code, kOwnFailure);
  EXPECT_THAT(nowhere.errors, HasSubstr("the running daemon keeps nothing"));
}

TEST_F(KeptHistory, LogsBeginWithTheLastFailure) {
  keep({event(Kind::Crash, "files", "files exited with code 3"),
        event(Kind::Failed, "nope", "nope could not be started")});
  write("run/state/logs/files.log", "2026-11-16T03:40:00.123Z 1a2b3c4d no luck\n");

  const Seen seen = without_daemon({"logs", "files"});
  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, testing::MatchesRegex("last failure: [^ ]+ crash: files exited with code 3\n"
                                              "2026-11-16T03:40:00.123Z 1a2b3c4d no luck\n"));
  const Seen last = without_daemon({"logs", "files", "--json", "-n", "0"});
  EXPECT_EQ(boost::json::parse(last.out).at("failure").as_string(), "crash");
  EXPECT_EQ(without_daemon({"logs", "files", "--since", "2099-01-01"}).out, "");
}

TEST_F(KeptHistory, WhatAServerWroteLastIsBelowItsFailureEverywhere) {
  Event crash = event(Kind::Crash, "files", "instance 1a of server files exited with code 3");
  crash.error_lines = {"no licence\x1b", "good bye"};
  keep({crash});
  const std::string below = "exited with code 3\n  stderr: no licence\xEF\xBF\xBD\n  stderr: good bye\n";

  EXPECT_THAT(without_daemon({"events"}).out, HasSubstr(below));
  EXPECT_THAT(without_daemon({"ps", "--last"}).out, HasSubstr("\n  stderr: good bye\n"));
  EXPECT_THAT(without_daemon({"logs", "files"}).out, Not(HasSubstr("licence"))) << "the log has its lines";
  const auto lines = boost::json::parse(R"(["no licence\u001b","good bye"])");
  EXPECT_EQ(boost::json::parse(without_daemon({"events", "--json"}).out).at("stderr"), lines);
  EXPECT_EQ(boost::json::parse(without_daemon({"logs", "files", "--json"}).out).at("stderr"), lines);
  const auto last = boost::json::parse(without_daemon({"ps", "--last", "--json"}).out);
  EXPECT_EQ(last.at("failures").at(0).at("stderr"), lines);
}

TEST_F(KeptHistory, ARefusalIsOneToPsLastAndToLogs) {
  keep({event(Kind::Refused, "off", "refused: server off is disabled")});

  EXPECT_THAT(without_daemon({"ps", "--last"}).out,
              HasSubstr("off refused 0s ago: server off is disabled\n"));
  EXPECT_THAT(without_daemon({"logs", "off"}).out, HasSubstr("refused: server off is disabled\n"));
}

TEST_F(KeptHistory, LogsTellARunningDaemonsFailureByItsKind) {
  ToldDaemon daemon;
  daemon.status(R"({"failures":[{"server":"files","kind":"crash","text":"it exited with code 3","age_ms":5,
                    "stderr":["good bye"]}]})");

  EXPECT_THAT(ask(daemon, {"logs", "files"}).out,
              testing::MatchesRegex("last failure: [^ ]+ crash: it exited with code 3\n"));
}

TEST_F(KeptHistory, LogsOfAServerThatNeverWroteSayHowItFailed) {
  keep({event(Kind::Failed, "nope", "nope could not be started")});

  const Seen seen = without_daemon({"logs", "nope"});

  EXPECT_EQ(seen.code, 0);
  EXPECT_THAT(seen.out, HasSubstr("failed: nope could not be started\n"));
  EXPECT_EQ(seen.errors, "corral logs: nope has written nothing to stderr yet\n");
  EXPECT_EQ(without_daemon({"logs", "nobody"}).code, 1);
}

}  // namespace
}  // namespace corral::cli
