// Servers of which it is known whether sessions may share a process, each with its evidence. The table is
// data from reading their sources; docs/sharing.md shows it to users. Any thread may call.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corral::knowledge {

struct KnownServer {
  std::string_view package;  // with the registry that knows it by this name: "npm:…", "pypi:…", "docker:…"
  bool shareable;            // false = known to keep state for one client
  std::string_view evidence;  // one phrase: "stateless: every call reads the clock"
};

std::span<const KnownServer> known_servers();

/// By the package that the command starts: through npx, uvx, docker and friends, or a script in node_modules.
/// `directory` is where it would start and `path` its PATH: without them a relative script or a bare command
/// stays unknown. Reads the file system as known::understand does. Null = unknown; also if the command takes
/// the package from elsewhere than its registry, or starts something else out of it.
const KnownServer* find_known_server(const std::vector<std::string>& argv, const std::string& directory = "",
                                     const std::string& path = "");

}  // namespace corral::knowledge
