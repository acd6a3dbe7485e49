#include <algorithm>
#include <unordered_set>

#include "base/secrets.h"
#include "base/text.h"
#include "base/words.h"
#include "survey/attribution.h"
#include "survey/marks.h"
#include "survey/protection.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

/// Whether a process only starts another one and hands its stdin on.
bool is_wrapper(const known::ServerCommand* command, const known::ServerCommand* inner) {
  if (command == nullptr) return false;
  if (command->is_shell) return true;
  if (inner != nullptr && !inner->key.empty() && inner->key == command->key) return true;
  const known::KnownLauncher* launcher = known::find_launcher(command->launcher);
  return launcher != nullptr && launcher->kind != known::LauncherKind::Interpreter;
}

bool are_closed(const FarEnds& ends) {
  return ends.in.state == FarEnd::State::Closed && ends.out.state == FarEnd::State::Closed;
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
  void note_surroundings(Server& server) const;
  void note_use(Server& server) const;
  bool has_lost_all_pipes(const Server& server) const;
  std::string connected_to(const Server& server) const;
  pid_t pipeline_of(const Server& server) const;
  bool are_piped(const Process& writer, const Process& reader) const;
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

/// Only for the process that shows what the server is: the pipes of a helper say nothing about the service
/// above it.
const FarEnds* Judge::ends_of(const Server& server) const {
  const auto ends = snapshot_.far_ends.find(speakers_.at(server.pid));
  return ends == snapshot_.far_ends.end() ? nullptr : &ends->second;
}

bool Judge::has_within(const Server& server, std::string_view comm) const {
  return std::any_of(server.tree.begin(), server.tree.end(),
                     [&](pid_t pid) { return table_.find(pid)->comm == comm; });
}

/// Below another server, without a client in between: its helper, or a server that it started.
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
  for (Server& server : survey_.servers) {
    note_surroundings(server);
    note_use(server);
    settle_state(server);
  }
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
  server.arguments = std::max(server.arguments, mark.arguments);
  const known::ServerCommand* command = command_of(snapshot_, pid);
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

/// As far as the snapshot shows it; examine() looks again.
void Judge::note_surroundings(Server& server) const {
  for (const pid_t pid : server.tree) {
    const auto details = snapshot_.details.find(pid);
    if (details == snapshot_.details.end()) continue;
    server.debugged |= details->second.tracer != 0;
    server.in_container |= pid == server.pid && details->second.in_other_pid_namespace;
  }
}

/// Whether no process outside the tree has the other end of any of its pipes, according to the kernel.
bool Judge::has_lost_all_pipes(const Server& server) const {
  const FarEnds* const own = ends_of(server);
  if (own == nullptr || !are_closed(*own)) return false;
  return std::all_of(server.tree.begin(), server.tree.end(), [&](pid_t pid) {
    const auto ends = snapshot_.far_ends.find(pid);
    return ends == snapshot_.far_ends.end() ||
           (held_only_by(ends->second.in, server, {}) && held_only_by(ends->second.out, server, {}));
  });
}

/// Which process is connected to the tree by a socket, in words; empty if none is. Not counted are its stdin
/// and stdout, a second connection to the process at the other end of those, a connection from the tree to
/// itself, and the window of a server to which no process can write any more.
std::string Judge::connected_to(const Server& server) const {
  std::unordered_set<std::uint64_t> streams;
  for (const pid_t pid : server.tree) {
    for (const Stream& stream : table_.find(pid)->streams) {
      if (stream.kind == Stream::Kind::Socket) streams.insert(stream.inode);
    }
  }
  const FarEnds* const ends = ends_of(server);
  const bool stranded = has_lost_all_pipes(server);
  const auto outside = [&](pid_t peer) { return !contains(server.tree, peer); };
  const auto counts = [&](pid_t peer) {
    return outside(peer) && (ends == nullptr || !contains(ends->in.holders, peer));
  };
  for (const pid_t pid : server.tree) {
    const auto use = snapshot_.sockets.find(pid);
    if (use == snapshot_.sockets.end()) continue;
    for (const TcpCall& call : use->second.calls) {
      const std::string port = "TCP port " + std::to_string(call.port);
      if (call.callers.empty()) return "a process that cannot be seen from here, at " + port;
      const auto caller = std::find_if(call.callers.begin(), call.callers.end(), outside);
      if (caller != call.callers.end()) return "process " + std::to_string(*caller) + " at " + port;
    }
    for (const UnixLink& link : use->second.links) {
      if (streams.contains(link.inode) || (link.display && stranded)) continue;
      if (link.peers.empty()) return "a process that cannot be seen from here, by a socket";
      const auto peer = std::find_if(link.peers.begin(), link.peers.end(), counts);
      if (peer != link.peers.end()) return "process " + std::to_string(*peer) + " by a Unix socket";
    }
  }
  return {};
}

/// A shell makes the stdout of one command the stdin of the next. A client has the ends of its servers' pipes
/// as other descriptors, and is not started beside them by a shell.
bool Judge::are_piped(const Process& writer, const Process& reader) const {
  if (writer.streams[1].kind == Stream::Kind::Pipe && writer.streams[1] == reader.streams[0]) return true;
  const known::ServerCommand* const above =
      writer.parent > 1 ? command_of(snapshot_, writer.parent) : nullptr;
  return writer.parent == reader.parent && above != nullptr && above->is_shell;
}

/// The process before or after it in a shell's pipeline; 0 if there is none.
pid_t Judge::pipeline_of(const Server& server) const {
  const FarEnds* const ends = ends_of(server);
  if (ends == nullptr) return 0;
  const Process& speaker = *table_.find(speakers_.at(server.pid));
  for (const pid_t reader : ends->out.holders) {
    const Process* const process = table_.find(reader);
    if (process == nullptr || contains(server.tree, reader)) continue;
    if (are_piped(speaker, *process)) return reader;
  }
  for (const pid_t writer : ends->in.holders) {
    const Process* const process = table_.find(writer);
    if (process == nullptr || contains(server.tree, writer)) continue;
    if (are_piped(*process, speaker)) return writer;
  }
  return 0;
}

void Judge::note_use(Server& server) const {
  for (const pid_t pid : server.tree) {
    const auto use = snapshot_.sockets.find(pid);
    if (use != snapshot_.sockets.end() && server.listens.empty()) server.listens = use->second.listens;
  }
  server.connected = connected_to(server);
  server.pipeline = pipeline_of(server);
  if (!server.listens.empty())
    server.evidence.push_back({Evidence::Kind::Socket, "it waits for connections at " + server.listens});
  if (!server.connected.empty())
    server.evidence.push_back({Evidence::Kind::Socket, "it is connected to " + server.connected});
  if (server.pipeline != 0) {
    server.evidence.push_back({Evidence::Kind::Pipe, "a shell's pipeline connects it to process " +
                                                         std::to_string(server.pipeline)});
  }
}

void Judge::settle_state(Server& server) {
  if (is_below(server.pid, kKeeperName) || has_within(server, kKeeperName)) {
    server.state = Server::State::Kept;
    return;
  }
  const auto mark = marks_.find(server.pid);
  const bool guarded = is_below(server.pid, "corral");  // a guard may mark the processes that it watches, too
  if (mark != marks_.end() && mark->second.ours && !guarded) {
    server.state = Server::State::Orphan;
    server.cause = Server::Cause::CorralKilled;
    return;
  }
  const FarEnds* const ends = ends_of(server);
  const std::optional<Protection> use = use_of(server);
  const bool apart = ends == nullptr || use == Protection::Listening || (use && are_closed(*ends));
  server.state = apart ? Server::State::Apart : Server::State::Serving;
}

bool Judge::all_readable(uid_t uid) const {
  return std::none_of(table_.all().begin(), table_.all().end(), [&](const Process& process) {
    const bool readable = process.streams[0].kind != Stream::Kind::Unknown;
    const bool counts =
        process.state != 'Z' && !process.argv.empty() && process.pid != 1;  // init is not a client
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

/// No process can write to it any more, and it is not below the client that still reads from it: the wrapper
/// that the client had started is gone. A process still below the client might be a command that works on its
/// only input.
bool Judge::lost_its_launcher(const Server& server, const FarEnds& ends) const {
  if (ends.in.state != FarEnd::State::Closed || ends.out.holders.empty()) return false;
  const std::vector<pid_t> above = table_.ancestors(server.pid);
  return std::all_of(ends.out.holders.begin(), ends.out.holders.end(), [&](pid_t holder) {
    return contains(server.tree, holder) || (clients_.contains(holder) && !contains(above, holder));
  });
}

/// A server is an orphan if only other orphans have the other end of its pipes: clients that pass all
/// descriptors to every child leave servers that hold each other's pipes open. So all are suspects at first;
/// a server whose pipes a process outside of the suspects has is cleared, until no more can be.
void Judge::find_orphans() {
  std::vector<Server*> suspects;
  for (Server& server : survey_.servers) {
    if (server.state == Server::State::Serving && !use_of(server)) suspects.push_back(&server);
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
    const bool closed = are_closed(ends);
    // Without the kernel's answer there may be a holder that is not visible. Processes of other users do not
    // count: a server gets its pipes from a client of its own user.
    if (!closed && !lost_its_launcher(*server, ends) && !all_readable(server->uid)) continue;
    server->state = Server::State::Orphan;
    const bool deaf = ends.in.state == FarEnd::State::Closed;
    server->evidence.push_back(
        {Evidence::Kind::Pipe, closed ? "nobody has the other end of its stdin and stdout"
                               : deaf ? "nobody can write to its stdin any more"
                                      : "only other orphans hold the other end of its pipes"});
  }
}

/// A person may use a client that a server has started. A gateway, which is built on an SDK, is not such a
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
    const known::KnownClient* known = entry.second;
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
    survey_.limits_of_sight.push_back(
        counted(table_.unreadable(), "process", "processes") +
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
    const known::ServerCommand* command = parent == nullptr ? nullptr : command_of(snapshot, parent->pid);
    if (!handed_on || !is_wrapper(command, command_of(snapshot, process->pid))) break;
    if (command != nullptr && recognise_client(*parent, *command) != nullptr) break;
    process = parent;
  }
  return process == nullptr ? pid : process->pid;
}

bool hands_on_to_corral(const Snapshot& snapshot, pid_t pid) {
  const known::ServerCommand* command = command_of(snapshot, pid);
  if (command == nullptr || known::find_launcher(command->launcher) == nullptr) return false;
  const std::vector<pid_t> tree = snapshot.processes.tree(pid);
  return std::any_of(tree.begin(), tree.end(), [&](pid_t below) {
    const known::ServerCommand* other = command_of(snapshot, below);
    const known::KnownLauncher* launcher = other == nullptr ? nullptr : known::find_launcher(other->launcher);
    const bool corral = launcher != nullptr && launcher->kind == known::LauncherKind::Corral;
    return corral && (below == pid || (!command->key.empty() && other->key == command->key));
  });
}

Survey judge(const Snapshot& snapshot) { return Judge(snapshot).run(); }

}  // namespace corral::survey
