// corral's own MCP server, through which agents see and control the daemon: an entry like any other, but not
// from a file.
#pragma once

#include <string>

#include "config/configuration.h"

namespace corral::daemon {

inline constexpr const char* kBuiltInServer = "corral";

/// Runs this program as `corral mcp`, against the daemon of that folder.
config::Server built_in_server(const std::string& runtime_dir);

}  // namespace corral::daemon
