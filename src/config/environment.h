// Which of the client's environment variables corral passes on to a server. Reads links in PATH; any thread
// may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/configuration.h"

namespace corral::config {

// Both functions return each name once, with its last value, and sort the names, so that the order of the
// client's variables makes no difference to the key of an instance. Strings other than "NAME=value" are
// dropped. PATH has each directory once, without empty parts and without directories that a version manager
// makes for one shell; LC_* variables that repeat LANG are dropped.

/// For `connect NAME`: a fixed list of variables from the shim's environment, overridden by the entry's
/// `env`.
std::vector<std::string> environment_for_entry(const std::vector<std::string>& shim, const Server& expanded);
/// For `connect -- COMMAND`: all variables of the shim except the volatile ones (volatile_variables.h). The
/// others must stay, because the client has added its entry's `env` to them.
std::vector<std::string> environment_for_command(const std::vector<std::string>& shim);

/// Whether every server gets the variable, as after a login: HOME, PATH, LANG, proxies and a few others.
bool is_common(std::string_view name);

}  // namespace corral::config
