// `corral run --cleanup`: ends other copies of the server that is about to start, whichever client started
// them, so that the N newest remain, including the new one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "reap/end_trees.h"
#include "survey/protection.h"
#include "survey/survey.h"

namespace corral::reap {

/// The servers of a survey that run the same program (executable and script, or package) for the same job, as
/// `doctor` shows them; oldest first, as indexes into Survey::servers. Includes only servers with pipes: one
/// on a terminal or with its own socket is not a copy of a server over pipes.
std::vector<std::size_t> copies_of(const survey::Survey& survey, const known::ServerCommand& command,
                                   uid_t uid);

struct Copies {
  std::size_t found = 0;
  std::vector<std::size_t> end;  // oldest first
};

/// Chooses the oldest ones, so that the new server is at most the N-th. Servers that must not be ended count
/// and stay: one below a running `corral run` ends with its own session. No newer one is ended in their
/// place. Pure.
Copies choose_copies(const survey::Survey& survey, const known::ServerCommand& command, std::size_t keep,
                     const survey::Asker& asker);

struct Cleanup {
  std::size_t found = 0;
  std::vector<survey::Server> chosen;
  std::vector<EndedTree> ended;
};

/// Surveys the machine and ends the copies. Blocking; bounded by the graces of end_trees.
Result<Cleanup> clean_up_copies(const std::vector<std::string>& argv, const std::string& directory,
                                const std::string& path, std::size_t keep);

}  // namespace corral::reap
