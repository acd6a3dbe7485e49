// A machine put together by hand: processes, who holds whose pipes, what is configured. For tests of the
// judgement.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "survey/survey.h"

namespace corral::survey {

class Scene {
 public:
  Scene() { process(1, 0, {"/sbin/init"}).comm = "systemd"; }

  /// Its age is 10,000 s less its pid, so that a larger number means a younger process.
  Process& process(pid_t pid, pid_t parent, const std::vector<std::string>& argv) {
    Process fresh;
    fresh.pid = pid;
    fresh.parent = parent;
    fresh.group = fresh.session = pid;
    fresh.state = 'S';
    fresh.uid = 1000;
    fresh.start_ticks = static_cast<std::uint64_t>(pid) * 100;
    fresh.argv = argv;
    fresh.executable = "/usr/bin/" + argv.front().substr(argv.front().rfind('/') + 1);
    fresh.comm = argv.front();
    fresh.directory = "/home/me/project";
    for (Stream& stream : fresh.streams) stream.kind = Stream::Kind::Null;
    commands_[pid].key = "file:" + fresh.executable;
    commands_[pid].name = argv.front();
    return processes_[pid] = fresh;
  }

  known::ServerCommand& command(pid_t pid) { return commands_[pid]; }
  Details& details(pid_t pid) { return details_[pid]; }
  FarEnds& far_ends(pid_t pid) { return far_ends_[pid]; }
  Process& operator[](pid_t pid) { return processes_.at(pid); }

  /// A package that is built on the SDK.
  void make_mcp_package(pid_t pid, const std::string& package, const std::string& version = "1.0.0") {
    commands_[pid].key = "npm:" + package;
    commands_[pid].name = package;
    commands_[pid].version = version;
    commands_[pid].depends_on_mcp = true;
    commands_[pid].mcp_dependency = "@modelcontextprotocol/sdk 1.32.2";
  }

  /// As a keeper marks what it starts: with a variable, which can be copied, and a limit, which cannot.
  void mark(pid_t pid, const std::string& instance = "0123456789abcdef0123456789abcdef") {
    details_[pid].environment = {"CORRAL_INSTANCE=" + instance};
    details_[pid].rttime_limit = kTag;
  }
  static constexpr std::uint64_t kTag = (1ULL << 61) + 4711;

  void make_shell(pid_t pid) {
    commands_[pid].key.clear();
    commands_[pid].is_shell = true;
    commands_[pid].launcher = "sh";
  }

  /// stdin and stdout of `pid` lead to `holder`.
  void connect(pid_t pid, pid_t holder) {
    give_pipes(pid, pid);
    far_ends_[pid].in = {FarEnd::State::Open, {holder}};
    far_ends_[pid].out = {FarEnd::State::Open, {holder}};
  }

  /// It has no pipes.
  void disconnect(pid_t pid) {
    for (Stream& stream : processes_.at(pid).streams) stream = {Stream::Kind::Null, 0};
    far_ends_.erase(pid);
  }

  /// It has pipes, and nobody has the other ends.
  void strand(pid_t pid) {
    give_pipes(pid, pid);
    far_ends_[pid].in = {FarEnd::State::Closed, {}};
    far_ends_[pid].out = {FarEnd::State::Closed, {}};
  }

  /// `pid` has the very pipes of `other`, as a launcher hands them on.
  void share_pipes(pid_t pid, pid_t other) {
    give_pipes(pid, other);
    far_ends_[pid] = far_ends_[other];
  }

  /// A shell's pipeline: what `writer` writes to its stdout is the stdin of `reader`.
  void pipe_into(pid_t writer, pid_t reader) {
    processes_.at(reader).streams[0] = processes_.at(writer).streams[1];
    far_ends_[writer].out = {FarEnd::State::Open, {reader}};
  }

  /// It waits for connections on a TCP port.
  void listen(pid_t pid, std::uint16_t port = 8080) {
    tcp_.listening.push_back({new_socket(pid), port, 1000});
  }

  /// Somebody is connected to that port; 0 is another machine.
  void call(std::uint16_t port, pid_t caller = 0) {
    const std::string server = "0100007F:" + std::to_string(port);
    const std::string client = "0100007F:call" + std::to_string(++last_socket_);
    tcp_.connections.push_back({server, client, port, ++last_socket_});
    if (caller != 0) tcp_.connections.push_back({client, server, 1, new_socket(caller)});
  }

  void listen_unix(pid_t pid, const std::string& path) {
    SocketEnd end;
    end.listens = true;
    end.name = path;
    unix_sockets_[new_socket(pid)] = end;
  }

  /// It is a background process of a client.
  void attend(pid_t pid, Attendance attendance) { attendances_[pid] = attendance; }

  /// A Unix socket connects the two. `peer` 0 is somebody whom we cannot look into; `name` is the address
  /// that the peer has.
  void link(pid_t pid, pid_t peer, const std::string& name = "") {
    const std::uint64_t own = new_socket(pid);
    const std::uint64_t other = peer == 0 ? ++last_socket_ : new_socket(peer);
    unix_sockets_[own].peer = other;
    unix_sockets_[other].peer = own;
    unix_sockets_[other].name = name;
  }

  void configure(const std::string& client, const std::string& name, const std::string& key,
                 const std::vector<std::string>& arguments = {}) {
    known::ConfiguredServer server;
    server.client = client;
    server.name = name;
    server.argv = {"some-command"};
    server.command.key = key;
    server.command.arguments = arguments;
    server.file = "/home/me/.config/" + client;
    configurations_.servers.push_back(server);
  }

  Snapshot snapshot() const {
    std::vector<Process> list;
    for (const auto& [pid, process] : processes_) list.push_back(process);
    Snapshot result{
        ProcessTable(std::move(list), holdings_, 1'000'000, 100), {}, {}, {}, configurations_, 0, 1000, {}};
    result.sockets = socket_uses(result.processes, tcp_, &unix_sockets_);
    result.commands.insert(commands_.begin(), commands_.end());
    result.details.insert(details_.begin(), details_.end());
    result.attendances = attendances_;
    result.far_ends.insert(far_ends_.begin(), far_ends_.end());
    return result;
  }

  Survey judged() const { return judge(snapshot()); }

 private:
  void give_pipes(pid_t pid, pid_t number) {
    const auto inode = static_cast<std::uint64_t>(number) * 10;
    processes_.at(pid).streams[0] = {Stream::Kind::Pipe, inode};
    processes_.at(pid).streams[1] = {Stream::Kind::Pipe, inode + 1};
  }

  std::uint64_t new_socket(pid_t pid) {
    holdings_.push_back({++last_socket_, pid, 20, true, true, true});
    return last_socket_;
  }

  std::map<pid_t, Process> processes_;
  std::map<pid_t, known::ServerCommand> commands_;
  std::map<pid_t, Details> details_;
  std::map<pid_t, FarEnds> far_ends_;
  std::unordered_map<pid_t, Attendance> attendances_;
  known::Configurations configurations_;
  std::vector<Holding> holdings_;
  TcpSockets tcp_;
  UnixSockets unix_sockets_;
  std::uint64_t last_socket_ = 1'000'000'000;
};

/// The server at the top of which `pid` is; null if there is none.
inline const Server* server_at(const Survey& survey, pid_t pid) {
  for (const Server& server : survey.servers) {
    if (server.pid == pid) return &server;
  }
  return nullptr;
}

inline bool has_evidence(const Server& server, Evidence::Kind kind) {
  for (const Evidence& evidence : server.evidence) {
    if (evidence.kind == kind) return true;
  }
  return false;
}

}  // namespace corral::survey
