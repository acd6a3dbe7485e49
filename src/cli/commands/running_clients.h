// Running clients that keep their configuration in memory and write the whole file again: what corral changes
// in the file while they run may be lost.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "adopt/client_file.h"
#include "adopt/drift.h"

namespace corral::cli {

struct RunningWriter {
  std::string client;       // "Claude Code"
  std::vector<pid_t> pids;  // a launcher is one of them
  std::string file;         // that it writes
};

/// Looks only if one of the files is of such a client. A process that has another home directory writes other
/// files; one whose environment cannot be read counts. Takes a few hundred milliseconds.
std::vector<RunningWriter> running_writers(const std::vector<adopt::ClientFile>& files);

/// Gives them three seconds, looks at their files again, and says which changes they have undone or may undo.
/// `is_undone` tells that of a row of the ledger. One sentence or two for each of them; none if there are no
/// writers.
std::vector<std::string> warnings_about(
    const std::vector<RunningWriter>& writers, const std::string& state_directory,
    const std::function<bool(const adopt::LedgerRow&, adopt::Standing)>& is_undone);

}  // namespace corral::cli
