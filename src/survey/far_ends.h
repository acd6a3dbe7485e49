// The other end of a server's stdin and stdout: is it open, and who has it. A server that nobody can ever
// speak to again is an orphan, whoever its parent is; one that somebody holds is not, even below process 1.
#pragma once

#include <cstdint>
#include <vector>

#include "survey/process_table.h"
#include "survey/unix_sockets.h"

namespace corral::survey {

struct FarEnd {
  enum class State : std::uint8_t { Unknown, Open, Closed };

  State state = State::Unknown;  // the kernel's word, which also counts holders that we cannot see
  std::vector<pid_t> holders;    // those that we can see, without the process itself; sorted, no repeats
};

/// Of descriptor 0 (who can write to it) or 1 (who can read from it). A pipe is opened anew through /proc and
/// asked (POLLHUP, POLLERR), without touching what is in it; a socket is looked up in `sockets`.
FarEnd far_end(const ProcessTable& table, const UnixSockets& sockets, const Process& process, int fd);

}  // namespace corral::survey
