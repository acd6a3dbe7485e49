// The two processes of `corral serve`. The first finds the runtime directory, takes the lock and becomes the
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

/// Returns the exit code, but only on an error or if a daemon is already running: otherwise it becomes the
/// janitor.
int start(const ServeOptions& options);

/// Starts `corral serve` detached, waits until it answers and prints its address. Returns the exit code.
int start_in_background(const ServeOptions& options);

/// The daemon, on one thread. `lock` is the lock of the runtime directory, shared with the janitor;
/// `lifeline` is readable when the janitor has ended. Returns the exit code when the daemon has ended.
int run_daemon(const ServeOptions& options, UniqueFd lock, UniqueFd lifeline);

/// Prints why there is no daemon, and returns the exit code.
int fail_to_serve(const std::string& sentence);

/// The processes of the daemon put this in the place of descriptors that they give up. Without it the next
/// file that they open would get such a number, and nothing that follows would be what it seems.
Result<void> check_null_device(const std::string& path = "/dev/null");

/// The first directory that can be used. If none can, the error gives the reason for each.
Result<std::string> choose_runtime_dir(const std::vector<std::string>& places);

}  // namespace corral::serve
