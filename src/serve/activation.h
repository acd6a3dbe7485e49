// Sockets that a service manager opened for the daemon, as sd_listen_fds(3) describes. The protocol is two
// variables, so no library is used.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

/// How many descriptors, from 3 on, are meant for the process `self`; 0 if the variables (null = not set)
/// make no sense or are meant for another process.
int passed_count(const char* listen_pid, const char* listen_fds, pid_t self);

/// The same for this process.
int passed_to_us();

/// The usable ones: the first of each kind. The kind of the socket decides, not the name that the manager
/// gave it.
struct PassedSockets {
  UniqueFd local;  // for shims and commands
  UniqueFd tcp;    // for HTTP
};

/// A member that was not passed is invalid. Other sockets are closed, and the variables are removed, so that
/// no child process uses them. Call once, before any other descriptor could get one of these numbers.
Result<PassedSockets> take_passed_sockets();

}  // namespace corral::serve
