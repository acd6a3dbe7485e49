// `corral run --cleanup`: copies of the server that is about to start, whoever started them, down to the N
// newest with the new one among them.
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
/// `doctor` shows them; oldest first. Only those with pipes: one on a terminal, or with a socket of its own,
/// is not a copy of a server over pipes. As indexes into Survey::servers.
std::vector<std::size_t> copies_of(const survey::Survey& survey, const survey::ServerCommand& command,
                                   uid_t uid);

struct Copies {
  std::size_t found = 0;
  std::vector<std::size_t> end;  // oldest first
};

/// The oldest, so that a new one is the N-th at most. Those that must not be ended count, and stay: one below
/// a living `corral run` ends with its own session. No newer one is ended in their place. Pure.
Copies choose_copies(const survey::Survey& survey, const survey::ServerCommand& command, std::size_t keep,
                     const survey::Asker& asker);

struct Cleanup {
  std::size_t found = 0;
  std::vector<survey::Server> chosen;
  std::vector<EndedTree> ended;
};

Result<Cleanup> clean_up_copies(const std::vector<std::string>& argv, const std::string& directory,
                                const std::string& path, std::size_t keep);

}  // namespace corral::reap
