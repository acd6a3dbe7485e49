// The objects inside the top-level "corral" object: "http" and "watch". Each reader reports the
// place of an invalid value, warns about unknown members, and keeps the defaults of members that are not set.
#pragma once

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

void read_http(Reading& reading, const Field& field, Http& http);
void read_watch(Reading& reading, const Field& field, WatchRules& watch);

}  // namespace corral::config
