// How other processes can reach a process other than by its stdin and stdout: sockets on which it waits for
// connections, and connected Unix sockets. A server that is used this way is in use, no matter what happened
// to its pipes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "survey/listeners.h"
#include "survey/process_table.h"
#include "survey/unix_sockets.h"

namespace corral::survey {

/// A connected Unix socket that is not a standard stream of the process that has it.
struct UnixLink {
  std::uint64_t inode = 0;
  std::vector<pid_t> peers{};  // which have the other end; empty = a process that is not visible
  bool display = false;        // it leads to a display server: there may be a window
};

/// A connection to a TCP port on which the process waits.
struct TcpCall {
  std::uint16_t port = 0;
  std::vector<pid_t> callers{};  // which have the other end; empty = another machine, or not visible
};

struct SocketUse {
  std::string listens{};  // where it waits for connections: "TCP port 8080"; empty = nowhere
  std::vector<TcpCall> calls{};
  std::vector<UnixLink> links{};
};

using SocketUses = std::unordered_map<pid_t, SocketUse>;

/// Whether a process is in a different network namespace from this one: the kernel lists only the sockets of
/// this one.
using IsElsewhere = std::function<bool(pid_t)>;

/// Pure. `unix_sockets` is null where the kernel does not list them. Then, where the list of TCP sockets is
/// not complete, and for processes in another namespace, every socket that is in no list may be a way to
/// reach the process, and counts as a link to a process that is not visible.
SocketUses socket_uses(const ProcessTable& table, const TcpSockets& tcp, const UnixSockets* unix_sockets,
                       const IsElsewhere& is_elsewhere = {});

/// Services that any program may ask for something: D-Bus, the journal, user databases, container engines,
/// databases, keyrings, agents for keys, sound. A connection to one of them does not show which
/// process uses the program. `name` is the address of the service's socket, with '@' in front of an abstract
/// one.
bool is_common_service(std::string_view name);

/// Sockets on which a program waits only for copies of itself or for its own children: those of tsx and of
/// Chromium. Listening there does not show which process uses it.
bool is_for_itself(std::string_view name);

/// Where windows are shown: X11 or Wayland.
bool is_display(std::string_view name);

}  // namespace corral::survey
