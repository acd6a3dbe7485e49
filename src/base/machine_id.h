// The identity of this machine.
#pragma once

#include <string>

namespace corral {

/// Stays the same for as long as the operating system is installed; empty if the system has no machine id.
std::string machine_id();

}  // namespace corral
