// Writes a plan the way the keeper reads it (keeper/plan.h).
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

/// Sizes and counts in `header` are filled in here.
std::vector<char> plan_bytes(keeper::PlanHeader header, const PlanStrings& strings);

/// The plan as a keeper sees it, for whoever must finish its work. It points into both vectors.
keeper::Plan read_plan(const std::vector<char>& bytes, std::vector<char*>& pointers);

/// A memory file that nobody can change any more.
Result<UniqueFd> seal(const std::vector<char>& bytes);

}  // namespace corral::proc
