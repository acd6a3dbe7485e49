#include "survey/findings.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/keep_limit.h"
#include "base/text.h"

namespace corral::survey {
namespace {

constexpr double kRunaway = 0.5;  // cores

using Indexes = std::vector<std::size_t>;

std::map<std::string, Indexes> group(const Survey& survey, const std::function<bool(const Server&)>& wanted,
                                     const std::function<std::string(const Server&)>& key) {
  std::map<std::string, Indexes> groups;
  for (std::size_t i = 0; i < survey.servers.size(); ++i) {
    if (wanted(survey.servers[i])) groups[key(survey.servers[i])].push_back(i);
  }
  return groups;
}

bool confirmed(const Server& server) { return server.certainty == Server::Certainty::Confirmed; }

/// Processes of another user are left alone, even by root; the command runs as that user.
std::string reap_as(const Survey& survey, const Server& server) {
  return server.uid == survey.own_uid ? "corral reap"
                                      : "sudo -u '#" + std::to_string(server.uid) + "' corral reap";
}

/// Many scripts are called index.js, so a script is named by its path.
std::string filter_for(const Server& server) {
  if (!server.client.id.empty()) return " --client " + server.client.id;
  const bool by_script = server.command.key.starts_with("file:") && !server.command.script.empty();
  return " --match " + shell_word(by_script ? printable(server.command.script) : title_of(server));
}

std::string why_orphaned(const Server& server) {
  const known::KnownClient* client = known::find_client(server.client.id);
  // Known behaviour is a clause, "it signals only …".
  const std::string known = client == nullptr ? "." : ": " + std::string(client->behaviour.orphans) + ".";
  switch (server.cause) {
    case Server::Cause::CorralKilled: return "All of corral's own processes above it were killed at once.";
    case Server::Cause::LetGo:
      return server.client.name + " is still running, but has closed the pipes" + known;
    case Server::Cause::LauncherGone:
      return "The launcher that " + server.client.name +
             " started is gone, but the server below it is still running" + known;
    case Server::Cause::ClientGone:
    case Server::Cause::None: break;
  }
  // Another process of that client may be running.
  const bool has_trace =
      std::any_of(server.evidence.begin(), server.evidence.end(), [](const Evidence& evidence) {
        return evidence.kind == Evidence::Kind::Environment || evidence.kind == Evidence::Kind::Cgroup;
      });
  const std::string which = server.client.id.empty() ? ""
                            : has_trace              ? " (" + server.client.name + ")"
                                                     : " (" + server.client.name + ", by its configuration)";
  return "Its client" + which + " is gone" + known;
}

void find_orphans(const Survey& survey, std::vector<Finding>& findings) {
  const auto groups = group(
      survey, [](const Server& server) { return server.state == Server::State::Orphan && confirmed(server); },
      [](const Server& server) {
        return server.client.id + '\0' + std::to_string(server.uid) + '\0' + command_key(server);
      });
  for (const auto& [key, servers] : groups) {
    const Server& oldest = survey.servers[servers.front()];
    const std::string left_by = oldest.client.name == "unknown" ? "" : ", left by " + oldest.client.name;
    findings.push_back({Finding::Kind::Orphan, servers,
                        counted(servers.size(), "orphan") + " of " + title_of(oldest) + left_by,
                        why_orphaned(oldest), reap_as(survey, oldest) + " --orphans" + filter_for(oldest)});
  }
}

void find_pile_ups(const Survey& survey, std::size_t keep, std::vector<Finding>& findings) {
  const auto groups = group(
      survey,
      [](const Server& server) {
        return server.state == Server::State::Serving && confirmed(server) && server.client.alive();
      },
      [](const Server& server) { return std::to_string(server.client.pid) + '\0' + command_key(server); });
  for (const auto& [key, servers] : groups) {
    if (servers.size() <= keep) continue;
    const Server& oldest = survey.servers[servers.front()];
    const known::KnownClient* client = known::find_client(oldest.client.id);
    const std::string known = client == nullptr ? "" : std::string(client->behaviour.pile_ups);
    findings.push_back(
        {Finding::Kind::PileUp, servers,
         counted(servers.size(), "copy", "copies") + " of " + title_of(oldest) + " held by " +
             oldest.client.name + " (pid " + std::to_string(oldest.client.pid) + ")",
         known.empty()
             ? "One client seldom needs more than " + std::to_string(keep) + " copies of one server."
             : oldest.client.name + ": " + known + ".",
         reap_as(survey, oldest) + " --pile-ups --parent " + std::to_string(oldest.client.pid) +
             (keep == kDefaultKeep ? "" : " --keep " + std::to_string(keep))});
  }
}

void find_duplicates(const Survey& survey, std::vector<Finding>& findings) {
  const auto groups = group(
      survey,
      [](const Server& server) {
        const bool in_use = server.state == Server::State::Serving || server.state == Server::State::Kept;
        return in_use && confirmed(server) && server.client.alive();
      },
      [](const Server& server) { return server.root + '\0' + command_key(server); });
  for (const auto& [key, servers] : groups) {
    std::set<pid_t> clients;
    for (const std::size_t index : servers) clients.insert(survey.servers[index].client.pid);
    if (clients.size() < 2) continue;
    const Server& oldest = survey.servers[servers.front()];
    findings.push_back({Finding::Kind::Duplicate, servers,
                        std::to_string(servers.size()) + " copies of " + title_of(oldest) + " in " +
                            printable(oldest.root) + " for " + std::to_string(clients.size()) + " clients",
                        "Every client starts its own copy of a stdio server. All of them are in use.", ""});
  }
}

void find_stale(const Survey& survey, std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < survey.servers.size(); ++i) {
    const Server& server = survey.servers[i];
    if (server.stale_file.empty() || !confirmed(server) || server.state == Server::State::Orphan) continue;
    const std::string who = server.client.alive() ? " (pid " + std::to_string(server.client.pid) + ")" : "";
    findings.push_back({Finding::Kind::Stale,
                        {i},
                        title_of(server) + " (pid " + std::to_string(server.pid) + ") runs old code",
                        printable(server.stale_file) +
                            " changed after it was started. Reconnect the server in " + server.client.name +
                            who + ", or restart that client.",
                        "corral who " + std::to_string(server.pid)});
  }
}

void find_runaways(const Survey& survey, std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < survey.servers.size(); ++i) {
    const Server& server = survey.servers[i];
    if (server.state != Server::State::Orphan || !confirmed(server) || server.cpu < kRunaway) continue;
    const int percent = static_cast<int>(server.cpu * 100);
    findings.push_back({Finding::Kind::Runaway,
                        {i},
                        "orphan " + title_of(server) + " (pid " + std::to_string(server.pid) + ") burns " +
                            std::to_string(percent) + "% of a core",
                        "A server that keeps writing to a pipe without a reader, or keeps polling a closed "
                        "one, never becomes idle.",
                        reap_as(survey, server) + " --orphans" + filter_for(server)});
  }
}

