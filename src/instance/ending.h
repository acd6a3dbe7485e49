// How an instance ended, for the sessions that lose it and for the log. Pure: what the keeper reported
// becomes sentences and exit codes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "instance/keeper_watch.h"
#include "keeper/lifeline.h"

namespace corral::instance {

/// A process that could not be ended.
struct Survivor {
  pid_t pid = 0;
  std::string command;
  std::string cause;  // "permission", …
};

struct TreeEnd {
  std::string sentence;      // completes "the server …": "exited with code 3", "could not be started: …"
  std::string error_output;  // the last lines of its stderr
  int exit_code = 0;         // of the server, as a shell would report it
  bool proved_empty = false;
  bool keeper_lost = false;  // its processes are children of this process now
  std::uint32_t ended_processes = 0;
  std::vector<Survivor> survivors;
};

/// The exit code for a server that could not be started, as a shell would report it.
int exit_code_of(const Error& error);

/// From the last event of the keeper: the end of the tree, or the failure to start it. `executable` and
/// `directory` are those of the launch. `error_output` stays empty.
TreeEnd ending_of(const keeper::Event& event, const std::string& executable, const std::string& directory);
/// The same for a keeper that reported nothing, because it was killed.
TreeEnd ending_without_keeper(KeeperWatch::Loss loss);

}  // namespace corral::instance
