#include "known/program_identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/files.h"
#include "known/package_manifest.h"

namespace corral::known {
namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_regular(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// A path without "." and ".." and doubled slashes, for one that does not exist.
std::string tidy(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
    begin = end + 1;
  }
  std::string whole;
  for (const std::string& part : parts) whole += "/" + part;
  return whole.empty() ? "/" : whole;
}

/// Half of all scripts are called one of these, so the name of their package says more.
bool says_nothing(std::string_view script) {
  constexpr std::array<std::string_view, 9> kUsual = {"index", "main", "server", "cli",  "start",
                                                      "app",   "mod",  "run",    "stdio"};
  return std::find(kUsual.begin(), kUsual.end(), script.substr(0, script.find('.'))) != kUsual.end();
}

void describe(const std::optional<Package>& package, ServerCommand& command) {
  if (!package) return;
  if (command.key.starts_with("file:") && !package->name.empty() && says_nothing(base_name(command.script))) {
    command.name = package->name;
  }
  command.manifest = package->manifest;
  if (!package->version.empty()) command.version = package->version;
  command.mcp_dependency = package->mcp_dependency;
  command.depends_on_mcp = !package->mcp_dependency.empty();
}

/// A Python distribution put it there: `…/bin/mcp-server-git` of a virtual environment, or a module in it.
bool identify_distribution(const std::string& site, std::string_view name, ServerCommand& command) {
  const std::optional<Package> package = python_package_of(site, name);
  if (!package) return false;
  command.name = package->name;
  command.key = "pypi:" + package->name;
  describe(package, command);
  return true;
}

/// By its path alone.
void name_file(const std::string& path, ServerCommand& command) {
  const std::string package = npm_package_in_path(path);
  command.script = path;
  command.name = package.empty() ? base_name(path) : package;
  command.key = package.empty() ? "file:" + path : "npm:" + package;
}

/// The virtual environment of an interpreter, before its links are followed out of it.
std::string environment_of(const std::string& interpreter, const std::string& directory) {
  if (interpreter.empty()) {
    const std::string project = directory + "/.venv";
    return !directory.empty() && is_regular(project + "/pyvenv.cfg") ? project : std::string();
  }
  if (interpreter.find('/') == std::string::npos) return {};
  const std::string folder = folder_of(absolute_path(interpreter, directory));
  return folder.ends_with("/bin") && is_regular(folder_of(folder) + "/pyvenv.cfg") ? folder_of(folder)
                                                                                   : std::string();
}

}  // namespace

std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? std::string(real.get()) : std::string();
}

std::string absolute_path(const std::string& path, const std::string& directory) {
  if (path.starts_with("/")) return path;
  return directory.empty() ? std::string() : directory + "/" + path;
}

std::string find_program(const std::string& command, const std::string& directory, const std::string& path) {
  if (command.find('/') != std::string::npos) return resolved(absolute_path(command, directory));
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string candidate = path.substr(begin, end - begin) + "/" + command;
    if (candidate.starts_with("/") && access(candidate.c_str(), X_OK) == 0 && is_regular(candidate)) {
      return resolved(candidate);
    }
    begin = end + 1;
  }
  return {};
}

std::string launcher_of_script(const std::string& path) {
  constexpr std::array<std::string_view, 13> kCommands = {
      "npx", "npm", "pnpm", "pnpx", "yarn", "tsx", "ts-node", "bunx", "uv", "uvx", "pipx", "mcp", "fastmcp"};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kFiles = {{
      {"/npm/bin/npx-cli.js", "npx"},
      {"/npm/bin/npm-cli.js", "npm"},
      {"/pnpm/bin/pnpm.cjs", "pnpm"},
      {"/pnpm/bin/pnpx.cjs", "pnpx"},
      {"/yarn/bin/yarn.js", "yarn"},
      {"/tsx/dist/cli.mjs", "tsx"},
      {"/ts-node/dist/bin.js", "ts-node"},
  }};
  for (const auto& [ending, launcher] : kFiles) {
    if (std::string_view(path).ends_with(ending)) return std::string(launcher);
  }
  const std::string base = base_name(path);
  const bool known = std::find(kCommands.begin(), kCommands.end(), base) != kCommands.end();
  return known && path.find('/') != std::string::npos ? base : std::string();
}

void identify_file(const std::string& real, ServerCommand& command) {
  name_file(real, command);
  const bool in_package = command.key.starts_with("npm:");
  const std::string folder = folder_of(real);
  const bool has_ending = real.find('.', real.rfind('/')) != std::string::npos;
  if (!in_package && !has_ending && folder.ends_with("/bin") && folder != "/usr/bin" && folder != "/bin") {
    identify_distribution(folder_of(folder), base_name(real), command);
    return;
  }
  // Only scripts have a package.json above them that says something; a program in /usr/bin has none.
  if (in_package || has_ending) describe_by_manifest(real, command);
}

void identify_script(const std::string& given, const std::string& directory, ServerCommand& command) {
  command.name = base_name(given);
  if (given.starts_with("npm:") || given.starts_with("jsr:")) {  // deno
    const PackageSpec spec = parse_npm_spec(std::string_view(given).substr(4));
    command.name = spec.name;
    command.version = spec.version;
    command.key = given.substr(0, 4) + spec.name;
    return;
  }
  const std::string whole = absolute_path(given.starts_with("file://") ? given.substr(7) : given, directory);
  // Relative to an unknown directory it could be any file, and /dev/fd/3 of `bash /dev/fd/3` is a file of
  // that process, not of this one.
  if (whole.empty() || whole.starts_with("/dev/") || whole.starts_with("/proc/")) return;
  const std::string real = resolved(whole);
  if (real.empty()) return name_file(tidy(whole), command);
  identify_file(real, command);
}

void identify_module(const std::string& interpreter, const std::string& name, const std::string& directory,
                     ServerCommand& command) {
  command.name = name;
  std::string place = name;
  std::replace(place.begin(), place.end(), '.', '/');
  for (const char* ending : {"/__main__.py", ".py"}) {
    const std::string file = resolved(std::string(directory).append("/").append(place).append(ending));
    if (directory.empty() || file.empty()) continue;
    command.script = file;
    command.key = "file:" + file;
    return;
  }
  const std::string site = environment_of(interpreter, directory);
  command.key = "module:" + (site.empty() ? std::string() : site + " ") + name;
  if (!site.empty()) identify_distribution(site, name.substr(0, name.find('.')), command);
}

void describe_by_manifest(const std::string& path, ServerCommand& command) {
  describe(npm_package_of(path), command);
}

}  // namespace corral::known
