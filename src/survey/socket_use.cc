#include "survey/socket_use.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"

namespace corral::survey {
namespace {

bool is_standard_stream(const ProcessTable& table, const Holding& holding) {
  const Process* process = table.find(holding.pid);
  if (process == nullptr) return false;
  return std::any_of(process->streams.begin(), process->streams.end(), [&](const Stream& stream) {
    return stream.kind == Stream::Kind::Socket && stream.inode == holding.inode;
  });
}

/// "/run/user/1000/bus": "/bus"; empty if the name is another one.
std::string_view in_runtime_dir(std::string_view name) {
  constexpr std::string_view kUsers = "/run/user/";
  if (!name.starts_with(kUsers)) return {};
  name.remove_prefix(kUsers.size());
  name.remove_prefix(std::min(name.find('/'), name.size()));
  return name;
}

class Reader {
 public:
  explicit Reader(const ProcessTable& table) : table_(table) {}

  SocketUses take() { return std::move(uses_); }

  void listens(std::uint64_t inode, const std::string& where) {
    for (const Holding& holding : table_.holders(inode)) {
      SocketUse& use = uses_[holding.pid];
      if (use.listens.empty()) use.listens = where;
    }
  }

  /// `caller` is the socket at the other end; 0 = it is not on this machine.
  void called(std::uint64_t inode, std::uint16_t port, std::uint64_t caller) {
    std::vector<pid_t> callers;
    if (caller != 0) callers = holders(caller);
    for (const pid_t pid : holders(inode)) uses_[pid].calls.push_back({port, callers});
  }

  void connected(std::uint64_t inode, std::uint64_t peer, std::string_view peer_name) {
    if (is_common_service(peer_name)) return;
    std::vector<pid_t> peers = holders(peer);
    bool only_streams = true;
    for (const Holding& holding : table_.holders(peer)) only_streams &= is_standard_stream(table_, holding);
    // This end belongs to the parent of a child that has a socket pair as its stdin and stdout.
    if (!peers.empty() && only_streams) return;
    add_link({inode, std::move(peers), is_display(peer_name)});
  }

  void add_link(const UnixLink& link) {
    for (const Holding& holding : table_.holders(link.inode)) {
      if (is_standard_stream(table_, holding)) continue;
      std::vector<UnixLink>& links = uses_[holding.pid].links;
      if (links.empty() || links.back().inode != link.inode) links.push_back(link);
    }
  }

 private:
  std::vector<pid_t> holders(std::uint64_t inode) const {
    std::vector<pid_t> pids;
    for (const Holding& holding : table_.holders(inode)) {
      if (pids.empty() || pids.back() != holding.pid) pids.push_back(holding.pid);
    }
    return pids;
  }

