#include "reap/copies.h"

#include <unistd.h>

#include <algorithm>

#include "reap/selection.h"

namespace corral::reap {
namespace {

using survey::Process;
using survey::Server;
using survey::Snapshot;

bool below_a_keeper(const Snapshot& snapshot, pid_t pid) {
  const std::vector<pid_t> above = snapshot.processes.ancestors(pid);
  return std::any_of(above.begin(), above.end(), [&snapshot](pid_t ancestor) {
    const Process* process = snapshot.processes.find(ancestor);
    return process != nullptr && process->comm == survey::kKeeperName;
  });
}

/// Where a system keeps programs for everybody and everything.
bool is_a_system_program(const std::string& path) {
  for (const char* folder : {"/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/snap/bin/"}) {
    if (path.starts_with(folder)) return true;
  }
  return false;
}

/// A script or a program of its own is the server whatever its arguments are (S1.1). A program of the system
/// may do everything, and is the server only with its arguments: `ssh host server` is no copy of another ssh.
bool runs_the_same(const survey::ServerCommand& wanted, const survey::ServerCommand& command) {
  if (wanted.key.empty() || wanted.key != command.key) return false;
  const bool own_program = command.key.starts_with("file:") && !is_a_system_program(command.script);
  const bool speaks_mcp =
      wanted.depends_on_mcp || command.depends_on_mcp || survey::looks_like_a_server(command.name);
  return own_program || speaks_mcp || wanted.arguments == command.arguments;
}

/// Only those with pipes, all along: on a terminal a person uses it, and everything else is a service. A
/// client may be configured as a server, but what runs may be somebody's session. In a container the same
/// path is another file.
bool may_be_a_copy(const Snapshot& snapshot, const Process& process) {
  const auto command = snapshot.commands.find(process.pid);
  const auto details = snapshot.details.find(process.pid);
  const bool elsewhere = details != snapshot.details.end() && details->second.in_other_pid_namespace;
  return process.streams[0].connects() && process.streams[1].connects() && !elsewhere &&
         survey::recognise_client(process, command->second) == nullptr;
}

/// Up to the first of a line of processes that run the same program and handed their stdin on: a launcher and
/// what it became are one copy.
pid_t first_of_line(const Snapshot& snapshot, pid_t pid, const std::string& key) {
  pid_t top = survey::top_of(snapshot, pid);
  for (const pid_t above : snapshot.processes.ancestors(top)) {
    const auto command = snapshot.commands.find(above);
    const bool same_stdin =
        snapshot.processes.find(above)->streams[0] == snapshot.processes.find(top)->streams[0];
    if (command == snapshot.commands.end() || command->second.key != key || !same_stdin) break;
    if (survey::hands_on_to_corral(snapshot, above)) break;
    top = above;
  }
  return top;
}

Server describe(const Snapshot& snapshot, pid_t top, const survey::ServerCommand& command) {
  const Process& process = *snapshot.processes.find(top);
  Server server;
  server.pid = top;
  server.tree = snapshot.processes.tree(top);
  server.uid = process.uid;
  server.command = command;
  server.shown = survey::show_command(process.argv);
  server.age = snapshot.processes.age(process);
  server.certainty = Server::Certainty::Confirmed;
  const bool keeper_inside = std::any_of(server.tree.begin(), server.tree.end(), [&snapshot](pid_t pid) {
    return snapshot.processes.find(pid)->comm == survey::kKeeperName;
  });
  if (keeper_inside || below_a_keeper(snapshot, top)) server.state = Server::State::Kept;
  return server;
}

}  // namespace

std::vector<Server> copies_of(const Snapshot& snapshot, const survey::ServerCommand& command, uid_t uid) {
  std::vector<Server> copies;
  if (command.key.empty()) return copies;
  for (const Process& process : snapshot.processes.all()) {
    const auto found = snapshot.commands.find(process.pid);
    if (found == snapshot.commands.end() || !runs_the_same(command, found->second)) continue;
    if (survey::hands_on_to_corral(snapshot, process.pid)) continue;
    if (process.uid != uid || process.pid == snapshot.self || !may_be_a_copy(snapshot, process)) continue;
    const pid_t top = first_of_line(snapshot, process.pid, command.key);
    const bool known =
        std::any_of(copies.begin(), copies.end(), [top](const Server& copy) { return copy.pid == top; });
    if (!known) copies.push_back(describe(snapshot, top, found->second));
  }
  std::sort(copies.begin(), copies.end(),
            [](const Server& a, const Server& b) { return a.age != b.age ? a.age > b.age : a.pid < b.pid; });
  return copies;
}

Result<Cleanup> clean_up_copies(const std::vector<std::string>& argv, const std::string& directory,
                                const std::string& path, std::size_t keep) {
  Result<Snapshot> snapshot = survey::take_snapshot({});
  if (!snapshot) return snapshot.error();
  const survey::ServerCommand command = survey::understand(argv, "", directory, path);
  survey::Survey survey;
  survey.servers = copies_of(*snapshot, command, geteuid());
  survey::examine(survey, *snapshot);
  Cleanup cleanup;
  cleanup.found = survey.servers.size();
  const std::size_t stay = keep == 0 ? 0 : keep - 1;
  const Untouchable untouchable = who_must_not_be_touched();
  std::size_t excess = cleanup.found > stay ? cleanup.found - stay : 0;
  for (Server& server : survey.servers) {
    if (excess == 0) break;
    const bool ours = std::any_of(server.tree.begin(), server.tree.end(), [&untouchable](pid_t pid) {
      return std::find(untouchable.own_ancestors.begin(), untouchable.own_ancestors.end(), pid) !=
             untouchable.own_ancestors.end();
    });
    if (ours || server.debugged || server.state == Server::State::Kept) continue;
    cleanup.chosen.push_back(server);
    --excess;
  }
  std::vector<const Server*> chosen;
  chosen.reserve(cleanup.chosen.size());
  for (const Server& server : cleanup.chosen) chosen.push_back(&server);
  cleanup.ended = end_trees(chosen, Graces{});
  return cleanup;
}

}  // namespace corral::reap
