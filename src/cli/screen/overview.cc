#include "cli/screen/overview.h"

#include <algorithm>
#include <boost/json/value.hpp>
#include <cstdio>
#include <map>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "base/words.h"
#include "daemon/built_in_server.h"
#include "knowledge/sharing.h"

namespace corral::cli {
namespace {

using observe::InstanceView;
using observe::ServerView;
using observe::SessionView;
using std::chrono::milliseconds;

const ServerView* find_halted(const Overview& overview, const std::string& name) {
  for (const ServerView& server : overview.halted) {
    if (server.name == name) return &server;
  }
  return nullptr;
}

std::string next_step(const ServerView& server) {
  const std::string start = "`corral start " + server.name + "`";
  if (server.stopped) return start + " allows it to run";
  return "it died too often, so calls are refused for now; `corral logs " + server.name + "` shows why, " +
         start + " lets the next call try again; last error: " + server.broken;
}

/// A session of a server that refuses calls is not parked: its next call starts nothing. The daemon says so
/// of stopped servers, unless it is an old one. Sessions that are being given an instance keep their state.
void mark_refused(const Overview& overview, SessionView& session) {
  if (session.state == "opening" || session.state == "returning") return;
  if (const ServerView* const server = find_halted(overview, session.server)) {
    session.state = observe::refusing_state(*server);
  }
}

/// A session belongs to the instance that it names; one that names none waits.
void place(Overview& overview, SessionView session) {
  for (InstanceRow& row : overview.instances) {
    if (!session.instance.empty() && row.id == session.instance) {
      row.served.push_back(std::move(session));
      return;
    }
  }
  mark_refused(overview, session);
  overview.waiting.push_back(std::move(session));
}

/// Those of the configuration, and those that clients brought with them.
std::vector<std::string> names_in(const observe::Snapshot& status) {
  std::set<std::string> names = {daemon::kBuiltInServer};
  for (const ServerView& server : status.servers) names.insert(server.name);
  for (const InstanceView& instance : status.instances) names.insert(instance.server);
  for (const SessionView& session : status.sessions) names.insert(session.server);
  for (const observe::FailureView& failure : status.failures) names.insert(failure.server);
  names.erase("");
  return {names.begin(), names.end()};
}

/// "pids 901, 902 and 3 more", "by URL".
std::string shown_client_pids(const std::vector<const SessionView*>& sessions, std::size_t most) {
  std::set<pid_t> pids;
  for (const SessionView* const session : sessions) pids.insert(session->client.pid.value_or(0));
  const bool by_url = pids.erase(0) > 0;
  if (pids.empty()) return by_url && sessions.front()->client.pid ? "by URL" : "";
  std::string text = pids.size() == 1 ? "pid" : "pids";
  std::size_t shown = 0;
  for (const pid_t pid : pids) {
    if (shown == most) break;
    text += (shown == 0 ? " " : ", ") + std::to_string(pid);
    ++shown;
  }
  if (pids.size() > shown) text += " and " + std::to_string(pids.size() - shown) + " more";
  return text;
}

}  // namespace

Overview overview_of(observe::Snapshot status, const std::string& server) {
  Overview overview;
  overview.only = printable(server);
  overview.names = names_in(status);
  overview.daemon = std::move(status.daemon);
  overview.url = std::move(status.http.url);
  const auto wanted = [&server](const std::string& name) { return server.empty() || name == server; };
  for (InstanceView& instance : status.instances) {
    if (wanted(instance.server)) overview.instances.push_back({std::move(instance), {}});
  }
  for (ServerView& one : status.servers) {
    if (wanted(one.name) && !one.about.empty()) overview.about.emplace(one.name, std::move(one.about));
    const bool elsewhere = !one.place.empty() && !one.place.starts_with(overview.daemon.config + ":");
    if (wanted(one.name) && elsewhere) overview.places.emplace(one.name, std::move(one.place));
    if (!observe::refusing_state(one).empty() && wanted(one.name)) overview.halted.push_back(std::move(one));
  }
  for (observe::FailureView& failure : status.failures) {
    if (wanted(failure.server)) overview.failures.push_back(std::move(failure));
  }
  for (observe::SessionObjectView& object : status.objects) {
    if (server.empty() || contains(object.servers, server)) overview.objects.push_back(std::move(object));
  }
  for (SessionView& session : status.sessions) {
    if (wanted(session.server)) place(overview, std::move(session));
  }
  return overview;
}

void show_about(Page& page, const std::string& label, const Overview& overview, const std::string& server) {
  if (const auto found = overview.about.find(server); found != overview.about.end()) {
    for (const auto& [key, text] : found->second) page.paragraph(label, text);
  }
  const auto place = overview.places.find(server);
  if (place != overview.places.end()) page.paragraph(label, "configured in " + shorten_home(place->second));
}

Overview read_overview(const boost::json::value& status, const std::string& server) {
  return overview_of(observe::read_status(status), server);
}

std::string shown(const std::string& text) { return text.empty() ? "-" : text; }

std::string shown_age(const std::optional<milliseconds>& age) { return age ? show_age(*age) : "-"; }

std::string shown_number(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string shown_list(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return shown(list);
}

std::string shown_id(const std::string& instance) { return shown(instance.substr(0, 8)); }

std::string shown_pid(pid_t pid) { return pid == 0 ? "-" : std::to_string(pid); }

std::string shown_state(const InstanceView& instance) {
  using std::chrono::minutes;
  if (instance.state != "idle" || !instance.ends_in) return shown(instance.state);
  // Seconds would only make the column restless.
  const milliseconds left = *instance.ends_in;
  return instance.state + ", ends in " +
         show_age(left > minutes(1) ? std::chrono::ceil<minutes>(left) : left);
}

std::string shown_size(const std::optional<std::uint64_t>& bytes) { return bytes ? show_size(*bytes) : "-"; }

std::optional<std::uint64_t> memory_of(const InstanceView& instance) {
  return instance.usage ? instance.usage->memory : std::nullopt;
}

std::optional<double> cpu_of(const InstanceView& instance) {
  return instance.usage ? instance.usage->cpu : std::nullopt;
}

std::string shown_memory(const InstanceView& instance) {
  const std::string used = shown_size(memory_of(instance));
  return instance.limits.memory ? used + "/" + show_size(*instance.limits.memory) : used;
}

std::string shown_percent(double cores) {
  char shown[32];
  std::snprintf(shown, sizeof shown, "%.0f%%", cores * 100);
  return shown;
}

std::string shown_cpu(const InstanceView& instance) {
  const std::string used = cpu_of(instance) ? shown_percent(*cpu_of(instance)) : "-";
  return instance.limits.cpu ? used + "/" + shown_percent(*instance.limits.cpu) : used;
}

std::string shown_processes(const InstanceView& instance) {
  const std::string used = instance.usage ? std::to_string(instance.usage->processes.size()) : "-";
  return instance.limits.processes ? used + "/" + std::to_string(*instance.limits.processes) : used;
}

std::string shown_time(const std::optional<milliseconds>& time) {
  if (!time) return "-";
  if (*time >= std::chrono::seconds(10)) return show_age(*time);
  char text[32];
  std::snprintf(text, sizeof text, "%.2fs", static_cast<double>(time->count()) / 1000);
  return text;
}

std::string shown_code(const InstanceView& instance) {
  if (instance.id.empty()) return instance.state == "parked" ? "parked" : "-";
  return instance.stale.empty() ? "fresh" : "stale";
}

std::string shown_session(const SessionView& session) {
  return session.id == 0 ? "-" : std::to_string(session.id);
}

std::string shown_client(const SessionView& session) {
  const observe::ClientView& client = session.client;
  if (client.name.empty() && !client.pid) return "-";
  std::string text = client.name.empty() ? "unnamed" : client.name;
  if (!client.version.empty()) text += " " + client.version;
  if (!client.pid) return text;
  return text + (client.pid == 0 ? " (by URL)" : " (pid " + std::to_string(*client.pid) + ")");
}

std::string shown_clients(const std::vector<SessionView>& sessions) {
  std::map<std::string, std::size_t> names;
  for (const SessionView& session : sessions) {
    ++names[session.client.name.empty() ? "unnamed" : session.client.name];
  }
  std::string text;
  for (const auto& [name, number] : names) {
    text += (text.empty() ? "" : ", ") + name + (number > 1 ? " x" + std::to_string(number) : "");
  }
  return shown(text);
}

std::string shown_each_client(const std::vector<SessionView>& sessions) {
  constexpr std::size_t kMost = 8;
  std::vector<std::pair<std::string, std::vector<const SessionView*>>> clients;  // by name, as they came
  for (const SessionView& session : sessions) {
    const std::string name = session.client.name.empty() && !session.client.pid
                                 ? "-"
                                 : (session.client.name.empty() ? "unnamed" : session.client.name) +
                                       (session.client.version.empty() ? "" : " " + session.client.version);
    const auto same = [&name](const auto& client) { return client.first == name; };
    auto found = std::find_if(clients.begin(), clients.end(), same);
    if (found == clients.end()) found = clients.insert(clients.end(), {name, {}});
    found->second.push_back(&session);
  }
  std::string text;
  for (const auto& [name, same] : clients) {
    text += text.empty() ? "" : ", ";
    if (same.size() == 1) {
      text += shown_client(*same.front());
      continue;
    }
    text += name + " x" + std::to_string(same.size());
    const std::string processes = shown_client_pids(same, kMost);
    if (!processes.empty()) text += " (" + processes + ")";
  }
  return shown(text);
}

std::string unknown_server(const std::string& name, const std::vector<std::string>& names) {
  const std::string near = any_of(meant_words(name, names));
  return "no server is called '" + name +
         "': " + (near.empty() ? "`corral list` lists the servers" : "did you mean " + near + "?");
}

std::string waiting_reason(const Overview& overview, const std::string& server, const std::string& state) {
  const ServerView* const halted = find_halted(overview, server);
  if (halted != nullptr && observe::refusing_state(*halted) == state) return next_step(*halted);
  if (state == "parked") return "has no process now; the next call starts one";
  if (state == "lazy") return "not needed yet; the first call starts it";
  if (state == "opening" || state == "returning") return "is being started";
  return "-";
}

std::string shown_halt(const ServerView& server) {
  return server.name + " is " + std::string(observe::refusing_state(server)) + "; " + next_step(server);
}

Tone tone_of_state(const std::string& state) {
  for (const char* const bad : {"unhealthy", "broken", "stopped", "failing", "dying"}) {
    if (state == bad) return Tone::Bad;
  }
  // It has died, and its next start is near.
  return state == "waiting" || state == "restarting" ? Tone::Warning : Tone::Plain;
}

std::string shown_reason(const InstanceView& instance) {
  return shown(std::string(knowledge::why_alone(instance.reason)));
}

}  // namespace corral::cli
