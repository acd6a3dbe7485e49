#include "cli/commands/kept_history.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>

#include "base/utc_time.h"
#include "cli/frame/daemon_command.h"
#include "cli/frame/parser.h"
#include "control/runtime_dir.h"
#include "registry/kept_records.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using events::Event;
using events::Kind;
using registry::InstanceRecord;
using registry::KeptRecords;

constexpr std::size_t kMostRuns = 40;
constexpr std::size_t kMostInstancesRead = 4096;
constexpr std::size_t kMostFailures = 40;
constexpr std::size_t kMostEventsRead = 50'000;  // when looking for failures

LastFailure failure_of(const Event& event) {
  return {.server = event.server,
          .time_ms = event.time_ms,
          .kind = events::name_of(event.kind),
          .text = events::sentence_of(event),
          .instance = event.instance,
          .pid = event.instance.empty() ? 0 : event.pid,
          .error_lines = event.error_lines};
}

/// The newest failure of each server; of one server if `server` is not empty.
Result<std::vector<LastFailure>> read_failures(KeptRecords& records, const std::string& server) {
  std::vector<LastFailure> failures;
  std::set<std::string> seen;
  std::size_t read = 0;
  const Result<void> done = records.newest_first([&](const Event& event) {
    const bool wanted = server.empty() ? !event.server.empty() : event.server == server;
    if (wanted && events::is_failure(event.kind) && seen.insert(event.server).second) {
      failures.push_back(failure_of(event));
    }
    const bool enough = failures.size() >= (server.empty() ? kMostFailures : 1);
    return !enough && ++read < kMostEventsRead;
  });
  if (!done) return done.error();
  return failures;
}

/// Which instances a running daemon has.
std::set<std::string> running_in(const KnownStatus& status) {
  std::set<std::string> ids;
  if (!status) return ids;
  for (const observe::InstanceView& instance : status->instances) ids.insert(instance.id);
  return ids;
}

LastRun run_of(const InstanceRecord& instance, const std::set<std::string>& running) {
  LastRun run{instance.server,     instance.id,       instance.process.pid,
              instance.started_ms, instance.ended_ms, instance.cause};
  if (instance.ended_ms == 0) run.how = running.contains(instance.id) ? "running" : "lost";
  if (run.how.empty()) run.how = "ended";
  return run;
}

/// The last one of each server, and every one that is not known to have ended.
void add_instances(LastRuns& last, const std::vector<InstanceRecord>& instances,
                   const std::set<std::string>& running, const std::string& server) {
  std::set<std::string> seen;
  for (const InstanceRecord& instance : instances) {
    if (!server.empty() && instance.server != server) continue;
    const bool newest = seen.insert(instance.server).second;
    if (!newest && instance.ended_ms != 0) continue;
    if (last.runs.size() >= kMostRuns) return;
    last.runs.push_back(run_of(instance, running));
  }
}

/// A process that exits at once is gone before its record has its pid; the event has it.
void add_pids(LastRuns& last) {
  for (LastRun& run : last.runs) {
    for (const LastFailure& failure : last.failures) {
      if (run.pid == 0 && failure.instance == run.instance) run.pid = failure.pid;
    }
  }
}

/// Servers that failed or were refused before there was a process.
void add_failed_starts(LastRuns& last) {
  for (const LastFailure& failure : last.failures) {
    const bool has_run = std::any_of(last.runs.begin(), last.runs.end(), [&failure](const LastRun& run) {
      return run.server == failure.server && run.started_ms <= failure.time_ms;
    });
    if (has_run) continue;
    const std::string how = failure.kind == events::name_of(Kind::Refused) ? "refused" : "failed";
    last.runs.push_back({failure.server, "", 0, failure.time_ms, 0, how});
  }
  std::stable_sort(last.runs.begin(), last.runs.end(), [](const LastRun& one, const LastRun& other) {
    return one.started_ms > other.started_ms;
  });
}

std::optional<LastFailure> failure_in(const observe::Snapshot& status, const std::string& server) {
  for (const observe::FailureView& failure : status.failures) {
    if (failure.server != server) continue;
    const std::int64_t age = failure.age ? failure.age->count() : 0;
    return LastFailure{.server = server,
                       .time_ms = unix_time_ms() - age,
                       .kind = failure.kind.empty() ? "failed" : failure.kind,
                       .text = failure.text,
                       .error_lines = failure.error_lines};
  }
  return std::nullopt;
}

}  // namespace

std::string usual_state_directory(const std::string& runtime_dir) {
  return runtime_dir.empty() ? control::default_state_directory()
                             : control::state_directory_for(std::filesystem::absolute(runtime_dir).string());
}

Result<std::string> registry_file(const std::string& runtime_dir, const KnownStatus& status) {
  if (status) {
    const std::string& file = status->daemon.registry;
    if (!file.empty()) return {boost::system::in_place_value, file};
    return Error{"the running daemon keeps nothing: it has no state directory"};
  }
  const std::string state = usual_state_directory(runtime_dir);
  if (state.empty()) return Error{"there is no state directory: set HOME or XDG_STATE_HOME"};
  return {boost::system::in_place_value, state + "/registry.db"};
}

Result<void> each_kept_event(const std::string& file, const std::function<void(const json::value&)>& take) {
  Result<KeptRecords> records = KeptRecords::open(file);
  if (!records) return records.error();
  return records->oldest_first([&take](const Event& event) {
    boost::system::error_code error;
    const json::value value = json::parse(events::to_json(event), error);
    if (!error) take(value);
    return true;
  });
}

Result<LastRuns> read_last_runs(const std::string& file, const KnownStatus& status,
                                const std::string& server) {
  Result<KeptRecords> records = KeptRecords::open(file);
  if (!records) return records.error();
  LastRuns last{records->file(), {}, {}};
  Result<std::vector<LastFailure>> failures = read_failures(*records, server);
  if (!failures) return failures.error();
  last.failures = std::move(*failures);
  const Result<std::vector<InstanceRecord>> instances = records->last_instances(kMostInstancesRead);
  if (!instances) return instances.error();
  add_instances(last, *instances, running_in(status), server);
  add_pids(last);
  add_failed_starts(last);
  return last;
}

std::optional<LastFailure> last_failure_of(const std::string& server, const std::string& runtime_dir,
                                           const KnownStatus& status) {
  // What the daemon says now may not be in the file yet.
  if (std::optional<LastFailure> now = status ? failure_in(*status, server) : std::nullopt) return now;
  const Result<std::string> file = registry_file(runtime_dir, status);
  if (!file) return std::nullopt;
  Result<KeptRecords> records = KeptRecords::open(*file);
  if (!records) return std::nullopt;
  const Result<std::vector<LastFailure>> kept = read_failures(*records, server);
  if (!kept || kept->empty()) return std::nullopt;
  return kept->front();
}

int show_last(const DaemonOptions& options) {
  const KnownStatus status = status_if_running(options.runtime_dir, control::kTellPatience);
  const Result<std::string> file = registry_file(options.runtime_dir, status);
  if (!file) return fail("ps", file.error().message);
  const Result<LastRuns> last = read_last_runs(*file, status, options.server);
  if (!last) {
    const int code = fail("ps", last.error().message);
    return last.error().kind == Error::Kind::NotFound ? kNoDaemonRuns : code;
  }
  if (options.json) {
    std::cout << last_runs_json(*last) << '\n';
    return 0;
  }
  Page page(std::cout, terminal_style(STDOUT_FILENO));
  show_last_runs(page, *last, unix_time_ms());
  return 0;
}

}  // namespace corral::cli
