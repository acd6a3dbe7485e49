// Which machine this is.
#pragma once

#include <string>

namespace corral {

/// The same as long as the system is installed; empty if it has none.
std::string machine_id();

}  // namespace corral
