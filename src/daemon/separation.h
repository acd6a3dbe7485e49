// Why two shared instances of one name are two processes, and what would make them one. For people: names,
// never values. Pure; called on the loop's thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "pool/server_spec.h"

namespace corral::daemon {

inline constexpr std::size_t kMostDifferences = 64;  // in `Separation::differs`

struct Separation {
  std::vector<std::string> differs;  // "PATH", "the directory", "the project"
  bool credential = false;           // one of them is, or looks like, a credential
  std::string
      hint;  // what to write so that they are one process, or why nothing helps; empty = nothing to say
};

/// What makes two servers of these. `differs` is empty if and only if their keys are equal.
Separation separation_of(const pool::ServerSpec& one, const pool::ServerSpec& other);

/// The hint of a private server ("to share it: … --share shared -- COMMAND"), with what must be ignored so
/// that it and another private one become one process. As it is if nothing must be, or if that would not
/// help.
std::string hint_for_both(const std::string& hint, const pool::ServerSpec& one,
                          const pool::ServerSpec& other);

/// "separate from process 1040: PATH and EDITOR differ". Empty if nothing differs.
std::string show_separation(const std::vector<std::string>& differs, pid_t other);

}  // namespace corral::daemon
