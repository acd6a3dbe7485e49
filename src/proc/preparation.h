// Everything that is decided before a keeper exists: which file to execute, which cgroup, which mechanism
// enforces each limit, what runs afterwards. Whatever is not available is detected here, where it can still
// be reported as an error.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "keeper/plan.h"
#include "proc/launch_spec.h"
#include "proc/plan_bytes.h"

namespace corral::proc {

struct Preparation {
  keeper::PlanHeader header;
  PlanStrings strings;
  std::vector<std::string> warnings;
  std::string scratch;                 // a directory that we created; empty = none
  std::vector<std::string> container;  // what the removal of the container needs; empty = no container
};

/// May create a cgroup and a directory; the caller passes them to a keeper or calls `abandon`.
Result<Preparation> prepare(const LaunchSpec& spec, const std::string& instance);

/// Removes what `prepare` created, if no keeper has taken it over.
void abandon(const Preparation& preparation);

}  // namespace corral::proc
