// What the daemon says about itself, one line each, on standard error.
#pragma once

#include <string_view>

namespace corral {

/// "[corral v0.1.0] sentence". Never with a value from an environment or an argument in it: they may be
/// secrets.
void log_line(std::string_view sentence);

}  // namespace corral
