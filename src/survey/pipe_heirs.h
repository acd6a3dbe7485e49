// Which process goes on with a session whose starter has exited. Some clients start their servers by a
// launcher that dies first, and the real client holds the pipes. A sibling that only inherited the ends of
// the pipes is not a client: then the session is over, although the pipes are open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "survey/process_table.h"
#include "survey/unix_sockets.h"

namespace corral::survey {

/// What a server, or the daemon in its place, has of the two pipes of a client; both may be Unix sockets.
struct PipeEnds {
  std::uint64_t input = 0;   // inode of the end that it reads from
  std::uint64_t output = 0;  // inode of the end that it writes to
};

/// The known clients of this user that can write to the input and read from the output, by pid. Pure, but for
/// the files that the command lines name. `unix_sockets` is null where the kernel does not list them.
std::vector<pid_t> clients_at(const ProcessTable& table, const PipeEnds& ends,
                              const UnixSockets* unix_sockets, uid_t user);

/// A pidfd of the client that holds the other ends of both; invalid if there is none, or more than one. One
/// for each pair, in their order. Reads all of /proc once: not for the daemon's loop.
std::vector<UniqueFd> find_heirs(const std::vector<PipeEnds>& sessions);

}  // namespace corral::survey
