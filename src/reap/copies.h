// `corral run --cleanup`: copies of the server that is about to start, whoever started them, down to the N
// newest with the new one among them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "reap/end_trees.h"
#include "survey/snapshot.h"
#include "survey/survey.h"

namespace corral::reap {

/// Processes of the same user that run the same program (executable and script, or package), one per tree,
/// oldest first. Not those on a terminal, where a person uses them.
std::vector<survey::Server> copies_of(const survey::Snapshot& snapshot, const survey::ServerCommand& command,
                                      uid_t uid);

struct Cleanup {
  std::size_t found = 0;
  std::vector<survey::Server> chosen;
  std::vector<EndedTree> ended;
};

/// Ends the oldest so that the new one is the N-th at most. Those below a living `corral run` count, and
/// stay: they end with their own session.
Result<Cleanup> clean_up_copies(const std::vector<std::string>& argv, const std::string& directory,
                                const std::string& path, std::size_t keep);

}  // namespace corral::reap
