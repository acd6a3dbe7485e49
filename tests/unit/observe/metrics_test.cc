#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "observe/prometheus_reader.h"

namespace corral::observe {
namespace {

using events::Event;
using events::Kind;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Event about(Kind kind, const std::string& server, const std::string& cause = {}) {
  Event event;
  event.kind = kind;
  event.server = server;
  event.cause = cause;
  return event;
}

Event that_took(Kind kind, const std::string& server, milliseconds took) {
  Event event = about(kind, server);
  event.took = took;
  return event;
}

class MetricsText : public testing::Test {
 protected:
  void happens(const Event& event) { metrics_.count(event); }
  /// NaN if there is no such line.
  double value_of(const std::string& line) {
    const PrometheusReader reader(metrics_.text(snapshot_));
    EXPECT_EQ(reader.problem(), "");
    const auto found = reader.samples().find(line);
    return found == reader.samples().end() ? NAN : found->second;
  }

  Metrics metrics_;
  Snapshot snapshot_;
};

TEST_F(MetricsText, IsWellFormedBeforeAnythingHappened) {
  const std::string text = metrics_.text(snapshot_);

  EXPECT_EQ(PrometheusReader(text).problem(), "");
  EXPECT_THAT(text, StartsWith("# HELP corral_spawns_total "));
  EXPECT_EQ(value_of("corral_up"), 1);
  EXPECT_EQ(value_of("corral_orphans_reaped_total"), 0);
  EXPECT_EQ(value_of("corral_time_to_extinction_seconds_count"), 0);
}

TEST_F(MetricsText, CountsAWarmAttachAsAnAvoidedSpawnThatSavedTheLastColdStart) {
  happens(about(Kind::Spawn, "files"));
  happens(that_took(Kind::Ready, "files", milliseconds(1500)));
  happens(about(Kind::Attach, "files", "spawn"));
  EXPECT_EQ(value_of(R"(corral_spawns_avoided_total{server="files"})"), 0);

  happens(about(Kind::Attach, "files", "warm"));
  Event told = about(Kind::Attach, "files", "manifest");
  told.session = 7;
  happens(told);
  told.kind = Kind::Detach;
  happens(told);
  happens(about(Kind::Attach, "unheard", "warm"));

  EXPECT_EQ(value_of(R"(corral_spawns_total{server="files"})"), 1);
  EXPECT_EQ(value_of(R"(corral_spawns_avoided_total{server="files"})"), 2);
  EXPECT_EQ(value_of(R"(corral_spawns_avoided_total{server="unheard"})"), 1);
  EXPECT_DOUBLE_EQ(value_of("corral_cold_start_saved_seconds_total"), 3.0);
  EXPECT_EQ(value_of(R"(corral_cold_start_seconds_bucket{server="files",le="1"})"), 0);
  EXPECT_EQ(value_of(R"(corral_cold_start_seconds_bucket{server="files",le="2.5"})"), 1);
}

TEST_F(MetricsText, CountsNoStartAsAvoidedThatOnlyCameLater) {
  Event told = about(Kind::Attach, "files", "manifest");
  told.session = 7;
  happens(told);
  told.cause = "spawn";
  happens(told);
  told.kind = Kind::Detach;
  happens(told);

  EXPECT_DOUBLE_EQ(value_of("corral_cold_start_saved_seconds_total"), 0);
  EXPECT_THAT(metrics_.text({}), Not(HasSubstr("corral_spawns_avoided_total{")));
}

TEST_F(MetricsText, CountsSlowTurnsByTheirWork) {
  happens(about(Kind::SlowTurn, "", "client-messages"));
  happens(about(Kind::SlowTurn, "", "client-messages"));
  happens(about(Kind::SlowTurn, "", "timer"));

  EXPECT_EQ(value_of(R"(corral_slow_turns_total{work="client-messages"})"), 2);
  EXPECT_EQ(value_of(R"(corral_slow_turns_total{work="timer"})"), 1);
}

TEST_F(MetricsText, CountsHowInstancesEnd) {
  happens(about(Kind::Crash, "files"));
  happens(about(Kind::Restart, "files"));
  happens(about(Kind::Stop, "files", "idle"));
  happens(about(Kind::Stop, "files"));
  happens(that_took(Kind::Extinct, "files", milliseconds(50)));
  happens(that_took(Kind::Extinct, "files", milliseconds(120'000)));
  Event died = that_took(Kind::Extinct, "files", milliseconds(0));
  died.cause = "died";  // nobody decided on it
  happens(died);
  Event survivors = about(Kind::Survivor, "files");
  survivors.count = 3;
  happens(survivors);
  happens(about(Kind::Reap, ""));
  happens(about(Kind::Finding, "", "foreign"));
  happens(about(Kind::Failed, "files", "start"));

  EXPECT_EQ(value_of(R"(corral_crashes_total{server="files"})"), 1);
  EXPECT_EQ(value_of(R"(corral_failed_starts_total{server="files"})"), 1);
  EXPECT_EQ(value_of(R"(corral_restarts_total{server="files"})"), 1);
  EXPECT_EQ(value_of(R"(corral_spawns_total{server="files"})"), 1);
  EXPECT_EQ(value_of(R"(corral_stops_total{server="files",cause="idle"})"), 1);
  EXPECT_EQ(value_of(R"(corral_stops_total{server="files",cause="unknown"})"), 1);
  EXPECT_EQ(value_of(R"(corral_time_to_extinction_seconds_bucket{le="0.01"})"), 0);
  EXPECT_EQ(value_of(R"(corral_time_to_extinction_seconds_bucket{le="0.05"})"), 1);
  EXPECT_EQ(value_of(R"(corral_time_to_extinction_seconds_bucket{le="60"})"), 1);
  EXPECT_EQ(value_of(R"(corral_time_to_extinction_seconds_bucket{le="+Inf"})"), 2);
  EXPECT_DOUBLE_EQ(value_of("corral_time_to_extinction_seconds_sum"), 120.05);
  EXPECT_EQ(value_of("corral_survivors_total"), 3);
  EXPECT_EQ(value_of("corral_orphans_reaped_total"), 1);
  EXPECT_EQ(value_of(R"(corral_findings_total{kind="foreign"})"), 1);
  EXPECT_EQ(value_of(R"(corral_events_total{kind="extinct"})"), 3);
}

TEST_F(MetricsText, ShowsWhatRunsNow) {
  InstanceView one;
  one.server = "files";
  one.state = "ready";
  one.sessions = {1, 2, 3};
  one.calls = 2;
  one.usage = UsageView{std::uint64_t{3} << 30, 0.25, {ProcessView{}, ProcessView{}}};
  InstanceView other = one;
  other.sessions = {4};
  other.usage.reset();
  snapshot_.instances = {one, other};
  SessionView session;
  session.server = "files";
  session.transport = "stdio";
  snapshot_.sessions = {session, session};

  EXPECT_EQ(value_of(R"(corral_instances{server="files",state="ready"})"), 2);
  EXPECT_EQ(value_of(R"(corral_sessions{server="files",transport="stdio"})"), 2);
  EXPECT_EQ(value_of(R"(corral_shared_by{server="files"})"), 3);
  EXPECT_EQ(value_of(R"(corral_calls_in_flight{server="files"})"), 4);
  EXPECT_EQ(value_of(R"(corral_memory_bytes{server="files"})"), 3221225472.0);
  EXPECT_EQ(value_of(R"(corral_cpu_cores{server="files"})"), 0.25);
  EXPECT_EQ(value_of(R"(corral_processes{server="files"})"), 2);
}

TEST_F(MetricsText, StaysWellFormedWithHostileNames) {
  for (const char* name : {"a\"b\\c\nd", "\xFF\xFE", "\xFE\xFF", "corral_up 1\n", "}"}) {
    happens(about(Kind::Spawn, name, name));
    happens(about(Kind::Stop, name, name));
    InstanceView instance;
    instance.server = name;
    instance.state = name;
    snapshot_.instances.push_back(instance);
  }
  happens(about(Kind::Spawn, std::string(100'000, 'x')));

  EXPECT_EQ(value_of(R"(corral_spawns_total{server="a\"b\\c\nd"})"), 1);
  EXPECT_EQ(value_of("corral_spawns_total{server=\"\xEF\xBF\xBD\xEF\xBF\xBD\"}"), 2);
  EXPECT_LT(metrics_.text(snapshot_).size(), 20'000U);
}

TEST_F(MetricsText, GivesNoMoreThanSoManyServersANameOfTheirOwn) {
  for (int i = 0; i < 1000; ++i) happens(about(Kind::Spawn, "own-" + std::to_string(i)));
  InstanceView late;
  late.server = "late";
  late.state = "ready";
  snapshot_.instances = {late};

  EXPECT_EQ(value_of(R"(corral_spawns_total{server="own-255"})"), 1);
  EXPECT_EQ(value_of(R"(corral_spawns_total{server="other"})"), 744);
  EXPECT_EQ(value_of(R"(corral_instances{server="other",state="ready"})"), 1);
}

// The reader itself must be able to object, or the tests above say nothing.
TEST(PrometheusReader, ObjectsToWhatIsMalformed) {
  const std::string head = "# HELP x_total What.\n# TYPE x_total counter\n";
  EXPECT_EQ(PrometheusReader(head + "x_total 1\n").problem(), "");
  for (const char* bad :
       {"x_total 1", "x_total\n", "x_total 1 \n", "x_total{a=\"\n", "x_total{a=\"\\q\"} 1\n", "x_total -1\n",
        "y_total 1\n", "x_total 1\nx_total 1\n", "x_total{a=\"1\",a=\"2\"} 1\n", "x_total one\n",
        "# TYPE x_total counter\n", "# HELP x_total What.\n", "# HELP y Y.\n# TYPE y counter\n", "\n"}) {
    EXPECT_NE(PrometheusReader(head + bad).problem(), "") << bad;
  }
  const std::string histogram = "# HELP h H.\n# TYPE h histogram\n";
  EXPECT_NE(PrometheusReader(histogram + "h_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n").problem(), "");
  EXPECT_NE(
      PrometheusReader(histogram + "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n")
          .problem(),
      "");
  EXPECT_EQ(PrometheusReader(histogram + "h_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n").problem(), "");
}

TEST_F(MetricsText, HasEveryFamilyWithItsType) {
  std::string types;
  std::istringstream lines(metrics_.text(snapshot_));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE corral_")) types += line.substr(14) + "\n";
  }
  EXPECT_EQ(types,
            "spawns_total counter\nspawns_avoided_total counter\ncold_start_saved_seconds_total counter\n"
            "orphans_reaped_total counter\ntime_to_extinction_seconds histogram\n"
            "cold_start_seconds histogram\ncrashes_total counter\nfailed_starts_total counter\n"
            "restarts_total counter\n"
            "stops_total counter\nsurvivors_total counter\nfindings_total counter\nrefused_total counter\n"
            "stale_total counter\nbroken_total counter\nunattended_total counter\ndrift_total "
            "counter\nslow_turns_total counter\n"
            "sessions_ended_total counter\nevents_total counter\ninstances gauge\nsessions gauge\n"
            "shared_by gauge\ncalls_in_flight gauge\nstale_instances gauge\nmemory_bytes gauge\n"
            "cpu_cores gauge\nprocesses gauge\nup gauge\nbuild_info gauge\nuptime_seconds gauge\n"
            "health gauge\nregistry_degraded gauge\nbroken_servers gauge\nunkillable gauge\n");
}

TEST_F(MetricsText, CountsEveryKindOfTrouble) {
  for (int i = 0; i < 2; ++i) {
    happens(about(Kind::Broken, "files"));
    happens(about(Kind::Stale, "files"));
    happens(about(Kind::Refused, "", "quota"));
    happens(about(Kind::Finding, "", "orphan"));
    happens(about(Kind::Detach, "files"));
    happens(about(Kind::Crash, "files"));
    happens(about(Kind::Restart, "files"));
  }
  Event reaped = about(Kind::Reap, "");
  reaped.count = 5;
  happens(reaped);
  happens(about(Kind::Survivor, "files"));

  EXPECT_EQ(value_of(R"(corral_broken_total{server="files"})"), 2);
  EXPECT_EQ(value_of(R"(corral_stale_total{server="files"})"), 2);
  EXPECT_EQ(value_of(R"(corral_refused_total{cause="quota"})"), 2);
  EXPECT_EQ(value_of(R"(corral_findings_total{kind="orphan"})"), 2);
  EXPECT_EQ(value_of(R"(corral_crashes_total{server="files"})"), 2);
  EXPECT_EQ(value_of(R"(corral_restarts_total{server="files"})"), 2);
  EXPECT_EQ(value_of(R"(corral_spawns_total{server="files"})"), 2) << "each restart is a start";
  EXPECT_EQ(value_of("corral_sessions_ended_total"), 2);
  EXPECT_EQ(value_of("corral_orphans_reaped_total"), 5);
  EXPECT_EQ(value_of("corral_survivors_total"), 1) << "it did not say how many";
  EXPECT_EQ(value_of(R"(corral_events_total{kind="restart"})"), 2);
}

TEST_F(MetricsText, CountsTheTimeThatASpareSavedButNoStart) {
  happens(that_took(Kind::Ready, "files", milliseconds(2000)));
  happens(that_took(Kind::Ready, "files", milliseconds(500)));
  happens(about(Kind::Attach, "files", "spare"));

  EXPECT_DOUBLE_EQ(value_of("corral_cold_start_saved_seconds_total"), 0.5) << "the last cold start";
  EXPECT_THAT(metrics_.text({}), Not(HasSubstr("corral_spawns_avoided_total{")));
  EXPECT_EQ(value_of(R"(corral_cold_start_seconds_count{server="files"})"), 2);
  EXPECT_DOUBLE_EQ(value_of(R"(corral_cold_start_seconds_sum{server="files"})"), 2.5);
  happens(about(Kind::Ready, "files"));
  happens(that_took(Kind::Ready, "files", milliseconds(-5)));
  EXPECT_EQ(value_of(R"(corral_cold_start_seconds_count{server="files"})"), 3) << "one did not say";
  EXPECT_DOUBLE_EQ(value_of(R"(corral_cold_start_seconds_sum{server="files"})"), 2.5);
}

TEST_F(MetricsText, ShowsHowTheDaemonIs) {
  snapshot_.daemon.version = "1.2";
  snapshot_.daemon.build = "today";
  snapshot_.daemon.uptime = milliseconds(1500);
  EXPECT_EQ(value_of(R"(corral_build_info{version="1.2",build_date="today"})"), 1);
  EXPECT_DOUBLE_EQ(value_of("corral_uptime_seconds"), 1.5);
  EXPECT_EQ(value_of("corral_health"), 1);
  EXPECT_EQ(value_of("corral_registry_degraded"), 0);
  EXPECT_EQ(value_of("corral_broken_servers"), 0);
  EXPECT_EQ(value_of("corral_unkillable"), 0);

  snapshot_.daemon.degraded = "no space";
  snapshot_.servers = {{"files", false, false, "died 5 times", ""}, {"fine", false, false, "", ""}};
  snapshot_.unkillable = {"one", "two"};
  snapshot_.health = health_of(snapshot_);
  EXPECT_EQ(value_of("corral_health"), 0);
  EXPECT_EQ(value_of("corral_registry_degraded"), 1);
  EXPECT_EQ(value_of("corral_broken_servers"), 1);
  EXPECT_EQ(value_of("corral_unkillable"), 2);
}

TEST_F(MetricsText, AddsUpWhatSeveralInstancesUse) {
  InstanceView one;
  one.server = "files";
  one.state = "ready";
  one.usage = UsageView{100, 0.25, {ProcessView{}}};
  InstanceView stale = one;
  stale.stale = "its files changed";
  snapshot_.instances = {one, stale, one};

  EXPECT_EQ(value_of(R"(corral_memory_bytes{server="files"})"), 300);
  EXPECT_EQ(value_of(R"(corral_cpu_cores{server="files"})"), 0.75);
  EXPECT_EQ(value_of(R"(corral_processes{server="files"})"), 3);
  EXPECT_EQ(value_of(R"(corral_stale_instances{server="files"})"), 1);
  EXPECT_EQ(value_of(R"(corral_shared_by{server="files"})"), 0);
}

}  // namespace
}  // namespace corral::observe
