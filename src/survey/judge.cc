#include <algorithm>
#include <unordered_set>

#include "base/words.h"
#include "survey/attribution.h"
#include "survey/marks.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

/// Whether a process only starts another one and hands its stdin on.
bool is_wrapper(const ServerCommand* command, const ServerCommand* inner) {
  if (command == nullptr) return false;
  if (command->is_shell) return true;
  if (inner != nullptr && !inner->key.empty() && inner->key == command->key) return true;
  const KnownLauncher* launcher = find_launcher(command->launcher);
  return launcher != nullptr && launcher->kind != LauncherKind::Interpreter;
}

class Judge {
 public:
  explicit Judge(const Snapshot& snapshot)
      : snapshot_(snapshot), table_(snapshot.processes), clients_(find_known_clients(snapshot)) {}

  Survey run() {
    marks_ = mark_servers(snapshot_, clients_);
    gather_trees();
    find_orphans();
    const Attribution attribution(snapshot_, clients_, marks_);
    for (Server& server : survey_.servers) {
      attribution.attribute(server, speakers_.at(server.pid), ends_of(server));
      note_client_inside(server);
    }
    list_clients(attribution);
    describe_sight();
    survey_.configurations = snapshot_.configurations;
    survey_.own_uid = snapshot_.own_uid;
    survey_.processes = table_.all().size();
    std::sort(survey_.servers.begin(), survey_.servers.end(), [](const Server& a, const Server& b) {
      return a.age != b.age ? a.age > b.age : a.pid < b.pid;
    });
    return std::move(survey_);
  }

 private:
  void gather_trees();
  Server describe(pid_t top) const;
  void add_to_tree(pid_t top, pid_t pid);
  void settle_state(Server& server);
  void find_orphans();
  void note_client_inside(Server& server) const;
  bool held_only_by(const FarEnd& end, const Server& server,
                    const std::unordered_set<pid_t>& leftovers) const;
  bool all_readable(uid_t uid) const;
  void list_clients(const Attribution& attribution);
  void describe_sight();
  bool is_below(pid_t pid, std::string_view comm) const;
  const FarEnds* ends_of(const Server& server) const;
  bool has_within(const Server& server, std::string_view comm) const;
  bool serves_a_port(const Server& server) const;
  bool inside_another(pid_t top) const;
  bool lost_its_launcher(const Server& server, const FarEnds& ends) const;

  const Snapshot& snapshot_;
  const ProcessTable& table_;
  RunningClients clients_;
  Marks marks_;
  std::unordered_map<pid_t, std::size_t> places_;  // top of a tree -> its place among the servers
  std::unordered_map<pid_t, pid_t> speakers_;      // top of a tree -> the process in it that shows what it is
  Survey survey_;
};

bool Judge::is_below(pid_t pid, std::string_view comm) const {
  const std::vector<pid_t> above = table_.ancestors(pid);
  return std::any_of(above.begin(), above.end(), [&](pid_t ancestor) {
    const Process* process = table_.find(ancestor);
    return process != nullptr && process->comm == comm;
  });
}

/// Only of the process that shows what the server is: a helper's pipes say nothing about the service above
/// it.
const FarEnds* Judge::ends_of(const Server& server) const {
  const auto ends = snapshot_.far_ends.find(speakers_.at(server.pid));
  return ends == snapshot_.far_ends.end() ? nullptr : &ends->second;
}

bool Judge::has_within(const Server& server, std::string_view comm) const {
  return std::any_of(server.tree.begin(), server.tree.end(),
                     [&](pid_t pid) { return table_.find(pid)->comm == comm; });
}

/// A port that others may use. What a client's configuration starts over pipes is theirs all the same.
bool Judge::serves_a_port(const Server& server) const {
  if (!server.configured_as.empty()) return false;
  return std::any_of(server.tree.begin(), server.tree.end(),
                     [&](pid_t pid) { return snapshot_.listeners.contains(pid); });
}

/// Below another server and no client in between: a helper of that one, or a server that it started.
bool Judge::inside_another(pid_t top) const {
  for (const pid_t above : table_.ancestors(top)) {
    if (marks_.contains(above)) return true;  // also one that is a client in its turn, as a gateway is
    if (clients_.contains(above)) return false;
  }
  return false;
}

void Judge::gather_trees() {
  for (const Process& process : table_.all()) {
    if (!marks_.contains(process.pid)) continue;
    const pid_t top = top_of(snapshot_, process.pid);
    if (process.comm == kKeeperName || inside_another(top)) continue;
    add_to_tree(top, process.pid);
  }
  for (Server& server : survey_.servers) settle_state(server);
}

