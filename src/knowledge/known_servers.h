// Servers that are known to be safe or unsafe to share, each with its evidence. The table comes from reading
// their sources; docs/sharing.md shows it to users. Any thread may call these functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corral::knowledge {

struct KnownServer {
  std::string_view package;   // with its registry: "npm:…", "pypi:…", "docker:…"
  bool shareable;             // false = it keeps state for one client
  std::string_view evidence;  // one phrase: "stateless: every call reads the clock"
  /// Why neither its working directory nor PATH makes a difference to it; empty = not known.
  std::string_view alone{};
};

std::span<const KnownServer> known_servers();

/// Finds the server by the package that the command starts: through npx, uvx, docker or a similar launcher,
/// or as a script in node_modules. `directory` is where the command would start and `path` its PATH; without
/// them a relative script or a bare command is not found. Reads the file system as known::understand does.
/// Null if the server is unknown, if the package does not come from its registry, or if the command starts
/// another program of the package.
const KnownServer* find_known_server(const std::vector<std::string>& argv, const std::string& directory = "",
                                     const std::string& path = "");

}  // namespace corral::knowledge
