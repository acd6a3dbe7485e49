#include "daemon/built_in_server.h"

#include <filesystem>

namespace corral::daemon {

config::Server built_in_server(const std::string& runtime_dir) {
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
