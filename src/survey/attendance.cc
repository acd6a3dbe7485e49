#include "survey/attendance.h"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "known/server_command.h"
#include "proc/proc_files.h"
#include "survey/process_reader.h"
#include "survey/survey.h"

namespace corral::survey {
namespace {

constexpr int kMostWrappers = 4;  // between a client and what it has started: `sh -c`, npx, timeout, …

/// A terminal, a pipe or a socket: the process or the user that started it in this way may still use it.
bool is_led(const Stream& stream) {
  return stream.connects() || stream.kind == Stream::Kind::Terminal || stream.kind == Stream::Kind::Unknown;
}

struct Doors {
  std::set<std::string> names;    // of the Unix sockets on which the process waits
  std::set<std::uint16_t> ports;  // of the TCP sockets
  bool in_doubt = false;          // one that nobody could be recognised at
  bool somebody_waits = false;

  bool any() const { return !names.empty() || !ports.empty(); }
};

Doors doors_of(const ProcessTable& table, const Process& process, const TcpSockets& tcp,
               const UnixSockets& unix_sockets) {
  Doors doors;
  for (const Holding& holding : table.holdings()) {
    if (holding.pid != process.pid || !holding.socket) continue;
    if (const auto found = unix_sockets.find(holding.inode); found != unix_sockets.end()) {
      const SocketEnd& end = found->second;
      if (!end.listens || is_for_itself(end.name)) continue;
      doors.in_doubt |= end.name.empty();
      doors.somebody_waits |= end.waiting > 0;
      doors.names.insert(end.name);
    }
    for (const ListeningSocket& socket : tcp.listening) {
      if (socket.inode == holding.inode) doors.ports.insert(socket.port);
    }
  }
  return doors;
}

bool has_visitor(const Doors& doors, const TcpSockets& tcp, const UnixSockets& unix_sockets) {
  // A socket that was accepted has the name of the one that it came in by, whichever process has it now.
  const bool by_name = std::any_of(unix_sockets.begin(), unix_sockets.end(), [&](const auto& entry) {
    const SocketEnd& end = entry.second;
    return !end.listens && end.peer != 0 && doors.names.contains(end.name);
  });
  return by_name || std::any_of(tcp.connections.begin(), tcp.connections.end(),
                                [&](const TcpConnection& end) { return doors.ports.contains(end.port); });
}

struct Found {
  Process process;
  const known::KnownClient* client = nullptr;
  std::vector<Holding> holdings;
  bool readable = false;
};

/// The process that holds the session: the first one that is a known client, from `pid` upwards.
std::optional<Found> find_background(int proc, pid_t pid) {
  for (int step = 0; step <= kMostWrappers && pid > 1; ++step) {
    ProcessReader reader(proc);
    std::optional<Process> process = reader.read(std::to_string(pid).c_str());
    if (!process || process->argv.empty()) return std::nullopt;
    const known::ServerCommand command =
        known::understand(process->argv, process->executable, process->directory);
    const known::KnownClient* const client = recognise_client(*process, command);
    if (client != nullptr && !is_background(*client, *process)) return std::nullopt;
    if (client != nullptr)
      return Found{std::move(*process), client, reader.take_holdings(), reader.unreadable() == 0};
    pid = process->parent;
  }
  return std::nullopt;
}

}  // namespace

bool is_background(const known::KnownClient& client, const Process& process) {
  const std::vector<std::string>& argv = process.argv;
  return !client.background.empty() &&
         std::all_of(client.background.begin(), client.background.end(), [&argv](std::string_view word) {
           return argv.size() > 1 && std::find(argv.begin() + 1, argv.end(), word) != argv.end();
         });
}

Attendance attendance(const ProcessTable& table, const Process& process, const TcpSockets& tcp,
                      const UnixSockets* unix_sockets) {
  if (unix_sockets == nullptr || !tcp.complete) return Attendance::Unknown;
  if (is_led(process.streams[0]) || is_led(process.streams[1])) return Attendance::Attended;
  const Doors doors = doors_of(table, process, tcp, *unix_sockets);
  if (!doors.any() || doors.in_doubt) return Attendance::Unknown;
  if (doors.somebody_waits || has_visitor(doors, tcp, *unix_sockets)) return Attendance::Attended;
  return Attendance::Unattended;
}

std::vector<Background> read_backgrounds(const std::vector<pid_t>& pids) {
  std::vector<Background> backgrounds(pids.size());
  std::map<pid_t, std::size_t> first;  // one client may hold hundreds of sessions, and has a pipe for each
  const UniqueFd proc = proc::open_directory(AT_FDCWD, "/proc");
  if (!proc.valid()) return backgrounds;
  std::optional<UnixSockets> unix_sockets;
  std::optional<TcpSockets> tcp;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    const auto [known, is_new] = first.emplace(pids[i], i);
    if (!is_new) backgrounds[i] = backgrounds[known->second];
    if (!is_new) continue;
    std::optional<Found> found = find_background(proc.get(), pids[i]);
    if (!found) continue;
    Background& background = backgrounds[i];
    background.client = found->client->name;
    background.pid = found->process.pid;
    if (!found->readable) continue;
    if (!tcp) {
      tcp = read_tcp_sockets();
      unix_sockets = read_unix_sockets();
    }
    const ProcessTable table({found->process}, std::move(found->holdings), 0, 100);
    background.attendance =
        attendance(table, *table.find(background.pid), *tcp, unix_sockets ? &*unix_sockets : nullptr);
  }
  return backgrounds;
}

}  // namespace corral::survey
