#include "survey/snapshot.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/system_users.h"
#include "proc/proc_files.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

/// Processes whose details are read: they use pipes, or may carry corral's mark.
bool is_of_interest(const Process& process) {
  if (process.state == 'Z' || process.argv.empty()) return false;
  return process.streams[0].connects() || process.streams[1].connects();
}

/// A running keeper's servers and its remains have the mark in their environment, whatever their pipes are;
/// so everything that may have lost its parent is looked at, too.
bool may_be_ours(const ProcessTable& table, const Process& process) {
  if (process.state == 'Z' || process.argv.empty()) return false;
  if (process.comm == kKeeperName) return true;  // its environment names an instance that has a keeper
  const Process* parent = table.find(process.parent);
  return parent == nullptr || parent->pid == 1 || parent->comm == kKeeperName || parent->comm == "systemd";
}

/// Projects in which a client works now may have a configuration of their own.
void add_project_roots(const Snapshot& snapshot, std::vector<std::string>& roots) {
  std::set<std::string> known(roots.begin(), roots.end());
  for (const Process& process : snapshot.processes.all()) {
    const auto command = snapshot.commands.find(process.pid);
    if (command == snapshot.commands.end() || process.directory.empty()) continue;
    // The project of another user must not decide which processes of this user are servers.
    if (process.uid != geteuid()) continue;
    if (recognise_client(process, command->second) == nullptr) continue;
    if (known.insert(process.directory).second) roots.push_back(process.directory);
  }
}

/// Whether anybody is attached to the background processes of this user's clients.
void add_attendances(const TcpSockets& tcp, const UnixSockets* unix_sockets, Snapshot& snapshot) {
  for (const Process& process : snapshot.processes.all()) {
    const auto command = snapshot.commands.find(process.pid);
    if (command == snapshot.commands.end() || process.uid != geteuid()) continue;
    const auto clients = known::known_clients();  // their words are found sooner than the client
    const auto like = [&process](const known::KnownClient& one) { return is_background(one, process); };
    if (std::none_of(clients.begin(), clients.end(), like)) continue;
    const known::KnownClient* const client = recognise_client(process, command->second);
    if (client == nullptr || !is_background(*client, process)) continue;
    snapshot.attendances[process.pid] = attendance(snapshot.processes, process, tcp, unix_sockets);
  }
}

/// Its network namespace; empty if it may not be read.
std::string network_of(const std::string& process) {
  return proc::read_link(AT_FDCWD, ("/proc/" + process + "/ns/net").c_str());
}

}  // namespace

known::ConfigPlaces own_places() {
  known::ConfigPlaces places;
  places.home = home_directory();
  for (char** variable = environ; *variable != nullptr; ++variable)
    places.environment.emplace_back(*variable);
  char directory[4096];
  if (getcwd(directory, sizeof directory) != nullptr) places.project_roots.emplace_back(directory);
  return places;
}

Result<Snapshot> take_snapshot(known::ConfigPlaces places) {
  Result<ProcessTable> table = ProcessTable::read();
  if (!table) return table.error();
  Snapshot snapshot{std::move(*table), {}, {}, {}, {}, getpid(), geteuid(), {}};
  const std::optional<UnixSockets> told = read_unix_sockets();
  const UnixSockets sockets = told.value_or(UnixSockets());
  for (const Process& process : snapshot.processes.all()) {
    if (process.argv.empty() || process.state == 'Z') continue;
    snapshot.commands.emplace(process.pid,
                              known::understand(process.argv, process.executable, process.directory));
    const bool speaks = is_of_interest(process);
    if (!speaks && !may_be_ours(snapshot.processes, process)) continue;
    snapshot.details.emplace(process.pid, read_details(process.pid));
    if (!process.streams[0].connects() || !process.streams[1].connects()) continue;
    snapshot.far_ends.emplace(process.pid, FarEnds{far_end(snapshot.processes, sockets, process, 0),
                                                   far_end(snapshot.processes, sockets, process, 1)});
  }
  const std::string own_network = network_of("self");
  const TcpSockets tcp = read_tcp_sockets();
  const UnixSockets* const listed = told ? &*told : nullptr;
  snapshot.sockets = socket_uses(snapshot.processes, tcp, listed, [&own_network](pid_t pid) {
    const std::string network = network_of(std::to_string(pid));
    return !network.empty() && network != own_network;
  });
  add_attendances(tcp, listed, snapshot);
  add_project_roots(snapshot, places.project_roots);
  snapshot.configurations = known::read_client_configs(places);
  return snapshot;
}

}  // namespace corral::survey
