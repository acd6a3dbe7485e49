// The process above the daemon. `corral serve` becomes the janitor by exec, so it has the pid that a service
// manager knows. It starts the daemon, forwards signals, and outlives it only to make sure that nothing is
// left: keepers end their own trees, and the janitor ends processes that it inherited from killed keepers.
//
// The janitor and the daemon share the single-instance lock, so a successor gets it only when the trees of
// its predecessor are gone.
#pragma once

namespace corral::keeper {

/// The name of a keeper process and of its executable file.
inline constexpr const char* kKeeperName = "corral-keeper";
/// argv[0] and process name of the janitor.
inline constexpr const char* kJanitorName = "corral-janitor";
/// The argument before the two descriptors (the lock and the lifeline) at the end of the daemon's arguments.
inline constexpr const char* kUnderJanitor = "@janitor";

/// corral-janitor RUNTIME_DIR LOCK_FD CORRAL serve [OPTION...]; returns the exit code of the daemon.
int run_janitor(int argc, char** argv);

}  // namespace corral::keeper
