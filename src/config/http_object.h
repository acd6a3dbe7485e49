// The "http" of the top-level "corral" object.
#pragma once

#include "config/configuration.h"
#include "config/reading.h"

namespace corral::config {

void read_http(Reading& reading, const Field& field, Http& http);

}  // namespace corral::config
