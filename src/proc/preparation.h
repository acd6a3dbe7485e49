// Everything that is settled before a keeper exists: which file to execute, which cgroup, who holds which
// limit, what runs afterwards. What cannot be had is found out here, where it can still be an error.
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
  std::string scratch;                 // a folder of ours, empty = none
  std::vector<std::string> container;  // what its removal needs to know; empty = there is none
};

Result<Preparation> prepare(const LaunchSpec& spec, const std::string& instance);

/// Takes back what `prepare` made, if no keeper came to own it.
void abandon(const Preparation& preparation);

}  // namespace corral::proc
