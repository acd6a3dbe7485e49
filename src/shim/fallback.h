// What the shim does where no daemon can be had: the server runs below it, as with `corral run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/configuration.h"
#include "proc/launch_spec.h"
#include "shim/connect.h"

namespace corral::shim {

struct Instead {
  std::optional<proc::LaunchSpec> spec;  // nothing = it cannot run here, and the rest tells why
  std::string refusal;
  int exit_code = 0;
};

Instead find_instead(const ConnectOptions& options);

/// Returns the exit code of the session.
int run_instead(const proc::LaunchSpec& spec, bool verbose);

/// Whether an entry promises what only the daemon can keep: nobody else reads the messages that a list of
/// allowed or denied tools is about.
bool needs_daemon(const config::Server& entry);

/// How to start a configured server below us, with the same environment as the daemon would give it. The
/// error names what is configured.
Result<proc::LaunchSpec> launch_configured(const std::string& name,
                                           const config::Configuration& configuration,
                                           const std::vector<std::string>& environment,
                                           const ConnectOptions& options = {});

}  // namespace corral::shim
