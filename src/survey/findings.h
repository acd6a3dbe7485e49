// What is wrong on this machine, in groups that a person can decide about.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "survey/survey.h"

namespace corral::survey {

/// How many copies of one command a client may hold (S1.1). The same number everywhere.
inline constexpr std::size_t kDefaultKeep = 9;

/// N for servers that are in use. A configuration or environment that says 0 means that no idle instance
/// stays in the daemon; of servers that a client uses at least one stays. Only `--keep 0`, typed, means all.
std::size_t keep_in_use(std::size_t configured);

/// From MAX_KEEP_PROCESSES, else the default. A value that is no number is an error.
Result<std::size_t> keep_from_environment();
/// The same, and the default also for a value that is no number.
std::size_t usual_keep();

/// Two servers run the same command if this is the same: program and arguments.
std::string command_key(const Server& server);

/// What to call a server in a sentence.
std::string title_of(const Server& server);

struct Finding {
  enum class Kind : std::uint8_t { Orphan, PileUp, Duplicate, Stale, Runaway };

  Kind kind;
  std::vector<std::size_t> servers;  // indexes into Survey::servers, oldest first
  std::string title;                 // "12 orphans of @x/files, left by Codex"
  std::string explanation;           // why this happens, as far as it is known
  std::string next;                  // the command to type; empty = nothing to do
};

const char* name_of(Finding::Kind kind);

/// Pure. `keep` is N.
std::vector<Finding> find(const Survey& survey, std::size_t keep);

}  // namespace corral::survey
