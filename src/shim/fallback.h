// What the shim does where no daemon can be had: the server runs below it, as with `corral run`.
#pragma once

#include <string>

#include "base/result.h"
#include "config/configuration.h"
#include "proc/launch_spec.h"
#include "shim/connect.h"

namespace corral::shim {

/// Returns the exit code of the session.
int run_instead(const ConnectOptions& options);

/// How to start a configured server below us. The error names what is configured.
Result<proc::LaunchSpec> launch_configured(const std::string& name,
                                           const config::Configuration& configuration,
                                           std::vector<std::string> environment);

}  // namespace corral::shim
