// When two starts of a server are the same. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "proc/launch_spec.h"

namespace corral::knowledge {

/// Equal if and only if the same command would start, be held and end in the same way: argv, directory,
/// exactly the environment, containment, limits, graces and `on_stop`. The text itself, not a digest: no
/// collision can mix two users' tokens up. It holds secrets; never show or log it.
std::string launch_key(const proc::LaunchSpec& spec);

/// A short name for a text that is too long or too secret to be one, such as a launch key:
/// "5df41881-3aed-3515-88a7-2f4a814cf09e", a UUID of version 5 (SHA-1, RFC 4122), the same for the same text.
std::string name_digest(std::string_view text);

}  // namespace corral::knowledge
