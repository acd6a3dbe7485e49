// A cgroup v2 directory for one instance: one write kills everything in it, and the available controllers can
// enforce limits. The keeper moves the server into it and removes the directory at the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "keeper/report.h"
#include "proc/launch_spec.h"

namespace corral::proc {

/// Which mechanism enforces which limit.
struct Enforcement {
  keeper::Enforcer memory = keeper::Enforcer::None;
  keeper::Enforcer processes = keeper::Enforcer::None;
  keeper::Enforcer cpu = keeper::Enforcer::None;
};

/// The cgroup directory of this process in the unified hierarchy, from the texts of /proc/self/mountinfo and
/// /proc/self/cgroup.
std::optional<std::string> own_cgroup(std::string_view mountinfo, std::string_view cgroup);

/// Creates a directory for the instance below our own cgroup. Empty if there is no cgroup v2 or we may not
/// write to it. The caller removes the directory if no keeper takes it over.
std::optional<std::string> make_cgroup(const std::string& instance);

/// Writes the limits into the directory and returns which of them a controller accepted.
Enforcement apply_limits(const std::string& directory, const Limits& limits);

}  // namespace corral::proc
