// Sockets that a service manager opened for us, as sd_listen_fds(3) describes it. By hand: it is two
// variables, and not worth a library.
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

/// The ones that we can use: the first of each kind, told apart by what they are and not by their names.
struct PassedSockets {
  UniqueFd local;  // for shims and commands
  UniqueFd tcp;    // for clients by HTTP
};

/// What was not passed is invalid. Sockets that we cannot use are closed, and the variables are removed, so
/// that no process below us takes them for its own.
Result<PassedSockets> take_passed_sockets();

}  // namespace corral::serve
