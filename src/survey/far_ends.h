// The other end of a server's stdin and stdout: whether it is open, and which processes have it. A server
// whose pipes no other process has is an orphan, no matter what its parent is. A server whose pipes another
// process has is not, even below process 1.
//
// The only question that corral asks the kernel about another process by opening something; nothing is read
// from the pipe or written to it.
#pragma once

#include <cstdint>
#include <vector>

#include "survey/process_table.h"
#include "survey/unix_sockets.h"

namespace corral::survey {

struct FarEnd {
  enum class State : std::uint8_t { Unknown, Open, Closed };

  State state = State::Unknown;  // from the kernel, which also counts holders that are not visible
  std::vector<pid_t> holders;    // the visible ones, without the process itself; sorted, each once
};

/// For descriptor 0 (which processes can write to it) or 1 (which can read from it). A pipe is opened again
/// through /proc and polled (POLLHUP, POLLERR) without touching its content; a socket is looked up in
/// `sockets`.
FarEnd far_end(const ProcessTable& table, const UnixSockets& sockets, const Process& process, int fd);

}  // namespace corral::survey
