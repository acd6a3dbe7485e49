// The "watch" of the top-level "corral" object, and other keys that say what is too old.
#pragma once

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

void read_watch(Reading& reading, const Field& field, WatchRules& watch);

/// "1.2.3": what cannot be compared would refuse everybody, or nobody.
void read_min_version(Reading& reading, const Field& field, std::string& target);

}  // namespace corral::config
