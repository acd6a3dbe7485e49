// corral's own MCP server, by which agents see and steer the daemon: an entry like any other, but of no file.
#pragma once

#include <string>

#include "config/configuration.h"

namespace corral::daemon {

inline constexpr const char* kBuiltInServer = "corral";

/// Runs this program as `corral mcp`, against the daemon of that folder.
config::Server built_in_server(const std::string& runtime_dir);

}  // namespace corral::daemon
