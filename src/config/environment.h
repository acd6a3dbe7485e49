// Which of a client's variables a server gets. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"

namespace corral::config {

// Both give every name once (the last one counts), sorted, so that the order in which a client happens to
// hand its variables over makes no difference. What is not "NAME=value" is left out.

/// For `connect NAME`: a fixed list of names from the shim's environment, then the entry's own `env`.
std::vector<std::string> environment_for_entry(const std::vector<std::string>& shim, const Server& expanded);
/// For `connect -- COMMAND`: all of the shim's, without what differs from one window to the next and no
/// server needs. The client put the entry's `env` in there, so nothing else may go.
std::vector<std::string> environment_for_command(const std::vector<std::string>& shim);

/// Whether a variable only says in which window, terminal or session the client runs.
bool is_volatile(std::string_view name);

}  // namespace corral::config
