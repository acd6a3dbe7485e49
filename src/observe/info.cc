// `get_server_info`: the members that S1.4 names, with these names and in this order. What S1.4 leaves open
// is decided here and documented in docs/api.md: one entry per server process that the daemon has started,
// the daemon itself first; `client` is a text, `sessions` are numbers; `clients` is an addition of corral,
// with one object per session.
#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "observe/json_parts.h"
#include "observe/snapshot.h"

namespace corral::observe {
namespace {

constexpr std::size_t kClientsShown = 8;  // in `client`; `clients` has all of them
constexpr std::size_t kNameShown = 100;   // bytes of a client's name or version

std::int64_t whole_seconds_of(milliseconds time) {
  return std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(time).count(), 0);
}

/// "12s", "4m 0s", "1h 0m", "2d 4h": always two units from one minute on, as in S1.4.
std::string formatted(milliseconds uptime) {
  const std::int64_t seconds = whole_seconds_of(uptime);
  const auto two = [](std::int64_t large, const char* unit, std::int64_t small, const char* rest) {
    return std::to_string(large) + unit + " " + std::to_string(small) + rest;
  };
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return two(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86400) return two(seconds / 3600, "h", seconds / 60 % 60, "m");
  return two(seconds / 86400, "d", seconds / 3600 % 24, "h");
}

std::string uptime_members(milliseconds uptime) {
  return R"(,"uptime_seconds":)" + std::to_string(whole_seconds_of(uptime)) + R"(,"uptime_formatted":)" +
         wire::quoted(formatted(uptime));
}

/// "claude-code 2.1 (pid 812)"; the process of an HTTP client may be unknown.
std::string client_name(const SessionView& session) {
  std::string name = session.client_name.empty() ? "unknown" : session.client_name.substr(0, kNameShown);
  if (!session.client_version.empty()) name += " " + session.client_version.substr(0, kNameShown);
  if (session.client_pid > 0) name += " (pid " + std::to_string(session.client_pid) + ")";
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
std::string whom_json(const SessionView& session) {
  return R"({"session":)" + std::to_string(session.id) + R"(,"name":)" + wire::quoted(session.client_name) +
         R"(,"version":)" + wire::quoted(session.client_version) + R"(,"pid":)" +
         std::to_string(session.client_pid) + R"(,"command":)" + text_or_null(session.client_command) +
         R"(,"root":)" + text_or_null(session.client_root) + R"(,"age_seconds":)" +
         std::to_string(whole_seconds_of(session.age)) + R"(,"calls":)" + std::to_string(session.calls) + "}";
}

/// `client`, `sessions` and `clients` of a process.
std::string client_members(const std::vector<const SessionView*>& sessions) {
  std::vector<std::string> numbers;
  std::vector<std::string> clients;
  for (const SessionView* session : sessions) {
    numbers.push_back(std::to_string(session->id));
    clients.push_back(whom_json(*session));
  }
  return R"(,"client":)" + text_or_null(clients_text(sessions)) + R"(,"sessions":)" + array_json(numbers) +
         R"(,"clients":)" + array_json(clients);
}

using SessionsById = std::unordered_map<std::uint64_t, const SessionView*>;

std::string process_entry(const InstanceView& instance, const SessionsById& by_id) {
  std::vector<const SessionView*> sessions;
  for (const std::uint64_t id : instance.sessions) {
    const auto found = by_id.find(id);
    if (found != by_id.end()) sessions.push_back(found->second);
  }
  return R"({"pid":)" + std::to_string(instance.pid) + R"(,"is_current":false)" +
         uptime_members(instance.uptime) + R"(,"status":)" + wire::quoted(instance.state) + R"(,"server":)" +
         wire::quoted(instance.server) + R"(,"version":)" + text_or_null(instance.version) +
         client_members(sessions) + R"(,"instance":)" + wire::quoted(instance.id) + R"(,"stale":)" +
         text_or_null(instance.stale) + "}";
}

/// The daemon serves every session, so its entry lists none.
std::string daemon_entry(const DaemonView& daemon) {
  return R"({"pid":)" + std::to_string(daemon.pid) + R"(,"is_current":true)" + uptime_members(daemon.uptime) +
         R"(,"status":"running","server":"corral","version":)" + wire::quoted(daemon.version) +
         client_members({}) + R"(,"instance":null,"stale":null})";
}

std::string pid_file_json(const PidFileView& file) {
  return R"({"path":)" + wire::quoted(file.path) + R"(,"exists":)" + flag_json(file.exists) + R"(,"pid":)" +
         (file.pid > 0 ? std::to_string(file.pid) : "null") + R"(,"version":)" + text_or_null(file.version) +
         R"(,"started":)" + text_or_null(file.started) + R"(,"matches":)" + flag_json(file.matches) + "}";
}

}  // namespace

std::string info_json(const Snapshot& snapshot) {
  const DaemonView& daemon = snapshot.daemon;
  SessionsById by_id;
  for (const SessionView& session : snapshot.sessions) by_id[session.id] = &session;
  std::vector<std::string> processes = {daemon_entry(daemon)};
  for (const InstanceView& instance : snapshot.instances) {
    if (instance.pid > 0)
      processes.push_back(process_entry(instance, by_id));  // otherwise there is no process yet
  }
  const Health health = health_of(snapshot);
  return R"({"success":true,"server_version":)" + wire::quoted(daemon.version) + R"(,"build_date":)" +
         wire::quoted(daemon.build) + R"(,"current_pid":)" + std::to_string(daemon.pid) +
         R"(,"current_uptime_seconds":)" + std::to_string(whole_seconds_of(daemon.uptime)) +
         R"(,"current_uptime_formatted":)" + wire::quoted(formatted(daemon.uptime)) +
         R"(,"total_server_processes":)" + std::to_string(processes.size()) + R"(,"server_processes":)" +
         array_json(processes) + R"(,"health":)" + (health.healthy ? R"("healthy")" : R"("degraded")") +
         R"(,"health_reasons":)" + strings_json(health.reasons) + R"(,"pid_file":)" +
         pid_file_json(daemon.pid_file) + "}";
}

}  // namespace corral::observe
