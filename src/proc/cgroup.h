// A cgroup v2 directory for one instance: one write kills everything in it, and controllers that are there
// can hold limits. The keeper moves the server in and removes the directory at the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "keeper/report.h"
#include "proc/launch_spec.h"

namespace corral::proc {

/// Which mechanism holds which limit.
struct Enforcement {
  keeper::Enforcer memory = keeper::Enforcer::None;
  keeper::Enforcer processes = keeper::Enforcer::None;
  keeper::Enforcer cpu = keeper::Enforcer::None;
};

/// Our own directory in the unified hierarchy, from the texts of /proc/self/mountinfo and /proc/self/cgroup.
std::optional<std::string> own_cgroup(std::string_view mountinfo, std::string_view cgroup);

/// Makes a directory for the instance below our own. Nothing where there is no cgroup v2, or it is not ours.
std::optional<std::string> make_cgroup(const std::string& instance);

/// Writes the limits into the directory and says which of them a controller took.
Enforcement apply_limits(const std::string& directory, const Limits& limits);

}  // namespace corral::proc
