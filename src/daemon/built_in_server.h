// corral's own MCP server, through which agents see and control the daemon: an entry like any other, but not
// from a file. The daemon adds it to every configuration; commands need its name, which no file lists.
#pragma once

#include <filesystem>
#include <string>

#include "config/configuration.h"

namespace corral::daemon {

inline constexpr const char* kBuiltInServer = "corral";

/// Runs this program as `corral mcp`, against the daemon of that directory. All clients share one instance,
/// which keeps no state.
inline config::Server built_in_server(const std::string& runtime_dir) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  config::Server server;
  server.name = kBuiltInServer;
  server.argv = {error ? "corral" : own.string(), "mcp", "--runtime-dir", runtime_dir};
  server.cwd = "/";
  server.share = config::Share::Shared;
  server.stateless = true;
  server.modern = false;
  server.built_in = true;
  return server;
}

}  // namespace corral::daemon
