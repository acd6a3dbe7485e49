// Writes a plan in the format that the keeper reads (keeper/plan.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "keeper/plan.h"

namespace corral::proc {

struct Terminator {
  keeper::TerminatorKind kind;
  std::vector<std::string> argv;
};

struct PlanStrings {
  std::string executable;
  std::string directory;
  std::string cgroup;
  std::vector<std::string> argv;
  std::vector<Terminator> terminators;  // kTerminators at most
};

/// Serialises a plan. Fills in the sizes and counts of `header`.
std::vector<char> plan_bytes(keeper::PlanHeader header, const PlanStrings& strings);

/// The plan as a keeper sees it, for a caller that has to finish the work of a killed keeper. It points into
/// both vectors.
keeper::Plan read_plan(const std::vector<char>& bytes, std::vector<char*>& pointers);

/// Writes the bytes to a memory file that can no longer be changed.
Result<UniqueFd> seal(const std::vector<char>& bytes);

}  // namespace corral::proc
