// Which containment levels this machine supports, found out by trying them.
#pragma once

#include <string>

#include "keeper/lifeline.h"

namespace corral::proc {

struct Levels {
  bool cgroup = false;         // `auto` gives each server its own cgroup
  bool controllers = false;    // its memory, pids and cpu controllers can enforce limits
  bool strict = false;         // a PID namespace with its own /proc works
  std::string why_not_strict;  // cause and remedy; empty if it works
};

/// Creates a cgroup and a namespace and removes them again. Blocks for as long as that takes.
Levels probe_levels();

/// Why the kernel refused a step towards a PID namespace, and what would allow it.
std::string why_no_namespace(keeper::Stage stage, int error);

}  // namespace corral::proc
