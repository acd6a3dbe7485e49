// Sockets that a service manager opened for us, as sd_listen_fds(3) describes it. By hand: it is two
// variables, and not worth a library.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace corral::app {

/// How many descriptors, from 3 on, are meant for the process `self`; 0 if the variables (null = not set)
/// make no sense or mean somebody else.
int passed_count(const char* listen_pid, const char* listen_fds, pid_t self);

/// The same for this process.
int passed_to_us();

/// The first listening local socket among them; invalid if nothing was passed. The others are closed, and the
/// variables are gone afterwards: nobody below us may take them for his own.
Result<UniqueFd> take_passed_socket();

}  // namespace corral::app
