// The daemon as a process: its signals, its socket, its pid file, what it tells the service manager, and how
// it ends. The hub does the work for clients. One thread.
#pragma once

#include "base/unique_fd.h"
#include "serve/service.h"

namespace corral::serve {

/// `lifeline` ends when the janitor does. Returns the exit code.
int run_daemon(const ServeOptions& options, UniqueFd lock, UniqueFd lifeline);

}  // namespace corral::serve
