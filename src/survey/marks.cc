#include "survey/marks.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "base/files.h"
#include "base/text.h"

// What proves that a process is an MCP server, and what does not:
//   corral's mark   yes, if it is whole: the variable and the limit. The variable alone can be copied (an
//                   `at` job, a terminal, a service), and says nothing
//   configuration   yes: a client's file names this program and its arguments. A process that does another
//                   job of a configured program is only possible, even with other evidence
//   pipes           yes, if both lead to a known client that runs nothing else over pipes. Most also run
//                   tools and language servers that way; there a name must be added
//   package         built on an MCP SDK, with pipes: a server or a client. Its name, or a client at the
//                   other end, says which; alone it is only possible
//   name alone      never: "possible" is the most that a name can make of it

namespace corral::survey {
namespace {

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool is_known_for_something_else(const Process& process, const known::ServerCommand& command) {
  if (known::is_certainly_no_server(base_name(process.executable))) return true;
  return !command.script.empty() && known::is_certainly_no_server(base_name(command.script));
}

/// A version may be a URL with a token in it.
std::string shown_dependency(const known::ServerCommand& command) {
  const std::string& text = command.mcp_dependency;
  return printable(text.find("://") == std::string::npos ? text : text.substr(0, text.find(' ')));
}

/// For a program that is built on an MCP SDK, which leaves only the question of which half it is.
bool is_called_a_server(const known::ServerCommand& command) {
  const std::string name = in_lower_case(command.name + " " + base_name(command.script));
  for (const char* other : {"client", "agent", "inspector", "host", "chat"}) {
    if (name.find(other) != std::string::npos) return false;
  }
  return known::looks_like_a_server(command.name) || known::looks_like_a_server(base_name(command.script));
}

class Marker {
 public:
  Marker(const Snapshot& snapshot, RunningClients& clients) : snapshot_(snapshot), clients_(clients) {
    for (const known::ConfiguredServer& server : snapshot.configurations.servers) {
      if (!server.command.key.empty()) configured_[server.command.key].push_back(&server);
    }
    for (const Process& process : snapshot.processes.all()) {
      const std::string instance = process.comm == kKeeperName ? instance_of(process.pid) : "";
      if (!instance.empty()) living_.insert(instance);
    }
  }

  Marks run() {
    for (const Process& process : snapshot_.processes.all()) {
      if (process.pid == snapshot_.self || process.state == 'Z' || process.argv.empty()) continue;
      look_at(process);
    }
    find_sdk_clients();
    confirm_by_client();
    return std::move(marks_);
  }

 private:
  void look_at(const Process& process) {
    const known::ServerCommand* understood = command_of(snapshot_, process.pid);
    if (understood == nullptr) return;
    const known::ServerCommand& command = *understood;
    // The server is below it; a keeper even carries the mark of what it keeps.
    if (process.comm == kKeeperName || hands_on_to_corral(snapshot_, process.pid)) return;
    Mark mark;
    if (clients_.contains(process.pid)) {
      by_configuration(command, Arguments::Same, mark);  // some clients are servers, too, if asked to be
    } else {
      by_tag(process, mark);
      by_configuration(command, Arguments::Alike, mark);
      by_pipes(process, command, mark);
      by_package(process, command, mark);
      if (!mark.confirmed) by_name(process, command, mark);
      if (does_another_job(mark)) mark.confirmed = false;
    }
    const bool only_pipes = mark.evidence.size() == 1 && mark.evidence.front().kind == Evidence::Kind::Pipe;
    if (mark.evidence.empty() || (only_pipes && !mark.confirmed)) return;
    marks_.emplace(process.pid, std::move(mark));
  }

  std::string instance_of(pid_t pid) const {
    const auto details = snapshot_.details.find(pid);
    return details == snapshot_.details.end() ? "" : variable(details->second.environment, "CORRAL_INSTANCE");
  }

  bool has_keeper_above(const Process& process) const {
    const std::vector<pid_t> above = snapshot_.processes.ancestors(process.pid);
    return std::any_of(above.begin(), above.end(), [this](pid_t pid) {
      const Process* const ancestor = snapshot_.processes.find(pid);
      return ancestor != nullptr && ancestor->comm == kKeeperName;
    });
  }