void find_unattended(const Survey& survey, std::vector<Finding>& findings) {
  const auto groups = group(
      survey,
      [](const Server& server) {
        const bool in_use = server.state == Server::State::Serving || server.state == Server::State::Kept;
        return in_use && confirmed(server) && server.client.alive() && server.client.unattended;
      },
      [](const Server& server) { return std::to_string(server.client.pid); });
  for (const auto& [pid, servers] : groups) {
    const Server& oldest = survey.servers[servers.front()];
    findings.push_back({Finding::Kind::Unattended, servers,
                        oldest.client.name + " (pid " + pid + ") keeps " + counted(servers.size(), "server") +
                            " although nobody is attached to it",
                        "It is a background process, and no interface is connected to its sockets now. Its "
                        "servers go on until it drops their sessions. The daemon of corral can park them.",
                        "corral adopt " + oldest.client.id});
  }
}

}  // namespace

std::string command_key(const Server& server) {
  std::string key = server.command.key.empty() ? server.shown : server.command.key;
  for (const std::string& argument : server.command.arguments) key += '\0' + argument;
  return key;
}

std::string title_of(const Server& server) {
  return printable(server.command.name.empty() ? server.shown : server.command.name);
}

const char* name_of(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::Orphan: return "orphan";
    case Finding::Kind::PileUp: return "pile-up";
    case Finding::Kind::Duplicate: return "duplicate";
    case Finding::Kind::Stale: return "stale";
    case Finding::Kind::Runaway: return "runaway";
    case Finding::Kind::Unattended: return "unattended";
  }
  return "?";
}

std::vector<Finding> find(const Survey& survey, std::size_t keep) {
  std::vector<Finding> findings;
  find_runaways(survey, findings);
  find_orphans(survey, findings);
  find_pile_ups(survey, keep, findings);
  find_duplicates(survey, findings);
  find_stale(survey, findings);
  find_unattended(survey, findings);
  return findings;
}

}  // namespace corral::survey
