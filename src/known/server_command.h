// What a command line runs, whichever launcher it goes through: `npx -y @x/files@1.2 .`, the `npm exec
// @x/files .` that it becomes, the `sh -c mcp-files .` below that and `node
// …/node_modules/@x/files/dist/index.js .` at the end are the same server. Reads the file system (symbolic
// links, package manifests), never runs anything.
#pragma once

#include <string>
#include <vector>

namespace corral::known {

struct ServerCommand {
  /// The same for two processes exactly if they run the same program: "npm:@x/files", "pypi:mcp-server-git",
  /// "docker:mcp/fetch", "file:/srv/server.js", "file:/opt/server", "module:/srv/venv mcp_server". Which
  /// node or python runs a script does not count: the PATH of a client and that of corral find different
  /// ones. Empty if the command line does not show what it runs (a shell, an interactive interpreter, a
  /// script in an unknown directory); an empty key is equal to no other.
  std::string key;
  std::string name;     // short, for people: "@x/files", "server.js", "mcp-server-git"
  std::string version;  // of the package, if it can be found; else empty
  std::string script;   // absolute path of the script or package file that runs, if there is one
  std::string
      manifest;  // absolute path of the package manifest (package.json, METADATA) that was used, or empty
  std::vector<std::string> arguments;  // what the server itself gets
  std::string launcher;         // the outermost entry of the table of launchers that it goes through: "npx",
                                // "docker"; or empty
  bool is_shell = false;        // `sh -c …`: only a wrapper, look at its child
  bool depends_on_mcp = false;  // its package manifest names an MCP SDK
  std::string mcp_dependency;   // which one: "@modelcontextprotocol/sdk 1.32.2" as far as it is known
};

/// `executable` is the file that runs if it is known (a process), or empty (a configured command; `argv[0]`
/// is then looked up in `path`, the value of PATH). Relative names are taken from `directory`.
ServerCommand understand(const std::vector<std::string>& argv, const std::string& executable,
                         const std::string& directory, const std::string& path = "");

/// Whether corral keeps what the command line starts: its program is corral, or a launcher that runs corral
/// (`npx corral run …`, `sh -c 'exec corral …'`). Looks at the words only.
bool goes_through_corral(const std::vector<std::string>& argv);

}  // namespace corral::known
