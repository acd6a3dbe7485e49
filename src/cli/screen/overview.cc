#include "cli/screen/overview.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "cli/screen/json_view.h"
#include "daemon/built_in_server.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::size_t kLongestText = 4096;  // of one that a person reads

std::string safe_text(const json::value& value, std::string_view name) {
  const json::value* const found = member(value, name);
  if (found == nullptr || !found->is_string()) return {};
  const json::string& text = found->get_string();
  return printable(std::string(text.data(), std::min(text.size(), kLongestText)));
}

std::optional<std::uint64_t> natural(const json::value& value, std::string_view name) {
  const json::value* const found = member(value, name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  boost::system::error_code error;
  const auto number = found->to_number<std::uint64_t>(error);
  return error ? std::nullopt : std::optional(number);
}

std::int64_t pid_in(const json::value& value, std::string_view name) {
  const std::optional<std::uint64_t> number = natural(value, name);
  return number && *number <= std::numeric_limits<std::int32_t>::max() ? static_cast<std::int64_t>(*number)
                                                                       : 0;
}

std::optional<milliseconds> duration_in(const json::value& value, std::string_view name) {
  constexpr std::uint64_t kMost = 1000ULL * 3600 * 24 * 366 * 1000;  // a thousand years
  const std::optional<std::uint64_t> number = natural(value, name);
  if (!number) return std::nullopt;
  return milliseconds(std::min(*number, kMost));
}

std::optional<double> cores_in(const json::value& value, std::string_view name) {
  const json::value* const found = member(value, name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  const auto cores = found->to_number<double>();
  if (!std::isfinite(cores) || cores < 0) return std::nullopt;
  return std::min(cores, 100'000.0);
}

ProcessEntry process_from(const json::value& value) {
  ProcessEntry process;
  process.pid = pid_in(value, "pid");
  process.parent = pid_in(value, "parent");
  process.name = safe_text(value, "name");
  process.state = safe_text(value, "state");
  process.memory = natural(value, "memory");
  process.cpu = duration_in(value, "cpu_ms");
  process.age = duration_in(value, "age_ms");
  return process;
}

SessionEntry session_from(const json::value& value) {
  SessionEntry session;
  session.id = text(value, "id");
  session.server = safe_text(value, "server");
  session.instance = safe_text(value, "instance");
  session.state = safe_text(value, "state");
  session.transport = safe_text(value, "transport");
  session.age = duration_in(value, "age_ms");
  session.calls = natural(value, "calls");
  if (const json::value* const client = member(value, "client")) {
    session.client_name = safe_text(*client, "name");
    session.client_version = safe_text(*client, "version");
    session.client_command = safe_text(*client, "command");
    session.client_root = safe_text(*client, "root");
    session.client_pid = pid_in(*client, "pid");
  }
  return session;
}

void read_usage(const json::value& usage, InstanceEntry& instance) {
  instance.memory = natural(usage, "memory");
  instance.cpu = cores_in(usage, "cpu");
  const json::value* const processes = member(usage, "processes");
  if (processes == nullptr || !processes->is_array()) return;
  instance.processes.emplace();
  for (const json::value& process : processes->get_array()) {
    instance.processes->push_back(process_from(process));
  }
}

InstanceEntry instance_from(const json::value& value) {
  InstanceEntry instance;
  instance.server = safe_text(value, "server");
  instance.id = safe_text(value, "id");
  instance.version = safe_text(value, "version");
  instance.state = safe_text(value, "state");
  instance.share = safe_text(value, "share");
  instance.reason = safe_text(value, "reason");
  instance.level = safe_text(value, "level");
  instance.root = safe_text(value, "root");
  instance.stale = safe_text(value, "stale");
  instance.pid = pid_in(value, "pid");
  instance.keeper = pid_in(value, "keeper");
  instance.uptime = duration_in(value, "uptime_ms");
  instance.calls = natural(value, "calls");
  if (const json::value* const limits = member(value, "limits")) {
    instance.limits = {natural(*limits, "memory"), natural(*limits, "pids"), cores_in(*limits, "cpu"),
                       natural(*limits, "recycle")};
  }
  if (const json::value* const usage = member(value, "usage")) read_usage(*usage, instance);
  return instance;
}

std::optional<HaltedServer> halted_from(const json::value& value) {
  HaltedServer server{safe_text(value, "name"), "", safe_text(value, "broken")};
  if (flag(value, "stopped")) {
    server.state = "stopped";
  } else if (!server.why.empty()) {
    server.state = "broken";
  }
  return server.state.empty() ? std::nullopt : std::optional(server);
}

const HaltedServer* find_halted(const Overview& overview, const std::string& name) {
  for (const HaltedServer& server : overview.halted) {
    if (server.name == name) return &server;
  }
  return nullptr;
}

std::string next_step(const HaltedServer& server) {
  const std::string start = "`corral start " + server.name + "`";
  if (server.state == "stopped") return start + " allows it to run";
  return "it died too often, so calls are refused for now; `corral logs " + server.name + "` shows why, " +
         start + " lets the next call try; at last: " + server.why;
}

/// The daemon says "parked" or "lazy" also of sessions whose next call will start nothing. Those that get an
/// instance in this moment are left as they are.
void mark_refused(const Overview& overview, SessionEntry& session) {
  if (session.state == "opening" || session.state == "returning") return;
  if (const HaltedServer* const server = find_halted(overview, session.server)) session.state = server->state;
}

/// A session belongs to the instance that it names; one that names none waits.
void place(Overview& overview, SessionEntry session) {
  for (InstanceEntry& instance : overview.instances) {
    if (!session.instance.empty() && instance.id == session.instance) {
      instance.sessions.push_back(std::move(session));
      return;
    }
  }
  mark_refused(overview, session);
  overview.waiting.push_back(std::move(session));
}

/// Those of the configuration, and those that clients brought with them.
std::vector<std::string> names_in(const json::value& status) {
  std::set<std::string> names = {daemon::kBuiltInServer};
  for (const json::value& value : list(status, "servers")) names.insert(safe_text(value, "name"));
  for (const char* const entries : {"instances", "sessions"}) {
    for (const json::value& value : list(status, entries)) names.insert(safe_text(value, "server"));
  }
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace

Overview read_overview(const json::value& status, const std::string& server) {
  Overview overview;
  if (const json::value* const daemon = member(status, "daemon")) {
    overview.version = safe_text(*daemon, "version");
    overview.pid = pid_in(*daemon, "pid");
    overview.uptime = duration_in(*daemon, "uptime_ms");
  }
  overview.only = printable(server);
  overview.names = names_in(status);
  const auto wanted = [&server](const std::string& name) { return server.empty() || name == server; };
  for (const json::value& value : list(status, "instances")) {
    InstanceEntry instance = instance_from(value);
    if (wanted(instance.server)) overview.instances.push_back(std::move(instance));
  }
  for (const json::value& value : list(status, "servers")) {
    std::optional<HaltedServer> halted = halted_from(value);
    if (halted && wanted(halted->name)) overview.halted.push_back(std::move(*halted));
  }
  for (const json::value& value : list(status, "sessions")) {
    SessionEntry session = session_from(value);
    if (wanted(session.server)) place(overview, std::move(session));
  }
  return overview;
}

std::string shown(const std::string& text) { return text.empty() ? "-" : text; }

std::string shown_age(const std::optional<milliseconds>& age) { return age ? show_age(*age) : "-"; }

std::string shown_number(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string shown_memory(const InstanceEntry& instance) {
  const std::string used = instance.memory ? show_size(*instance.memory) : "-";
  return instance.limits.memory ? used + "/" + show_size(*instance.limits.memory) : used;
}

std::string shown_percent(double cores) {
  char shown[32];
  std::snprintf(shown, sizeof shown, "%.0f%%", cores * 100);
  return shown;
}

std::string shown_cpu(const InstanceEntry& instance) {
  const std::string used = instance.cpu ? shown_percent(*instance.cpu) : "-";
  return instance.limits.cpu ? used + "/" + shown_percent(*instance.limits.cpu) : used;
}

std::string shown_processes(const InstanceEntry& instance) {
  const std::string used = instance.processes ? std::to_string(instance.processes->size()) : "-";
  return instance.limits.processes ? used + "/" + std::to_string(*instance.limits.processes) : used;
}

std::string shown_time(const std::optional<milliseconds>& time) {
  if (!time) return "-";
  if (*time >= std::chrono::seconds(10)) return show_age(*time);
  char text[32];
  std::snprintf(text, sizeof text, "%.2fs", static_cast<double>(time->count()) / 1000);
  return text;
}

std::string shown_code(const InstanceEntry& instance) {
  if (instance.id.empty()) return instance.state == "parked" ? "parked" : "-";
  return instance.stale.empty() ? "fresh" : "stale";
}

std::string shown_client(const SessionEntry& session) {
  std::string text = session.client_name.empty() ? "unnamed" : session.client_name;
  if (!session.client_version.empty()) text += " " + session.client_version;
  return text + (session.client_pid == 0 ? " (by URL)" : " (pid " + std::to_string(session.client_pid) + ")");
}

std::string shown_clients(const std::vector<SessionEntry>& sessions) {
  std::map<std::string, std::size_t> names;
  for (const SessionEntry& session : sessions) {
    ++names[session.client_name.empty() ? "unnamed" : session.client_name];
  }
  std::string text;
  for (const auto& [name, number] : names) {
    text += (text.empty() ? "" : ", ") + name + (number > 1 ? " x" + std::to_string(number) : "");
  }
  return shown(text);
}

std::string waiting_reason(const Overview& overview, const std::string& server, const std::string& state) {
  const HaltedServer* const halted = find_halted(overview, server);
  if (halted != nullptr && halted->state == state) return next_step(*halted);
  if (state == "parked") return "has no process now; the next call starts one";
  if (state == "lazy") return "not needed yet; the first call starts it";
  if (state == "opening" || state == "returning") return "is being started";
  return "-";
}

std::string shown_halt(const HaltedServer& server) {
  return server.name + " is " + server.state + "; " + next_step(server);
}

Tone tone_of_state(const std::string& state) {
  for (const char* const bad : {"unhealthy", "broken", "stopped", "failing", "dying"}) {
    if (state == bad) return Tone::Bad;
  }
  // It has died, and its next start is near.
  return state == "waiting" || state == "restarting" ? Tone::Warning : Tone::Plain;
}

std::string shown_reason(const InstanceEntry& instance) {
  for (const char* const word : {"shared: ", "private: "}) {
    if (instance.reason.starts_with(word)) return instance.reason.substr(std::string_view(word).size());
  }
  return shown(instance.reason);
}

}  // namespace corral::cli
