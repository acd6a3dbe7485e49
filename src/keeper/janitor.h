// The process above the daemon. `corral serve` becomes it by exec, so it has the pid that a service manager
// knows. It starts the daemon, passes signals on, and outlives it only to see that nothing is left: keepers
// end their own trees, and what fell to us from killed keepers we end ourselves.
//
// It holds the single-instance lock together with the daemon, so a successor gets it only when the trees of
// its predecessor are gone.
#pragma once

namespace corral::keeper {

/// What a keeper is called, and its file.
inline constexpr const char* kKeeperName = "corral-keeper";
/// argv[0] of the janitor, and its name.
inline constexpr const char* kJanitorName = "corral-janitor";
/// The word before the two descriptors, the lock's and the life line's, at the end of the daemon's arguments.
inline constexpr const char* kUnderJanitor = "@janitor";

/// corral-janitor RUNTIME_DIR LOCK_FD CORRAL serve [OPTION...]; returns the exit code of the daemon.
int run_janitor(int argc, char** argv);

}  // namespace corral::keeper
