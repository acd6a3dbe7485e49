// What is wrong on this machine, in groups about which a person can decide, with the cause and the command
// that helps. Pure; `doctor`, `watch` and the control server show the result.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "survey/survey.h"

namespace corral::survey {

/// Two servers run the same command if their keys are equal: program and arguments. Not for showing.
std::string command_key(const Server& server);

/// The name of a server in a sentence. Printable.
std::string title_of(const Server& server);

struct Finding {
  enum class Kind : std::uint8_t { Orphan, PileUp, Duplicate, Stale, Runaway, Unattended };

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
