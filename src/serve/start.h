// The two processes of `corral serve`. The first finds the runtime folder, takes the lock and becomes the
// janitor by exec, or ends because a daemon is already running. The second is the daemon, which the janitor
// starts: its signals, its sockets, its pid file, what it tells the service manager, and how it ends. The hub
// does the work for clients.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/service.h"

namespace corral::serve {

/// Returns only on an error, or if a daemon runs already.
int start(const ServeOptions& options);

/// Starts `corral serve` detached, waits until it answers and says where.
int start_in_background(const ServeOptions& options);

/// The daemon, on one thread. `lock` is the lock of the runtime folder, shared with the janitor; `lifeline`
/// is readable when the janitor has ended. Returns the exit code when the daemon has ended.
int run_daemon(const ServeOptions& options, UniqueFd lock, UniqueFd lifeline);

/// Tells the person at the terminal why there is no daemon; returns the exit code.
int fail_to_serve(const std::string& sentence);

/// The first of the places that can be used. If none can, the error gives the reason for each.
Result<std::string> choose_runtime_dir(const std::vector<std::string>& places);

}  // namespace corral::serve
