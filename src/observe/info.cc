// `get_server_info`: the members that S1.4 names, with these names and in this order. What S1.4 leaves open
// is decided here and documented in docs/api.md: one entry per server process that the daemon has started,
// the daemon itself first; `client` is a string, `sessions` are numbers; `clients` is an addition of corral,
// with one object per session.
#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "observe/snapshot.h"
#include "wire/json_writer.h"

namespace corral::observe {
namespace {

using wire::JsonObject;

constexpr std::size_t kClientsShown = 8;  // in `client`; `clients` has all of them
constexpr std::size_t kNameShown = 100;   // bytes of a client's name or version

std::int64_t whole_seconds_of(std::optional<milliseconds> time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time.value_or(milliseconds(0)));
  return std::max<std::int64_t>(seconds.count(), 0);
}

/// "12s", "4m 0s", "1h 0m", "2d 4h": always two units from one minute on, as in S1.4.
std::string formatted(std::optional<milliseconds> uptime) {
  const std::int64_t seconds = whole_seconds_of(uptime);
  const auto two = [](std::int64_t large, const char* unit, std::int64_t small, const char* rest) {
    return std::to_string(large) + unit + " " + std::to_string(small) + rest;
  };
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return two(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86400) return two(seconds / 3600, "h", seconds / 60 % 60, "m");
  return two(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

void add_uptime(JsonObject& object, std::optional<milliseconds> uptime) {
  object.number("uptime_seconds", whole_seconds_of(uptime)).text("uptime_formatted", formatted(uptime));
}

/// "claude-code 2.1 (pid 812)"; the process of an HTTP client may be unknown.
std::string client_name(const SessionView& session) {
  std::string name = session.client.name.empty() ? "unknown" : session.client.name.substr(0, kNameShown);
  if (!session.client.version.empty()) name += " " + session.client.version.substr(0, kNameShown);
  if (session.client.pid > 0) name += " (pid " + std::to_string(*session.client.pid) + ")";
  return name;
}

std::string clients_text(const std::vector<const SessionView*>& sessions) {
  std::vector<std::string> names;
  for (const SessionView* session : sessions) {
    std::string name = client_name(*session);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kClientsShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kClientsShown) text += " and " + std::to_string(names.size() - kClientsShown) + " more";
  return text;
}

/// S1.8: the client that a process serves.
std::string whom_json(const SessionView* session) {
  return JsonObject()
      .number("session", session->id)
      .text("name", session->client.name)
      .text("version", session->client.version)
      .number_or_null("pid", session->client.pid)
      .text_or_null("command", session->client.command)
      .text_or_null("root", session->client.root)
      .number("age_seconds", whole_seconds_of(session->age))
      .number_or_null("calls", session->calls)
      .json();
}

/// `client`, `sessions` and `clients` of a process.
void add_clients(JsonObject& object, const std::vector<const SessionView*>& sessions) {
  const auto number = [](const SessionView* session) { return std::to_string(session->id); };
  object.text_or_null("client", clients_text(sessions))
      .raw("sessions", wire::array_of(sessions, number))
      .raw("clients", wire::array_of(sessions, whom_json));
}

using SessionsById = std::unordered_map<std::uint64_t, const SessionView*>;

std::string process_entry(const InstanceView& instance, const SessionsById& by_id) {
  std::vector<const SessionView*> sessions;
  for (const std::uint64_t id : instance.sessions) {
    const auto found = by_id.find(id);
    if (found != by_id.end()) sessions.push_back(found->second);
  }
  JsonObject entry;
  entry.number("pid", instance.pid).flag("is_current", false);
  add_uptime(entry, instance.uptime);
  entry.text("status", instance.state)
      .text("server", instance.server)
      .text_or_null("version", instance.version);
  add_clients(entry, sessions);
  return entry.text("instance", instance.id).text_or_null("stale", instance.stale).json();
}

/// The daemon serves every session, so its entry lists none.
std::string daemon_entry(const DaemonView& daemon) {
  JsonObject entry;
  entry.number("pid", daemon.pid).flag("is_current", true);
  add_uptime(entry, daemon.uptime);
  entry.text("status", "running").text("server", "corral").text("version", daemon.version);
  add_clients(entry, {});
  return entry.raw("instance", "null").raw("stale", "null").json();
}

std::string pid_file_json(const PidFileView& file) {
  return JsonObject()
      .text("path", file.path)
      .flag("exists", file.exists)
      .number_or_null("pid", file.pid > 0 ? std::optional(file.pid) : std::nullopt)
      .text_or_null("version", file.version)
      .text_or_null("started", file.started)
      .flag("matches", file.matches)
      .json();
}

}  // namespace

std::string info_json(const Snapshot& snapshot) {
  const DaemonView& daemon = snapshot.daemon;
  SessionsById by_id;
  for (const SessionView& session : snapshot.sessions) by_id[session.id] = &session;
  wire::JsonArray processes;
  processes.raw(daemon_entry(daemon));
  std::size_t count = 1;
  for (const InstanceView& instance : snapshot.instances) {
    if (instance.pid <= 0) continue;  // there is no process yet
    processes.raw(process_entry(instance, by_id));
    ++count;
  }
  return JsonObject()
      .flag("success", true)
      .text("server_version", daemon.version)
      .text("build_date", daemon.build)
      .number("current_pid", daemon.pid)
      .number("current_uptime_seconds", whole_seconds_of(daemon.uptime))
      .text("current_uptime_formatted", formatted(daemon.uptime))
      .number("total_server_processes", count)
      .raw("server_processes", processes.json())
      .text("health", snapshot.health.healthy ? "healthy" : "degraded")
      .raw("health_reasons", wire::array_of_texts(snapshot.health.reasons))
      .raw("pid_file", pid_file_json(daemon.pid_file))
      .text_or_null("program", daemon.program)
      .flag("program_replaced", daemon.program_replaced)
      .json();
}

}  // namespace corral::observe
