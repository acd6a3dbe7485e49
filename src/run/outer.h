// `corral run`: the process that a client starts as its server. It holds no pipe and copies no data. It
// watches for signals and for the death of its client, tells the keeper, relays the exit code, and cleans up
// itself if the keeper is killed.
#pragma once

#include <sys/types.h>

#include "proc/launch_spec.h"
#include "proc/process_tree.h"
#include "proc/spawner.h"

namespace corral::run {

struct OuterOptions {
  bool detached = false;  // the session outlives the client
  bool verbose = false;
};

// Exit codes for failures of corral itself and of exec, as in env(1).
inline constexpr int kOwnFailure = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

/// Runs one session from start to end and returns the exit code. Call it once, early, from a single thread.
int run_session(proc::Spawner& spawner, const proc::LaunchSpec& spec, const OuterOptions& options);

/// Writes "corral run: SENTENCE" to standard error. Never blocks for long.
void say(const std::string& sentence);

/// The exit code for a start that failed.
int exit_code_of(const Error& error);

}  // namespace corral::run
