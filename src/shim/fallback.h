// What the shim does when no daemon is available: it runs the server itself, as `corral run` does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/configuration.h"
#include "proc/launch_spec.h"
#include "run/outer.h"
#include "shim/connect.h"

namespace corral::shim {

struct Instead {
  std::optional<proc::LaunchSpec> spec;  // empty = it cannot run here; the other members say why
  std::string refusal;
  int exit_code = 0;
};

/// Decides how to run the server without a daemon, or why that is not possible.
Instead find_instead(const ConnectOptions& options);

/// Runs the server and returns the exit code of the session. Call once, from a single thread.
int run_instead(const proc::LaunchSpec& spec, const run::OuterOptions& options);

/// Whether an entry has settings that only the daemon can enforce: without it, no process reads the messages
/// to which lists of allowed and denied tools apply.
bool needs_daemon(const config::Server& entry);

/// How to start a configured server as our child, with the environment that the daemon would give it. If the
/// name is unknown, the error lists the configured names.
Result<proc::LaunchSpec> launch_configured(const std::string& name,
                                           const config::Configuration& configuration,
                                           const std::vector<std::string>& environment,
                                           const ConnectOptions& options = {});

}  // namespace corral::shim
