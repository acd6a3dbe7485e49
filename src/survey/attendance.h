// Whether anybody uses a background process of a client. Some clients hand a session to such a process: it
// keeps the pipes of the servers when the user has quit the interface, and no pipe closes. The kernel shows
// who is connected to the sockets on which it waits for an interface.
//
// Only evidence counts: what cannot be read, or is in doubt, is never "unattended".
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "known/known_programs.h"
#include "survey/listeners.h"
#include "survey/process_table.h"
#include "survey/unix_sockets.h"

namespace corral::survey {

enum class Attendance : std::uint8_t {
  Unknown,     // it cannot be seen, or it waits for nobody
  Attended,    // an interface is connected, or is about to be
  Unattended,  // it waits for an interface, and none is connected
};

/// Whether the process is the kind that keeps servers in the background.
bool is_background(const known::KnownClient& client, const Process& process);

/// Pure. `unix_sockets` is null where the kernel does not list them. One peer is enough, whichever it is: the
/// interface of another session counts as well, because nothing shows to which session it belongs.
Attendance attendance(const ProcessTable& table, const Process& process, const TcpSockets& tcp,
                      const UnixSockets* unix_sockets);

/// The background process that a process is, or that has started it through a wrapper.
struct Background {
  std::string client;  // "Codex"; empty = there is none
  pid_t pid = 0;
  Attendance attendance = Attendance::Unknown;

  bool operator==(const Background&) const = default;
};

/// One for each pid, in their order. Reads a few files of each process, and the lists of sockets only if one
/// of them is a background process. Not for the daemon's loop.
std::vector<Background> read_backgrounds(const std::vector<pid_t>& pids);

}  // namespace corral::survey