Server Judge::describe(pid_t top) const {
  const Process& process = *table_.find(top);
  Server server;
  server.pid = top;
  server.tree = table_.tree(top);
  server.uid = process.uid;
  server.shown = show_command(process.argv);
  server.root = process.directory;
  server.age = table_.age(process);
  return server;
}

void Judge::add_to_tree(pid_t top, pid_t pid) {
  const auto [place, is_new] = places_.emplace(top, survey_.servers.size());
  if (is_new) {
    survey_.servers.push_back(describe(top));
    speakers_[top] = pid;
  }
  Server& server = survey_.servers[place->second];
  const Mark& mark = marks_.at(pid);
  if (mark.confirmed) server.certainty = Server::Certainty::Confirmed;
  const ServerCommand* command = command_of(snapshot_, pid);
  const bool tells_more =
      server.command.key.empty() || (server.command.version.empty() && command->depends_on_mcp);
  if (command != nullptr && !command->key.empty() && tells_more) {
    server.command = *command;
    speakers_[top] = pid;
  }
  for (const std::string& entry : mark.configured_as) {
    auto& entries = server.configured_as;
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  for (const Evidence& evidence : mark.evidence) {
    const bool known = std::any_of(server.evidence.begin(), server.evidence.end(),
                                   [&](const Evidence& other) { return other.text == evidence.text; });
    if (!known) server.evidence.push_back(evidence);
  }
}

void Judge::settle_state(Server& server) {
  if (is_below(server.pid, kKeeperName) || has_within(server, kKeeperName)) {
    server.state = Server::State::Kept;
    return;
  }
  const auto mark = marks_.find(server.pid);
  const bool guarded = is_below(server.pid, "corral");  // a guard may mark what it watches, too
  if (mark != marks_.end() && mark->second.ours && !guarded) {
    server.state = Server::State::Orphan;
    server.cause = Server::Cause::CorralKilled;
    return;
  }
  const bool apart = ends_of(server) == nullptr || serves_a_port(server);
  server.state = apart ? Server::State::Apart : Server::State::Serving;
}

bool Judge::all_readable(uid_t uid) const {
  return std::none_of(table_.all().begin(), table_.all().end(), [&](const Process& process) {
    const bool readable = process.streams[0].kind != Stream::Kind::Unknown;
    const bool counts =
        process.state != 'Z' && !process.argv.empty() && process.pid != 1;  // init is no client
    return process.uid == uid && !readable && counts;
  });
}

bool Judge::held_only_by(const FarEnd& end, const Server& server,
                         const std::unordered_set<pid_t>& leftovers) const {
  if (end.state == FarEnd::State::Closed) return true;
  if (end.state != FarEnd::State::Open || end.holders.empty()) return false;
  return std::all_of(end.holders.begin(), end.holders.end(), [&](pid_t holder) {
    return leftovers.contains(holder) || contains(server.tree, holder);
  });
}

/// Nobody can write to it any more, and it is not below the client that still reads from it: the wrapper that
/// the client knew is gone. One that is still below might be a command at work on its only input.
bool Judge::lost_its_launcher(const Server& server, const FarEnds& ends) const {
  if (ends.in.state != FarEnd::State::Closed || ends.out.holders.empty()) return false;
  const std::vector<pid_t> above = table_.ancestors(server.pid);
  return std::all_of(ends.out.holders.begin(), ends.out.holders.end(), [&](pid_t holder) {
    return contains(server.tree, holder) || (clients_.contains(holder) && !contains(above, holder));
  });
}

/// A server is an orphan if nobody but other orphans has the other end of its pipes: clients that hand
/// descriptors to every child leave servers that hold each other open. So all are suspects at first, and
/// whoever is held from outside is cleared, until nobody changes sides.
void Judge::find_orphans() {
  std::vector<Server*> suspects;
  for (Server& server : survey_.servers) {
    if (server.state == Server::State::Serving) suspects.push_back(&server);
  }
  for (bool changed = true; changed;) {
    std::unordered_set<pid_t> leftovers;
    for (const Server& server : survey_.servers) {
      if (server.state == Server::State::Orphan) leftovers.insert(server.tree.begin(), server.tree.end());
    }
    for (const Server* server : suspects) leftovers.insert(server->tree.begin(), server->tree.end());
    const std::size_t removed = std::erase_if(suspects, [&](const Server* server) {
      const FarEnds& ends = *ends_of(*server);
      if (lost_its_launcher(*server, ends)) return false;
      return !held_only_by(ends.in, *server, leftovers) || !held_only_by(ends.out, *server, leftovers);
    });
    changed = removed != 0;
  }
  for (Server* server : suspects) {
    const FarEnds& ends = *ends_of(*server);
    const bool closed = ends.in.state == FarEnd::State::Closed && ends.out.state == FarEnd::State::Closed;
    // Without the kernel's word a holder that we cannot see may exist. Processes of other users do not count:
    // a server gets its pipes from a client of its own user.
    if (!closed && !lost_its_launcher(*server, ends) && !all_readable(server->uid)) continue;
    server->state = Server::State::Orphan;
    const bool deaf = ends.in.state == FarEnd::State::Closed;
    server->evidence.push_back(
        {Evidence::Kind::Pipe, closed ? "nobody has the other end of its stdin and stdout"
                               : deaf ? "nobody can write to its stdin any more"
                                      : "only other orphans hold the other end of its pipes"});
  }
}

/// Somebody may work with a client that a server has started. A gateway, which is built on an SDK, is no such
/// client.
void Judge::note_client_inside(Server& server) const {
  for (const pid_t pid : server.tree) {
    const auto client = clients_.find(pid);
    const bool named = client != clients_.end() && !client->second->id.starts_with("mcp-");
    if (named && pid != server.pid && pid != speakers_.at(server.pid)) server.client_inside = pid;
  }
}

void Judge::list_clients(const Attribution& attribution) {
  for (const auto& entry : clients_) {
    const pid_t pid = entry.first;
    const KnownClient* known = entry.second;
    RunningClient running{attribution.describe(pid, known), {}};
    for (const Server& server : survey_.servers) {
      if (server.client.pid == pid) running.servers.push_back(server.pid);
    }
    // A client is often several processes; those that hold no server are told apart from the one that does.
    const std::vector<pid_t> above = table_.ancestors(pid);
    const bool part_of_another = std::any_of(above.begin(), above.end(), [&](pid_t ancestor) {
      const auto other = clients_.find(ancestor);
      return other != clients_.end() && other->second == known;
    });
    if (running.servers.empty() && part_of_another) continue;
    survey_.clients.push_back(std::move(running));
  }
  std::sort(survey_.clients.begin(), survey_.clients.end(),
            [](const RunningClient& a, const RunningClient& b) { return a.client.pid < b.client.pid; });
}

void Judge::describe_sight() {
  if (table_.others_hidden()) {
    survey_.limits_of_sight.push_back(
        "/proc shows only your own processes (hidepid): servers of other users are not in this list");
  } else if (table_.unreadable() > 0) {
    const std::string many = std::to_string(table_.unreadable());
    survey_.limits_of_sight.push_back(
        (table_.unreadable() == 1 ? "1 process" : many + " processes") +
        " of other users cannot be looked into, so a server among them would not be in this list");
  }
}

}  // namespace

