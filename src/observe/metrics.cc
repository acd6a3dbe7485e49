#include "observe/metrics.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "observe/prometheus_text.h"

namespace corral::observe {
namespace {

using events::Cause;
using events::Event;
using events::Kind;

/// Clients can bring their own commands, and each is a server with a name. Without a limit, the number of
/// time series would grow without bound; the rest share one value.
constexpr std::size_t kMostLabelValues = 256;
constexpr const char* kOther = "other";

/// The label values that are shown separately, in the order of their first use.
class LabelValues {
 public:
  const std::string& of(std::string_view bytes) {
    const std::string value = label_value(bytes);
    if (const auto known = values_.find(value); known != values_.end()) return *known;
    static const std::string other = kOther;
    if (values_.size() >= kMostLabelValues) return other;
    return *values_.insert(value).first;
  }

 private:
  std::set<std::string> values_;
};

using Count = std::map<std::string, double>;
using Count2 = std::map<std::pair<std::string, std::string>, double>;

double seconds_of(milliseconds time) { return static_cast<double>(time.count()) / 1000.0; }

/// An event without a count counts as one.
double many(const Event& event) { return static_cast<double>(std::max<std::uint64_t>(event.count, 1)); }

void write_counts(PrometheusText& out, std::string_view label, const Count& counts) {
  for (const auto& [value, count] : counts) out.sample({{label, value}}, count);
}

void write_counts(PrometheusText& out, std::string_view label, std::string_view second,
                  const Count2& counts) {
  for (const auto& [values, count] : counts) {
    out.sample({{label, values.first}, {second, values.second}}, count);
  }
}

void write_single(PrometheusText& out, const char* name, const char* help, double value) {
  out.family(name, "gauge", help);
  out.sample({}, value);
}

/// The totals of instances and sessions, by server.
struct Gauges {
  Count2 instances;  // server, state
  Count2 sessions;   // server, transport
  Count shared_by;
  Count calls;
  Count stale;
  Count memory;
  Count cpu;
  Count processes;
};

Gauges gauges_of(const Snapshot& snapshot, LabelValues servers, LabelValues words) {
  Gauges gauges;
  for (const InstanceView& instance : snapshot.instances) {
    const std::string& server = servers.of(instance.server);
    gauges.instances[{server, words.of(instance.state)}] += 1;
    double& shared_by = gauges.shared_by[server];
    shared_by = std::max(shared_by, static_cast<double>(instance.sessions.size()));
    gauges.calls[server] += static_cast<double>(instance.calls.value_or(0));
    gauges.stale[server] += instance.stale.empty() ? 0 : 1;
    if (!instance.usage) continue;
    gauges.memory[server] += static_cast<double>(instance.usage->memory.value_or(0));
    gauges.cpu[server] += instance.usage->cpu.value_or(0);
    gauges.processes[server] += static_cast<double>(instance.usage->processes.size());
  }
  for (const SessionView& session : snapshot.sessions) {
    gauges.sessions[{servers.of(session.server), words.of(session.transport)}] += 1;
  }
  return gauges;
}

void write_gauges(PrometheusText& out, const Gauges& gauges) {
  out.family("corral_instances", "gauge", "Instances of servers, by state.");
  write_counts(out, "server", "state", gauges.instances);
  out.family("corral_sessions", "gauge", "Open sessions of clients.");
  write_counts(out, "server", "transport", gauges.sessions);
  out.family("corral_shared_by", "gauge", "Sessions of the instance with the most sessions.");
  write_counts(out, "server", gauges.shared_by);
  out.family("corral_calls_in_flight", "gauge", "Calls that servers have not answered yet.");
  write_counts(out, "server", gauges.calls);
  out.family("corral_stale_instances", "gauge", "Instances whose files have changed since they started.");
  write_counts(out, "server", gauges.stale);
  out.family("corral_memory_bytes", "gauge", "Memory of all processes of a server: PSS and swap.");
  write_counts(out, "server", gauges.memory);
  out.family("corral_cpu_cores", "gauge", "CPU cores used by all processes of a server.");
  write_counts(out, "server", gauges.cpu);
  out.family("corral_processes", "gauge", "Processes of a server.");
  write_counts(out, "server", gauges.processes);
}

void write_daemon(PrometheusText& out, const Snapshot& snapshot) {
  const DaemonView& daemon = snapshot.daemon;
  const auto broken = std::count_if(snapshot.servers.begin(), snapshot.servers.end(),
                                    [](const ServerView& server) { return !server.broken.empty(); });
  write_single(out, "corral_up", "1: the daemon is running.", 1);
  out.family("corral_build_info", "gauge", "1; the labels show the version and build date of corral.");
  out.sample({{"version", label_value(daemon.version)}, {"build_date", label_value(daemon.build)}}, 1);
  write_single(out, "corral_uptime_seconds", "Time since the daemon started.",
               seconds_of(daemon.uptime.value_or(milliseconds(0))));
  write_single(out, "corral_health", "1: healthy; 0: degraded, and get_server_info says why.",
               snapshot.health.healthy ? 1 : 0);
  write_single(out, "corral_registry_degraded", "1: the registry cannot be written.",
               daemon.degraded.empty() ? 0 : 1);
  write_single(out, "corral_broken_servers", "Servers that died too often and are not started for now.",
               static_cast<double>(broken));
  write_single(out, "corral_unkillable", "Processes that could not be ended.",
               static_cast<double>(snapshot.unkillable.size()));
}

}  // namespace

struct Metrics::Counters {
  LabelValues servers;
  LabelValues words;  // causes and states: few, unless a client invents them
  Count spawns;
  Count avoided;
  Count crashes;
  Count failed_starts;
  Count restarts;
  Count2 stops;  // server, cause
  Count stale;
  Count broken;
  Count findings;                           // cause
  Count refused;                            // cause
  Count2 unattended;                        // server, cause
  Count drifts;                             // cause
  Count slow_turns;                         // work
  Count events;                             // kind
  std::set<std::uint64_t> without_process;  // sessions that are served from a manifest so far
  double saved_seconds = 0;
  double orphans = 0;
  double survivors = 0;
  double sessions_ended = 0;
  std::map<std::string, double> last_cold_start;
  std::map<std::string, DurationHistogram> cold_start;
  DurationHistogram extinction;

