#include "cli/screen/server_list.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <set>

#include "base/text.h"
#include "base/units.h"
#include "cli/screen/failure_lines.h"
#include "cli/screen/overview.h"
#include "daemon/built_in_server.h"
#include "events/event.h"
#include "knowledge/manifest_store.h"
#include "wire/json_text.h"

namespace corral::cli {
namespace {

namespace json = boost::json;
using config::Server;
using observe::InstanceView;
using observe::SessionView;

constexpr std::size_t kMostKnown = 10'000;

/// Of several instances the first of these decides.
constexpr std::array<std::string_view, 6> kStates = {"unhealthy", "ready", "starting",
                                                     "ending",    "idle",  "spare"};

std::size_t rank_of(std::string_view state) {
  return static_cast<std::size_t>(std::find(kStates.begin(), kStates.end(), state) - kStates.begin());
}

const char* share_word(std::string_view share) {
  if (share == "session") return "private";
  if (share == "root") return "by project";
  return "shared";
}

const char* share_word(config::Share share) {
  switch (share) {
    case config::Share::Auto: return "auto";
    case config::Share::Shared: return "shared";
    case config::Share::Session: return "private";
    case config::Share::Root: return "by project";
  }
  return "?";
}

/// What the daemon says about one server.
struct Live {
  std::string state;
  std::string share;
  std::set<std::string> clients;
  const observe::FailureView* failure = nullptr;
  const observe::ServerView* server = nullptr;
};

void add_instance(Live& live, const InstanceView& instance) {
  if (live.state.empty() || rank_of(instance.state) < rank_of(live.state)) live.state = instance.state;
  const std::string share = share_word(instance.share);
  live.share = live.share.empty() || live.share == share ? share : "mixed";
}

void add_session(Live& live, const SessionView& session) {
  if (!session.client.name.empty()) live.clients.insert(session.client.name);
}

std::map<std::string, Live> live_servers(const observe::Snapshot* status) {
  std::map<std::string, Live> live;
  if (status == nullptr) return live;
  for (const observe::ServerView& server : status->servers) live[server.name].server = &server;
  for (const InstanceView& instance : status->instances) add_instance(live[instance.server], instance);
  for (const SessionView& session : status->sessions) {
    Live& one = live[session.server];
    add_session(one, session);
    if (one.state.empty()) one.state = session.state == "parked" ? "parked" : session.state;
  }
  for (const observe::FailureView& failure : status->failures) {
    Live& one = live[failure.server];
    if (one.failure == nullptr) one.failure = &failure;
  }
  return live;
}

bool is_refusal(const observe::FailureView* failure) {
  return failure != nullptr && failure->kind == events::name_of(events::Kind::Refused);
}

/// A client asked for a name that no server has. `ps` shows that for a while, but there is nothing to list.
bool is_only_a_refused_word(const Live& live) {
  return live.server == nullptr && live.state.empty() && is_refusal(live.failure);
}

std::string state_of(const Live* live, const Server* server) {
  if (server != nullptr && server->disabled) return "disabled";
  if (live == nullptr) return "not started";
  if (live->server != nullptr && live->server->disabled) return "disabled";
  const std::string_view refusing = live->server == nullptr ? "" : observe::refusing_state(*live->server);
  if (!refusing.empty()) return std::string(refusing);
  if (!live->state.empty()) return live->state;
  if (live->failure == nullptr) return "not started";
  return is_refusal(live->failure) ? "refused" : "failed";
}

class Listing {
 public:
  explicit Listing(const ListSources& sources) : sources_(sources), live_(live_servers(sources.status)) {}

  std::vector<ListedServer> all() {
    for (const Server& server : sources_.configuration.servers) add(server.name, &server);
    for (const auto& [name, live] : live_) {
      if (seen_.contains(name) || name.empty() || name == daemon::kBuiltInServer) continue;
      if (is_only_a_refused_word(live)) continue;
      add(name, nullptr);
    }
    return std::move(servers_);
  }

 private:
  void add(const std::string& name, const Server* server) {
    seen_.insert(name);
    const auto found = live_.find(name);
    const Live* const live = found == live_.end() ? nullptr : &found->second;
    ListedServer& one = servers_.emplace_back();
    one.name = printable_line(name);
    one.state = state_of(live, server);
    one.share = live != nullptr && !live->share.empty() ? live->share
                : server != nullptr                     ? share_word(server->share)
                                                        : "-";
    place(one, live, server);
    const auto kept = sources_.kept.find(name);
    add_failure(one, live, kept == sources_.kept.end() ? nullptr : &kept->second);
    if (kept == sources_.kept.end()) return;
    for (const std::string& manifest : kept->second.manifests) {
      if (!one.tools) one.tools = tools_in(manifest, server);
    }
  }

  void place(ListedServer& one, const Live* live, const Server* server) const {
    const bool of_daemon = live != nullptr && live->server != nullptr;
    if (server != nullptr) {
      one.elsewhere = server->file != sources_.configuration.file && !server->file.empty();
      one.file = printable(one.elsewhere ? server->file : sources_.configuration.file);
      one.line = server->line;
    } else if (of_daemon) {
      one.file = sources_.status->daemon.config;
      one.served = one.file.empty();
    } else if (live != nullptr) {
      for (const std::string& client : live->clients) one.client += (one.client.empty() ? "" : ", ") + client;
    }
  }

