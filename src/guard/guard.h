// `corral guard`: wraps the client, not the server. The client keeps its terminal, job control, signals and
// exit code; when it is gone, everything that it started is ended and named.
#pragma once

#include <string>
#include <vector>

#include "guard/leftovers.h"

namespace corral::guard {

struct GuardOptions {
  std::vector<std::string> client;  // the command, at least one word
  std::vector<std::string> keep;    // shell patterns
  Graces graces;
  int report = -1;  // where the line of JSON goes
  bool fail_on_leak = false;
  bool verbose = false;
};

inline constexpr int kLeaked = 120;
inline constexpr int kOwnFailure = 125;
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

/// Runs the client to its end and returns the exit code. Does not return if a signal ended the client: then
/// the same one ends us. Call it once, early, from a single thread.
int guard_client(const GuardOptions& options);

/// `corral guard: …` on standard error.
void say(const std::string& sentence);

}  // namespace corral::guard
