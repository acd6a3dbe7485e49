// Sockets that a service manager opened for us, as sd_listen_fds(3) describes it. By hand: it is two
// variables, and not worth a library.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::serve {

/// How many descriptors, from 3 on, are meant for the process `self`; 0 if the variables (null = not set)
/// make no sense or mean somebody else.
int passed_count(const char* listen_pid, const char* listen_fds, pid_t self);

/// The same for this process.
int passed_to_us();

/// What of them is of use. Which is which is told by what they are, not by their names: the first of each
/// kind.
struct PassedSockets {
  UniqueFd local;  // where shims and commands meet us
  UniqueFd tcp;    // for clients by HTTP
};

/// Invalid what was not passed. The others are closed, and the variables are gone afterwards: nobody below us
/// may take them for his own.
Result<PassedSockets> take_passed_sockets();

}  // namespace corral::serve