  void add_failure(ListedServer& one, const Live* live, const registry::KeptServer* kept) const {
    if (live != nullptr && live->failure != nullptr) {
      one.error = printable_line(live->failure->text);
      take_lines(one, live->failure->error_lines);
      one.error_age = live->failure->age;
    } else if (live != nullptr && live->server != nullptr && !live->server->broken.empty()) {
      one.error = printable_line(live->server->broken);
    } else if (kept != nullptr && !kept->failure.empty()) {
      one.error = printable_line(kept->failure);
      take_lines(one, kept->error_lines);
      one.error_age =
          std::chrono::milliseconds(std::max<std::int64_t>(sources_.now_ms - kept->failure_ms, 0));
    }
  }

  static void take_lines(ListedServer& one, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) one.error_lines.push_back(printable_line(line));
  }

  const ListSources& sources_;
  const std::map<std::string, Live> live_;
  std::set<std::string> seen_;
  std::vector<ListedServer> servers_;
};

std::string origin_of(const ListedServer& server) {
  if (server.elsewhere) return server.file + ":" + std::to_string(server.line);
  if (!server.file.empty()) return server.line > 0 ? "line " + std::to_string(server.line) : "the file";
  if (server.served) return "corral serve";
  return server.client.empty() ? "a client" : server.client;
}

/// The row names the server already, and which instance it was is not what is looked for here.
std::string without_subject(const ListedServer& server) {
  std::string_view text = server.error;
  const std::size_t name = text.find(" of server " + server.name + " ");
  if (text.starts_with("instance ") && name == text.find(' ', std::string_view("instance ").size())) {
    return std::string(text.substr(name + server.name.size() + std::string_view(" of server  ").size()));
  }
  for (const std::string& subject :
       {"server " + server.name + " could not be started: ", "server " + server.name + " "}) {
    if (text.size() > subject.size() && text.starts_with(subject))
      return std::string(text.substr(subject.size()));
  }
  return server.error;
}

std::string error_of(const ListedServer& server) {
  if (server.error.empty()) return "-";
  std::string text = without_subject(server);
  // The last line is usually the one that says why.
  if (!server.error_lines.empty()) text += ": " + server.error_lines.back();
  return server.error_age ? show_age(*server.error_age) + " ago: " + text : text;
}

}  // namespace

std::vector<ListedServer> list_servers(const ListSources& sources) { return Listing(sources).all(); }

std::optional<std::uint64_t> tools_in(const std::string& manifest, const Server* server) {
  std::string why;
  const std::optional<knowledge::Manifest> read = knowledge::parse_manifest(manifest, why);
  if (!read) return std::nullopt;
  for (const auto& [profile, portrait] : read->portraits) {
    const std::string& list = portrait.lists[static_cast<std::size_t>(knowledge::ListKind::Tools)];
    const std::string_view tools = wire::member_text(list, "tools");
    const auto elements = wire::array_elements(tools, kMostKnown);
    if (tools.empty() || !elements) continue;
    return static_cast<std::uint64_t>(
        std::count_if(elements->begin(), elements->end(), [&](const wire::Span& one) {
          return server == nullptr ||
                 config::allows_tool(*server, wire::string_member(one.in(tools), "name").value_or(""));
        }));
  }
  return std::nullopt;
}

std::string shown_counts(const config::Configuration& configuration) {
  const auto of_machine = static_cast<std::size_t>(
      std::count_if(configuration.servers.begin(), configuration.servers.end(), [&](const Server& server) {
        return server.file == configuration.machine_file && !server.file.empty();
      }));
  const bool alone = configuration.file == configuration.machine_file;
  const std::size_t others = configuration.servers.size() - (alone ? 0 : of_machine);
  std::string text = printable(shorten_home(configuration.file)) + ": " + counted(others, "server");
  if (alone || of_machine == 0) return text;
  return text + ", and " + std::to_string(of_machine) + " of " + printable(configuration.machine_file);
}

void show_server_list(Page& page, const std::vector<ListedServer>& servers) {
  std::vector<std::vector<std::string>> rows;
  std::vector<Tone> tones;
  for (const ListedServer& server : servers) {
    rows.push_back({server.name, server.state, shown_number(server.tools), server.share, origin_of(server),
                    error_of(server)});
    tones.push_back(server.state == "failed" || server.state == "refused" ? Tone::Bad
                                                                          : tone_of_state(server.state));
  }
  page.table("",
             {{"SERVER"},
              {"STATE", false, false, tones},
              {"TOOLS", true},
              {"SHARED"},
              {"FROM"},
              {"LAST ERROR", false, true}},
             rows);
}

std::string servers_as_json(const std::vector<ListedServer>& servers) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? json::value() : json::value(text);
  };
  json::array list;
  for (const ListedServer& server : servers) {
    json::object one = {{"name", server.name},
                        {"state", server.state},
                        {"tools", nullptr},
                        {"share", server.share},
                        {"error", or_null(server.error)},
                        {"error_age_ms", nullptr},
                        {"stderr", as_json(server.error_lines)},
                        {"file", or_null(server.file)},
                        {"line", nullptr},
                        {"client", or_null(server.client)}};
    if (server.tools) one["tools"] = *server.tools;
    if (server.error_age) one["error_age_ms"] = server.error_age->count();
    if (server.line > 0) one["line"] = server.line;
    list.push_back(std::move(one));
  }
  return json::serialize(list);
}

}  // namespace corral::cli
