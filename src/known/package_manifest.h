// What package managers leave on disk about a program: its package, its version and its MCP SDK. Read-only,
// with a bound on the number and the size of files. A file that is missing or broken means "not known".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace corral::known {

struct Package {
  std::string name;
  std::string version;
  std::string manifest;        // the file that says so
  std::string mcp_dependency;  // "@modelcontextprotocol/sdk 1.32.2"; empty = no known MCP SDK
};

/// The text of a regular file of at most `limit` bytes. Otherwise empty, and errno has the cause: EFBIG if
/// the file is larger, EINVAL if it is not a regular file.
std::optional<std::string> read_small_file(const std::string& path, std::size_t limit = 1 << 20);

/// "@x/files" for "…/node_modules/@x/files/dist/index.js"; empty if the path is in no package.
std::string npm_package_in_path(std::string_view path);

/// From the nearest package.json with a name above a script or at a directory, but never above its
/// node_modules.
std::optional<Package> npm_package_of(const std::string& script);

/// The Python distribution that put a console script (".../bin/mcp-server-git") or a module where it is.
/// `site` is the directory above bin/ and lib/: a virtual environment, or ~/.local.
std::optional<Package> python_package_of(const std::string& site, std::string_view name);

/// What a package specification asks for: "@x/y@1.2.3", "pkg==1.0", "pkg[extra]@latest", "git+https://…@v1".
struct PackageSpec {
  std::string name;
  std::string version;  // as asked for; empty for none and for "latest"
};
PackageSpec parse_npm_spec(std::string_view spec);
PackageSpec parse_python_spec(std::string_view spec);

/// Python's own rule for equal names: "MCP_Server.Git" is "mcp-server-git".
std::string normalised_python_name(std::string_view name);

}  // namespace corral::known
