// The process that a client started as its server: `corral run`. It holds no pipe and copies no byte. It
// listens to signals and to the life of its client, tells the keeper, relays the exit code, and cleans up
// itself should the keeper be killed.
#pragma once

#include <sys/types.h>

#include "proc/launch_spec.h"
#include "proc/process_tree.h"
#include "proc/spawner.h"

namespace corral::run {

struct OuterOptions {
  bool detached = false;  // the death of the client is not the end
  bool verbose = false;
};

inline constexpr int kOwnFailure = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

/// Runs one session from start to end and returns the exit code. Call it once, early, from a single thread.
int run_session(proc::Spawner& spawner, const proc::LaunchSpec& spec, const OuterOptions& options);

/// `corral run: …` on standard error.
void say(const std::string& sentence);

int exit_code_of(const Error& error);

}  // namespace corral::run
