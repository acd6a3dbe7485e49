// `corral guard`: wraps the client, not the server. The client keeps its terminal, job control, signals and
// exit code. When it exits, guard ends everything that it started and lists it.
#pragma once

#include <string>
#include <vector>

#include "guard/leftovers.h"

namespace corral::guard {

struct GuardOptions {
  std::vector<std::string> client;  // the command line, not empty
  std::vector<std::string> keep;    // shell patterns
  Graces graces;
  int report = -1;  // descriptor for the line of JSON; -1 = none
  bool fail_on_leak = false;
  bool verbose = false;
};

// Exit codes of guard itself. The client's own exit code is passed on otherwise.
inline constexpr int kLeaked = 120;
inline constexpr int kOwnFailure = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

/// Runs the client to its end and returns the exit code. If a signal ended the client, guard ends itself with
/// the same signal and this does not return. Call once, early, from a single thread.
int guard_client(const GuardOptions& options);

/// Writes "corral guard: SENTENCE" to standard error.
void say(const std::string& sentence);

}  // namespace corral::guard
