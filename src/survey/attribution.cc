#include "survey/attribution.h"

#include <algorithm>

#include "base/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/words.h"

namespace corral::survey {
namespace {

std::string naming(const Client& client) { return client.name + " (pid " + std::to_string(client.pid) + ")"; }

/// The first trace is the best one; a client that is running is known already.
void name_client(Server& server, const known::KnownClient& client) {
  if (server.client.alive() || !server.client.id.empty()) return;
  server.client.id = client.id;
  server.client.name = client.name;
}

void add(Server& server, Evidence::Kind kind, const std::string& text) {
  server.evidence.push_back({kind, text});
}

}  // namespace

Client Attribution::describe(pid_t pid, const known::KnownClient* known) const {
  Client client;
  const Process* process = table_.find(pid);
  if (known != nullptr) {
    client.id = known->id;
    client.name = known->name;
  }
  if (process == nullptr) return client;
  client.pid = pid;
  client.command = show_command(process->argv);
  client.root = process->directory;
  client.age = table_.age(*process);
  const auto attendance = snapshot_.attendances.find(pid);
  client.unattended =
      attendance != snapshot_.attendances.end() && attendance->second == Attendance::Unattended;
  const bool has_a_name =
      known != nullptr && !known->id.starts_with("mcp-");  // "mcp-sdk-v1" is a kind of program
  if (has_a_name) return client;
  const known::ServerCommand* command = command_of(snapshot_, pid);
  const std::string program = base_name(process->executable.empty() ? process->comm : process->executable);
  const std::string script = command != nullptr && !command->script.empty() ? base_name(command->script) : "";
  client.name = printable(script.empty() || script == program ? program : program + " " + script);
  return client;
}

bool Attribution::by_pipes(Server& server, const FarEnds& ends) const {
  for (const pid_t partner : partners(ends)) {
    const auto client = clients_.find(partner);
    if (client == clients_.end()) continue;
    server.client = describe(partner, client->second);
    const bool told =
        std::any_of(server.evidence.begin(), server.evidence.end(),
                    [](const Evidence& evidence) { return evidence.kind == Evidence::Kind::Pipe; });
    if (!told) add(server, Evidence::Kind::Pipe, "its stdin and stdout lead to " + naming(server.client));
    return true;
  }
  return false;
}

/// For an orphan: the client that has closed its stdin, but still has its stdout.
bool Attribution::by_reader(Server& server, const FarEnds& ends) const {
  for (const pid_t reader : ends.out.holders) {
    const auto client = clients_.find(reader);
    if (client == clients_.end() || contains(server.tree, reader)) continue;
    server.client = describe(reader, client->second);
    add(server, Evidence::Kind::Pipe, "its stdout still leads to " + naming(server.client));
    return true;
  }
  return false;
}

bool Attribution::by_unknown_holder(Server& server, const FarEnds& ends) const {
  for (const pid_t holder : ends.in.holders) {
    if (contains(server.tree, holder)) continue;
    server.client = describe(holder, nullptr);
    add(server, Evidence::Kind::Pipe,
        "its stdin leads to " + naming(server.client) + ", which is not a known client");
    return true;
  }
  return false;
}

bool Attribution::by_parent(Server& server) const {
  for (const pid_t above : table_.ancestors(server.pid)) {
    const auto client = clients_.find(above);
    if (client == clients_.end()) continue;
    if (!server.client.alive()) server.client = describe(above, client->second);
    add(server, Evidence::Kind::Parent, "below " + naming(describe(above, client->second)));
    return server.client.pid == above;
  }
  const Process* top = table_.find(server.pid);
  const Process* parent = table_.find(top->parent);
  const std::string name = parent == nullptr ? "" : " (" + printable(parent->comm) + ")";
  add(server, Evidence::Kind::Parent,
      "its parent is process " + std::to_string(top->parent) + name + ", not a client");
  return false;
}

/// Most clients leave their servers in their own process group, which stays when a launcher between them
/// exits. Without job control a whole script is one group; then the ancestors decide which client is meant.
bool Attribution::by_group(Server& server) const {
  const Process& top = *table_.find(server.pid);
  std::vector<std::pair<pid_t, const known::KnownClient*>> candidates;
  for (const Process& process : table_.all()) {
    const bool together = process.group == top.group && process.session == top.session;
    if (!together || process.start_ticks > top.start_ticks || contains(server.tree, process.pid)) continue;
    const auto known = clients_.find(process.pid);
    const known::ServerCommand* command = command_of(snapshot_, process.pid);
    const known::KnownClient* client = known != clients_.end() ? known->second : nullptr;
    if (client == nullptr && command != nullptr && !marks_.contains(process.pid))
      client = sdk_client(*command);
    if (client != nullptr) candidates.emplace_back(process.pid, client);
  }
  const auto has_one_below = [&](const auto& candidate) {
    return std::any_of(candidates.begin(), candidates.end(), [&](const auto& other) {
      return contains(table_.ancestors(other.first), candidate.first);
    });
  };
  std::vector<std::pair<pid_t, const known::KnownClient*>> innermost;
  for (const auto& candidate : candidates) {
    if (!has_one_below(candidate)) innermost.push_back(candidate);
  }
  if (innermost.size() != 1) return false;
  server.client = describe(innermost[0].first, innermost[0].second);
  add(server, Evidence::Kind::Session, "in the process group of " + naming(server.client));
  return true;
}

void Attribution::by_traces(Server& server, pid_t speaker) const {
  const auto details = snapshot_.details.find(speaker);
  if (details == snapshot_.details.end()) return;
  for (const known::KnownClient& client : known::known_clients()) {
    const std::string name(client.name);
    for (const std::string_view set_by_it : client.variables) {
      if (variable(details->second.environment, std::string(set_by_it)).empty()) continue;
      add(server, Evidence::Kind::Environment,
          std::string(set_by_it) + " is in its environment, as " + name + " sets it");
      name_client(server, client);
      break;
    }
    for (const std::string_view part : client.cgroup_parts) {
      if (details->second.cgroup.find(part) == std::string::npos) continue;
      add(server, Evidence::Kind::Cgroup, "its cgroup is one of " + name);
      name_client(server, client);
      break;
    }
  }
}

void Attribution::by_configuration(Server& server) const {
  for (const pid_t pid : server.tree) {
    const auto mark = marks_.find(pid);
    if (mark == marks_.end() || mark->second.configured_clients.empty()) continue;
    const known::KnownClient* client = known::find_client(mark->second.configured_clients.front());
    if (client != nullptr) name_client(server, *client);
  }
}

void Attribution::attribute(Server& server, pid_t speaker, const FarEnds* ends) const {
  const bool held = ends != nullptr && server.state != Server::State::Orphan;
  const bool through_pipes = held && (by_pipes(server, *ends) || by_unknown_holder(server, *ends));
  const bool still_read = ends != nullptr && !held && by_reader(server, *ends);
  const bool below_it = by_parent(server);
  const bool beside_it = still_read || (!through_pipes && !below_it && by_group(server));
  by_traces(server, speaker);
  by_configuration(server);
  if (server.client.alive()) {
    const auto later =
        std::chrono::duration_cast<std::chrono::seconds>(server.client.age - server.age).count();
    if (later >= 0) {
      add(server, Evidence::Kind::StartTime,
          "started " + std::to_string(later) + " s after " + server.client.name);
    }
  }
  if (server.client.name.empty()) server.client.name = "unknown";
  if (server.state != Server::State::Orphan || server.cause != Server::Cause::None) return;
  server.cause = below_it    ? Server::Cause::LetGo
                 : beside_it ? Server::Cause::LauncherGone
                             : Server::Cause::ClientGone;
}

}  // namespace corral::survey
