// How firmly a tree can be held on this machine, found out by trying.
#pragma once

#include <string>

#include "keeper/lifeline.h"

namespace corral::proc {

struct Levels {
  bool cgroup = false;         // auto puts a server into a cgroup of its own
  bool controllers = false;    // … whose memory, pids and cpu controllers can hold limits
  bool strict = false;         // a PID namespace with a /proc of its own
  std::string why_not_strict;  // cause and remedy; empty if it works
};

/// Makes a cgroup and a namespace, and takes them away again.
Levels probe_levels();

/// Why a step towards a PID namespace was refused, and what would allow it.
std::string why_no_namespace(keeper::Stage stage, int error);

}  // namespace corral::proc