pid_t top_of(const Snapshot& snapshot, pid_t pid) {
  const Process* process = snapshot.processes.find(pid);
  while (process != nullptr) {
    const Process* parent = snapshot.processes.find(process->parent);
    const bool handed_on = parent != nullptr && parent->pid > 1 && parent->pid != snapshot.self &&
                           parent->comm != kKeeperName && process->streams[0].connects() &&
                           parent->streams[0] == process->streams[0];
    const ServerCommand* command = parent == nullptr ? nullptr : command_of(snapshot, parent->pid);
    if (!handed_on || !is_wrapper(command, command_of(snapshot, process->pid))) break;
    if (command != nullptr && recognise_client(*parent, *command) != nullptr) break;
    process = parent;
  }
  return process == nullptr ? pid : process->pid;
}

bool hands_on_to_corral(const Snapshot& snapshot, pid_t pid) {
  const ServerCommand* command = command_of(snapshot, pid);
  if (command == nullptr || find_launcher(command->launcher) == nullptr) return false;
  const std::vector<pid_t> tree = snapshot.processes.tree(pid);
  return std::any_of(tree.begin(), tree.end(), [&](pid_t below) {
    const ServerCommand* other = command_of(snapshot, below);
    const KnownLauncher* launcher = other == nullptr ? nullptr : find_launcher(other->launcher);
    const bool corral = launcher != nullptr && launcher->kind == LauncherKind::Corral;
    return corral && (below == pid || (!command->key.empty() && other->key == command->key));
  });
}

Survey judge(const Snapshot& snapshot) { return Judge(snapshot).run(); }

}  // namespace corral::survey