  const ProcessTable& table_;
  SocketUses uses_;
};

void read_tcp(const TcpSockets& tcp, Reader& reader) {
  std::unordered_multimap<std::uint16_t, std::uint64_t> listening;  // port -> inode
  for (const ListeningSocket& socket : tcp.listening) {
    listening.emplace(socket.port, socket.inode);
    reader.listens(socket.inode, "TCP port " + std::to_string(socket.port));
  }
  std::unordered_map<std::string, std::uint64_t> ends;  // both addresses -> inode
  for (const TcpConnection& end : tcp.connections) ends[end.local + ' ' + end.remote] = end.inode;
  for (const TcpConnection& end : tcp.connections) {
    const auto [first, last] = listening.equal_range(end.port);
    if (first == last) continue;
    const auto caller = ends.find(end.remote + ' ' + end.local);
    for (auto it = first; it != last; ++it) {
      reader.called(it->second, end.port, caller == ends.end() ? 0 : caller->second);
    }
  }
}

/// Where a list is missing, every socket that is in no other list may be a way to reach the process.
void add_unexplained(const ProcessTable& table, const TcpSockets& tcp, const UnixSockets* unix_sockets,
                     const IsElsewhere& lacks_a_list, Reader& reader) {
  std::unordered_set<std::uint64_t> known(tcp.inodes.begin(), tcp.inodes.end());
  if (unix_sockets != nullptr) {
    for (const auto& [inode, socket] : *unix_sockets) known.insert(inode);
  }
  std::unordered_map<pid_t, bool> lacks;
  for (const Holding& holding : table.holdings()) {
    if (!holding.socket || known.contains(holding.inode)) continue;
    const auto [seen, first] = lacks.try_emplace(holding.pid, false);
    if (first) seen->second = lacks_a_list(holding.pid);
    if (!seen->second) continue;
    known.insert(holding.inode);
    reader.add_link({holding.inode, {}, false});
  }
}

}  // namespace

bool is_common_service(std::string_view name) {
  constexpr std::string_view kBeginnings[] = {"/run/dbus/",        "/var/run/dbus/", "/run/systemd/",
                                              "/var/run/systemd/", "/dev/log",       "/var/lib/sss/pipes/",
                                              "/run/nscd/",        "/var/run/nscd/", "/tmp/dbus-",
                                              "@/tmp/dbus-",       "/tmp/pulse-"};
  constexpr std::string_view kEnds[] = {"/docker.sock",  "/podman.sock", "/containerd.sock",
                                        "/mysqld.sock",  "/mysqlx.sock", "/mysql.sock",
                                        "/mariadb.sock", "/redis.sock",  "/redis-server.sock"};
  constexpr std::string_view kParts[] = {"/.s.PGSQL.", "/.gnupg/S.", "/.ssh/agent/", "/.cache/keyring-"};
  constexpr std::string_view kOfTheUser[] = {"/systemd/",  "/at-spi/bus",    "/keyring/",
                                             "/gnupg/",    "/gcr/ssh",       "/pulse/",
                                             "/pipewire-", "/openssh_agent", "/ssh-agent"};
  const auto begins = [&name](std::string_view beginning) { return name.starts_with(beginning); };
  const auto ends = [&name](std::string_view end) { return name.ends_with(end); };
  const auto has = [&name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (std::any_of(std::begin(kBeginnings), std::end(kBeginnings), begins)) return true;
  if (std::any_of(std::begin(kEnds), std::end(kEnds), ends)) return true;
  if (std::any_of(std::begin(kParts), std::end(kParts), has)) return true;
  if (begins("/tmp/ssh-") && has("/agent.")) return true;
  name = in_runtime_dir(name);
  if (name == "/bus") return true;
  return std::any_of(std::begin(kOfTheUser), std::end(kOfTheUser), begins);
}

bool is_for_itself(std::string_view name) {
  if (name.ends_with("/SingletonSocket") || name.starts_with("/tmp/.org.chromium.")) return true;
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || !name.ends_with(".pipe")) return false;
  const std::string_view folder = name.substr(0, slash);
  return folder.substr(folder.rfind('/') + 1).starts_with("tsx-");
}

bool is_display(std::string_view name) {
  if (in_runtime_dir(name).starts_with("/wayland-")) return true;
  if (name.starts_with('@')) name.remove_prefix(1);
  return name.starts_with("/tmp/.X11-unix/");
}

SocketUses socket_uses(const ProcessTable& table, const TcpSockets& tcp, const UnixSockets* unix_sockets,
                       const IsElsewhere& is_elsewhere) {
  Reader reader(table);
  read_tcp(tcp, reader);
  if (unix_sockets == nullptr || !tcp.complete) {
    add_unexplained(
        table, tcp, unix_sockets, [](pid_t) { return true; }, reader);
  } else if (is_elsewhere) {
    add_unexplained(table, tcp, unix_sockets, is_elsewhere, reader);
  }
  if (unix_sockets == nullptr) return reader.take();
  for (const auto& [inode, socket] : *unix_sockets) {
    if (socket.listens && is_for_itself(socket.name))
      continue;  // a process that is connected there still counts
    if (socket.listens) {
      reader.listens(inode,
                     socket.name.empty() ? "a Unix socket" : "the Unix socket " + printable(socket.name));
    } else if (socket.peer != 0) {
      const auto peer = unix_sockets->find(socket.peer);
      reader.connected(inode, socket.peer, peer == unix_sockets->end() ? "" : peer->second.name);
    }
  }
  return reader.take();
}

}  // namespace corral::survey
