// Running clients that keep their configuration in memory and write the whole file again: what corral changes
// in the file while they run may be lost.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "adopt/client_file.h"

namespace corral::cli {

struct RunningWriter {
  std::string client;  // "Claude Code"
  pid_t pid = 0;
  std::string file;  // that it writes
};

/// Looks only if one of the files is of such a client. A process that has another home directory writes other
/// files; one whose environment cannot be read counts. Takes a few hundred milliseconds.
std::vector<RunningWriter> running_writers(const std::vector<adopt::ClientFile>& files);

}  // namespace corral::cli