  /// Below a keeper the variable is enough, since nothing there is ended. Elsewhere the mark must be whole,
  /// and the keeper gone: while it lives, its whole tree is below it.
  void by_tag(const Process& process, Mark& mark) {
    const std::string instance = instance_of(process.pid);
    if (instance.empty()) return;
    const bool whole = is_rlimit_tag(snapshot_.details.at(process.pid).rttime_limit);
    if (!has_keeper_above(process) && (!whole || living_.contains(instance))) return;
    mark.ours = mark.confirmed = true;
    mark.evidence.push_back(
        {Evidence::Kind::Tag, "carries corral's mark (instance " + printable(instance).substr(0, 8) + ")"});
  }

  static bool does_another_job(const Mark& mark) { return mark.arguments == Arguments::Other && !mark.ours; }

  /// Many servers are started by a program that does everything (ssh, docker exec, tsx): there the arguments
  /// of the entry make the server, and more may follow. A program that is an MCP server by itself is one with
  /// other options and paths, too.
  static bool names(const known::ConfiguredServer& server, const known::ServerCommand& command,
                    Arguments best) {
    const std::vector<std::string>& wanted = server.command.arguments;
    const Arguments match = compare_arguments(wanted, command.arguments);
    if (match != best) return false;
    const bool begins = wanted.size() <= command.arguments.size() &&
                        std::equal(wanted.begin(), wanted.end(), command.arguments.begin());
    return begins || command.depends_on_mcp || known::looks_like_a_server(command.name);
  }

  void by_configuration(const known::ServerCommand& command, Arguments least, Mark& mark) {
    const auto found = configured_.find(command.key);
    if (found == configured_.end()) return;
    for (const known::ConfiguredServer* entry : found->second) {
      mark.arguments =
          std::max(mark.arguments, compare_arguments(entry->command.arguments, command.arguments));
    }
    if (mark.arguments < least) return;
    for (const known::ConfiguredServer* entry : found->second) {
      const known::ConfiguredServer& server = *entry;
      if (!names(server, command, mark.arguments)) continue;
      mark.confirmed = true;
      mark.configured_clients.push_back(server.client);
      const std::string place = server.client + ": " + printable(server.name);
      if (std::count(mark.configured_as.begin(), mark.configured_as.end(), place) != 0) continue;
      mark.configured_as.push_back(place);
      mark.evidence.push_back(
          {Evidence::Kind::Configuration,
           "'" + printable(server.name) + "' in " + printable(server.file) + " names its command"});
    }
  }

  void by_pipes(const Process& process, const known::ServerCommand& command, Mark& mark) {
    const auto ends = snapshot_.far_ends.find(process.pid);
    if (ends == snapshot_.far_ends.end() || is_known_for_something_else(process, command)) return;
    for (const pid_t partner : partners(ends->second)) {
      const auto client = clients_.find(partner);
      if (client == clients_.end()) continue;
      if (client->second->only_servers_on_pipes && !inside(partner, process)) mark.confirmed = true;
      mark.evidence.push_back({Evidence::Kind::Pipe, "its stdin and stdout lead to " +
                                                         std::string(client->second->name) + " (pid " +
                                                         std::to_string(partner) + ")"});
      return;
    }
  }

  /// A client that was itself started over pipes by another one does not share them with a process below it.
  bool inside(pid_t partner, const Process& process) const {
    const std::vector<pid_t> above = snapshot_.processes.ancestors(partner);
    return std::find(above.begin(), above.end(), process.pid) != above.end();
  }

  void by_package(const Process& process, const known::ServerCommand& command, Mark& mark) {
    // A program that depends on the client half alone is a client, no matter which process has its pipes.
    if (command.mcp_dependency.starts_with("@modelcontextprotocol/client")) return;
    if (!command.depends_on_mcp || !process.streams[0].connects() || !process.streams[1].connects()) return;
    mark.confirmed |= !mark.evidence.empty() || is_called_a_server(command);
    mark.evidence.push_back({Evidence::Kind::Package, "its package depends on " + shown_dependency(command)});
  }

  void by_name(const Process& process, const known::ServerCommand& command, Mark& mark) {
    if (!process.streams[0].connects() || !process.streams[1].connects()) return;
    if (command.is_shell || is_known_for_something_else(process, command)) return;
    if (!known::looks_like_a_server(command.name) && !known::looks_like_a_server(base_name(command.script)))
      return;
    mark.confirmed = has(mark, Evidence::Kind::Pipe);
    mark.evidence.push_back({Evidence::Kind::Name, "its name looks like one of an MCP server"});
  }

