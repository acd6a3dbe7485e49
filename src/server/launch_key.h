// What a server is started with, and when two starts are the same. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"
#include "proc/launch_spec.h"

namespace corral::server {

// Both give every name once (the last one counts), sorted, so that the order in which a client happens to
// hand its variables over makes no difference. What is not "NAME=value" is left out.

/// For `connect NAME`: a fixed list of names from the shim's environment, then the entry's own `env`.
std::vector<std::string> environment_for_entry(const std::vector<std::string>& shim,
                                               const config::Server& expanded);
/// For `connect -- COMMAND`: all of the shim's, without what differs from one window to the next and no
/// server needs. The client put the entry's `env` in there, so nothing else may go.
std::vector<std::string> environment_for_command(const std::vector<std::string>& shim);

/// Whether a variable only says in which window, terminal or session the client runs.
bool is_volatile(std::string_view name);

/// Equal if and only if the same command would start, be held and end in the same way: argv, directory,
/// exactly the environment, containment, limits, graces and `on_stop`. The text itself, not a digest: no
/// collision can mix two users' tokens up. It holds secrets; never show or log it.
std::string launch_key(const proc::LaunchSpec& spec);

}  // namespace corral::server