  void started(Count& count, const std::string& server);
  void attached(const Event& event, const std::string& server);
  void detached(const Event& event, const std::string& server);
  void did_without(const std::string& server);
  void saved(const std::string& server);
  void ready(const Event& event, const std::string& server);
  void extinct(const Event& event);
  void write_lifecycle(PrometheusText& out) const;
  void write_trouble(PrometheusText& out) const;
};

/// Every start is a spawn; a start after a death is also a restart.
void Metrics::Counters::started(Count& count, const std::string& server) {
  count[server] += 1;
  avoided.try_emplace(server, 0);  // a rate needs an initial value
}

void Metrics::Counters::attached(const Event& event, const std::string& server) {
  if (event.has_cause(Cause::Manifest)) {  // it is not known yet whether the session will need a process
    without_process.insert(event.session);
    return;
  }
  without_process.erase(event.session);
  if (event.has_cause(Cause::Warm)) did_without(server);
  if (event.has_cause(Cause::Spare)) saved(server);
}

void Metrics::Counters::detached(const Event& event, const std::string& server) {
  sessions_ended += 1;
  if (without_process.erase(event.session) > 0) did_without(server);
}

void Metrics::Counters::did_without(const std::string& server) {
  avoided[server] += 1;
  saved(server);
}

void Metrics::Counters::saved(const std::string& server) {
  if (const auto last = last_cold_start.find(server); last != last_cold_start.end()) {
    saved_seconds += last->second;
  }
}

void Metrics::Counters::ready(const Event& event, const std::string& server) {
  if (!event.took) return;
  const double seconds = std::max(0.0, seconds_of(*event.took));
  cold_start[server].add(seconds);
  // Servers that share the value "other" have no common start time.
  if (server != kOther) last_cold_start[server] = seconds;
}

/// The end of an instance that died by itself was not decided, so there is no duration.
void Metrics::Counters::extinct(const Event& event) {
  if (event.took && !event.has_cause(Cause::Died)) extinction.add(std::max(0.0, seconds_of(*event.took)));
}

void Metrics::Counters::write_lifecycle(PrometheusText& out) const {
  out.family("corral_spawns_total", "counter", "Instances started, including restarts.");
  write_counts(out, "server", spawns);
  out.family("corral_spawns_avoided_total", "counter",
             "Times a session got a server without a process being started for it.");
  write_counts(out, "server", avoided);
  out.family("corral_cold_start_saved_seconds_total", "counter",
             "Time that sessions did not wait: the last cold start of the server for each start avoided.");
  out.sample({}, saved_seconds);
  out.family("corral_orphans_reaped_total", "counter",
             "Processes left behind by an earlier daemon or another program that were ended.");
  out.sample({}, orphans);
  out.family("corral_time_to_extinction_seconds", "histogram",
             "From the decision to end an instance to the proof that its whole tree is gone.");
  out.histogram({}, extinction);
  out.family("corral_cold_start_seconds", "histogram",
             "From the start of an instance to the end of its handshake.");
  for (const auto& [server, durations] : cold_start) out.histogram({{"server", server}}, durations);
}

void Metrics::Counters::write_trouble(PrometheusText& out) const {
  out.family("corral_crashes_total", "counter", "Instances that ended unexpectedly.");
  write_counts(out, "server", crashes);
  out.family("corral_failed_starts_total", "counter",
             "Instances that could not be started or refused the handshake.");
  write_counts(out, "server", failed_starts);
  out.family("corral_restarts_total", "counter",
             "Instances started after another one died in the same slot.");
  write_counts(out, "server", restarts);
  out.family("corral_stops_total", "counter", "Instances that corral ended, by cause.");
  write_counts(out, "server", "cause", stops);
  out.family("corral_survivors_total", "counter",
             "Processes that could not be ended, or whose end is not proved.");
  out.sample({}, survivors);
  out.family("corral_findings_total", "counter", "Inconsistencies found by the watchdog.");
  write_counts(out, "kind", findings);
  out.family("corral_refused_total", "counter", "Requests that were refused, by cause.");
  write_counts(out, "cause", refused);
  out.family("corral_stale_total", "counter", "Times the files of a running server changed.");
  write_counts(out, "server", stale);
  out.family("corral_broken_total", "counter",
             "Times a server died too often and was not started for a while.");
  write_counts(out, "server", broken);
  out.family("corral_unattended_total", "counter",
             "Instances whose clients nobody was attached to any more: parked or kept.");
  write_counts(out, "server", "cause", unattended);
  out.family("corral_drift_total", "counter",
             "Adopted entries that a client, or somebody else, has changed, by what became of them.");
  write_counts(out, "cause", drifts);
  out.family("corral_slow_turns_total", "counter",
             "Turns of the daemon's loop that took more than 100 ms of CPU time, by the longest work.");
  write_counts(out, "work", slow_turns);
  out.family("corral_sessions_ended_total", "counter", "Client sessions that have ended.");
  out.sample({}, sessions_ended);
  out.family("corral_events_total", "counter", "Events of the event stream.");
  write_counts(out, "kind", events);
}

Metrics::Metrics() : counters_(std::make_unique<Counters>()) {}
Metrics::~Metrics() = default;

void Metrics::count(const Event& event) {
  Counters& counters = *counters_;
  counters.events[events::name_of(event.kind)] += 1;
  const std::string server = event.server.empty() ? std::string() : counters.servers.of(event.server);
  const std::string cause = event.cause.empty() ? "unknown" : counters.words.of(event.cause);
  switch (event.kind) {
    case Kind::Restart: counters.restarts[server] += 1; [[fallthrough]];
    case Kind::Spawn: counters.started(counters.spawns, server); break;
    case Kind::Ready: counters.ready(event, server); break;
    case Kind::Attach: counters.attached(event, server); break;
    case Kind::Detach: counters.detached(event, server); break;
    case Kind::Crash: counters.crashes[server] += 1; break;
    case Kind::Failed: counters.failed_starts[server] += 1; break;
    case Kind::Stop: counters.stops[{server, cause}] += 1; break;
    case Kind::Extinct: counters.extinct(event); break;
    case Kind::Survivor: counters.survivors += many(event); break;
    case Kind::Broken: counters.broken[server] += 1; break;
    case Kind::Stale: counters.stale[server] += 1; break;
    case Kind::Refused: counters.refused[cause] += 1; break;
    case Kind::Reap: counters.orphans += many(event); break;
    case Kind::Finding: counters.findings[cause] += 1; break;
    case Kind::Unattended: counters.unattended[{server, cause}] += 1; break;
    case Kind::Drift: counters.drifts[cause] += 1; break;
    case Kind::SlowTurn: counters.slow_turns[cause] += 1; break;
    case Kind::Start:
    case Kind::Shutdown:
    case Kind::Reload:
    case Kind::Registry: break;
  }
}

std::string Metrics::text(const Snapshot& snapshot) const {
  PrometheusText out;
  counters_->write_lifecycle(out);
  counters_->write_trouble(out);
  write_gauges(out, gauges_of(snapshot, counters_->servers, counters_->words));
  write_daemon(out, snapshot);
  return out.take();
}

}  // namespace corral::observe
