// Servers that are known to be safe or unsafe to share, each with its evidence. The table comes from reading
// their sources; docs/sharing.md shows it to users. Any thread may call these functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corral::knowledge {

/// What makes no difference to a server, each with the reason. An empty reason means that it may make one.
struct Unnoticed {
  std::string_view version{};    // of the package whose source was read
  std::string_view directory{};  // why the working directory makes no difference
  std::string_view path{};       // why PATH makes none, apart from the programs that it finds
  std::string_view starts{};     // programs that the server finds through PATH, with spaces between them
  /// The variables that it reads (match_name), apart from those that every program of its kind may read
  /// (passed_variables.h).
  std::string_view variables{};
  std::string_view other_variables{};  // why no other variable makes a difference
};

struct KnownServer {
  std::string_view package;   // with its registry: "npm:…", "pypi:…", "docker:…"
  bool shareable;             // false = it keeps state for one client
  std::string_view evidence;  // one phrase: "stateless: every call reads the clock"
  Unnoticed unnoticed{};
};

std::span<const KnownServer> known_servers();

/// Finds the server by the package that the command starts: through npx, uvx, docker or a similar launcher,
/// or as a script in node_modules. `directory` is where the command would start and `path` its PATH; without
/// them a relative script or a bare command is not found. Reads the file system as known::understand does.
/// Null if the server is unknown, if the package does not come from its registry, or if the command starts
/// another program of the package.
const KnownServer* find_known_server(const std::vector<std::string>& argv, const std::string& directory = "",
                                     const std::string& path = "");

/// What makes no difference to the server if this command starts it: less than the table says if the command
/// lets it see more, such as a directory of the machine in a container. Nothing for an unknown server.
Unnoticed unnoticed_by(const KnownServer* known, const std::vector<std::string>& argv);

}  // namespace corral::knowledge