  /// A program built on the SDK may be a client or a server. The one that holds the other end of a server's
  /// pipes is its client; so is one without other evidence of being a server and with a server below it.
  void find_sdk_clients() {
    for (const auto& [pid, mark] : marks_) {
      const auto ends = snapshot_.far_ends.find(pid);
      if (ends != snapshot_.far_ends.end()) {
        for (const pid_t partner : partners_or_readers(ends->second)) add_sdk_client(partner, pid);
      }
      for (const pid_t above : snapshot_.processes.ancestors(pid)) {
        const auto other = marks_.find(above);
        if (other != marks_.end() && only_by_package(other->second) && !share_stdin(above, pid)) {
          add_sdk_client(above, pid);
        }
      }
    }
    for (const auto& [pid, client] : clients_) {
      const auto mark = marks_.find(pid);
      if (mark != marks_.end() && only_by_package(mark->second)) marks_.erase(mark);
    }
  }

  void add_sdk_client(pid_t candidate, pid_t server) {
    if (candidate == server || clients_.contains(candidate)) return;
    const known::ServerCommand* command = command_of(snapshot_, candidate);
    const known::KnownClient* client = command == nullptr ? nullptr : sdk_client(*command);
    if (client != nullptr) clients_.emplace(candidate, client);
  }

  bool share_stdin(pid_t a, pid_t b) const {
    return snapshot_.processes.find(a)->streams[0] == snapshot_.processes.find(b)->streams[0];
  }

  /// Built on the SDK, and a client has the other end of its pipes: then it is a server.
  void confirm_by_client() {
    for (auto& [pid, mark] : marks_) {
      const auto ends = snapshot_.far_ends.find(pid);
      if (mark.confirmed || does_another_job(mark) || ends == snapshot_.far_ends.end()) continue;
      for (const pid_t partner : partners_or_readers(ends->second)) {
        mark.confirmed |= clients_.contains(partner) && has(mark, Evidence::Kind::Package);
      }
    }
  }

  static bool has(const Mark& mark, Evidence::Kind kind) {
    return std::any_of(mark.evidence.begin(), mark.evidence.end(),
                       [kind](const Evidence& evidence) { return evidence.kind == kind; });
  }

  /// A client that has closed a server's stdin often still reads its stdout.
  static std::vector<pid_t> partners_or_readers(const FarEnds& ends) {
    return ends.in.state == FarEnd::State::Closed ? ends.out.holders : partners(ends);
  }

  static bool only_by_package(const Mark& mark) {
    return std::all_of(mark.evidence.begin(), mark.evidence.end(), [](const Evidence& evidence) {
      return evidence.kind == Evidence::Kind::Package || evidence.kind == Evidence::Kind::Name;
    });
  }

  const Snapshot& snapshot_;
  RunningClients& clients_;
  std::unordered_map<std::string, std::vector<const known::ConfiguredServer*>> configured_;  // by key
  std::unordered_set<std::string> living_;  // instances whose keepers run
  Marks marks_;
};

}  // namespace

RunningClients find_known_clients(const Snapshot& snapshot) {
  RunningClients clients;
  for (const Process& process : snapshot.processes.all()) {
    if (process.pid == snapshot.self || process.state == 'Z' || process.argv.empty()) continue;
    const known::ServerCommand* command = command_of(snapshot, process.pid);
    const known::KnownClient* client = command == nullptr ? nullptr : recognise_client(process, *command);
    if (client != nullptr) clients.emplace(process.pid, client);
  }
  return clients;
}

Marks mark_servers(const Snapshot& snapshot, RunningClients& clients) {
  return Marker(snapshot, clients).run();
}

const known::KnownClient* sdk_client(const known::ServerCommand& command) {
  if (!command.depends_on_mcp) return nullptr;
  if (command.mcp_dependency.starts_with("@modelcontextprotocol/sdk"))
    return known::find_client("mcp-sdk-v1");
  if (command.mcp_dependency.starts_with("@modelcontextprotocol/")) return known::find_client("mcp-sdk-v2");
  if (command.mcp_dependency.starts_with("mcp")) return known::find_client("mcp-python-sdk");
  return nullptr;
}

const known::ServerCommand* command_of(const Snapshot& snapshot, pid_t pid) {
  const auto found = snapshot.commands.find(pid);
  return found == snapshot.commands.end() ? nullptr : &found->second;
}

std::vector<pid_t> partners(const FarEnds& ends) {
  std::vector<pid_t> both;
  std::set_intersection(ends.in.holders.begin(), ends.in.holders.end(), ends.out.holders.begin(),
                        ends.out.holders.end(), std::back_inserter(both));
  return both;
}

}  // namespace corral::survey
