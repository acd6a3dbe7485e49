// When two starts of a server are the same. Pure; any thread may call.
#pragma once

#include <string>

#include "proc/launch_spec.h"

namespace corral::knowledge {

/// Equal if and only if the same command would start, be held and end in the same way: argv, directory,
/// exactly the environment, containment, limits, graces and `on_stop`. The text itself, not a digest: no
/// collision can mix two users' tokens up. It holds secrets; never show or log it.
std::string launch_key(const proc::LaunchSpec& spec);

}  // namespace corral::knowledge
