// Keys that tell whether two launches of a server are the same. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "knowledge/notice.h"
#include "proc/launch_spec.h"

namespace corral::knowledge {

/// Equal if and only if the same command would start, run and end in the same way: argv, directory, the
/// environment to the last byte, containment, limits, grace periods and `on_stop`. It is the text itself, not
/// a digest, so that no collision can confuse the tokens of two users. It contains secrets: never show or log
/// it.
///
/// `noticed` leaves out the variables that its server cannot notice. What was declared is part of the key:
/// two windows with other declarations do not agree on what matters.
std::string launch_key(const proc::LaunchSpec& spec, const Noticed& noticed = {});

/// A short name for a text that is too long or too secret, such as a launch key:
/// "5df41881-3aed-3515-88a7-2f4a814cf09e", a UUID of version 5 (SHA-1, RFC 4122), the same for the same text.
std::string name_digest(std::string_view text);

}  // namespace corral::knowledge
