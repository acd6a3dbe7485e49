#include "known/package_manifest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <filesystem>

#include "base/unique_fd.h"

namespace corral::known {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr int kLevelsUp = 6;             // from a script to its manifest
constexpr int kMostDistributions = 500;  // looked at in one site-packages

constexpr std::array<std::string_view, 9> kNodeSdks = {"@modelcontextprotocol/sdk",
                                                       "@modelcontextprotocol/server",
                                                       "@modelcontextprotocol/client",
                                                       "fastmcp",
                                                       "mcp-framework",
                                                       "mcp-handler",
                                                       "xmcp",
                                                       "@mastra/mcp",
                                                       "mcp-lite"};
constexpr std::array<std::string_view, 2> kPythonSdks = {"mcp", "fastmcp"};

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<json::object> read_json_object(const std::string& path) {
  const std::optional<std::string> text = read_small_file(path);
  if (!text) return std::nullopt;
  json::error_code error;
  json::parse_options options;
  options.max_depth = 64;
  json::value value = json::parse(*text, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

/// The version that is installed next to a package, else the range that it asks for.
std::string installed_version(const std::string& folder, std::string_view sdk, const std::string& range) {
  const std::size_t outer = folder.rfind("/node_modules/");
  std::string found;
  for (const std::string& modules :
       {folder + "/node_modules/",
        outer == std::string::npos ? std::string() : folder.substr(0, outer + 14)}) {
    if (modules.empty() || !found.empty()) continue;
    if (const auto manifest = read_json_object(modules + std::string(sdk) + "/package.json")) {
      found = text_of(*manifest, "version");
    }
  }
  return found.empty() ? range : found;
}

std::string node_sdk(const json::object& manifest, const std::string& folder) {
  for (const std::string_view sdk : kNodeSdks) {
    // What only tests and builds need (devDependencies) does not run in the server.
    for (const std::string_view table : {"dependencies", "peerDependencies", "optionalDependencies"}) {
      const json::value* entries = manifest.if_contains(table);
      if (entries == nullptr || !entries->is_object() || !entries->get_object().contains(sdk)) continue;
      return std::string(sdk) + " " + installed_version(folder, sdk, text_of(entries->get_object(), sdk));
    }
  }
  return {};
}

/// "mcp" and "1.9.4" of "mcp-1.9.4.dist-info".
PackageSpec parse_dist_info(const std::string& folder) {
  constexpr std::string_view kEnding = ".dist-info";
  if (!std::string_view(folder).ends_with(kEnding)) return {};
  const std::string stem = folder.substr(0, folder.size() - kEnding.size());
  const std::size_t dash = stem.find('-');
  if (dash == std::string::npos) return {};
  return {normalised_python_name(stem.substr(0, dash)), stem.substr(dash + 1)};
}

/// Whether the distribution in this dist-info directory installs a command of that name.
bool installs_command(const std::string& dist_info, std::string_view command) {
  const std::optional<std::string> points = read_small_file(dist_info + "/entry_points.txt", 64 << 10);
  if (!points) return false;
  for (std::size_t at = points->find(command); at != std::string::npos; at = points->find(command, at + 1)) {
    const std::size_t after = points->find_first_not_of(' ', at + command.size());
    if ((at == 0 || (*points)[at - 1] == '\n') && after != std::string::npos && (*points)[after] == '=')
      return true;
  }
  return false;
}

bool requires_distribution(const std::string& metadata, std::string_view wanted) {
  constexpr std::string_view kField = "\nRequires-Dist: ";
  for (std::size_t at = metadata.find(kField); at != std::string::npos; at = metadata.find(kField, at + 1)) {
    const std::size_t begin = at + kField.size();
    const std::string line = metadata.substr(begin, metadata.find('\n', begin) - begin);
    const std::size_t end = std::min(line.find_first_of(" [<>=!~;(@"), line.size());
    if (normalised_python_name(line.substr(0, end)) == wanted) return true;
  }
  return false;
}

/// Everything that one look at a site-packages directory tells.
struct Distributions {
  std::string own;  // dist-info directory of the program
  PackageSpec own_spec;
  std::vector<PackageSpec> sdks;     // MCP SDKs that are installed
  std::vector<std::string> folders;  // all dist-info directories
};

Distributions list_distributions(const std::string& packages, const std::string& wanted) {
  Distributions found;
  std::error_code error;
  int left = 4 * kMostDistributions;
  for (fs::directory_iterator entry(packages, error), end; !error && entry != end && left-- > 0;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const PackageSpec spec = parse_dist_info(name);
    if (spec.name.empty()) continue;
    const std::string folder = entry->path().string();
    if (spec.name == wanted) {
      found.own = folder;
      found.own_spec = spec;
    }
    if (std::find(kPythonSdks.begin(), kPythonSdks.end(), spec.name) != kPythonSdks.end())
      found.sdks.push_back(spec);
    if (found.folders.size() < kMostDistributions) found.folders.push_back(folder);
  }
  return found;
}

std::optional<Package> find_distribution(const std::string& packages, std::string_view name) {
  Distributions found = list_distributions(packages, normalised_python_name(name));
  for (const std::string& folder : found.folders) {
    if (!found.own.empty()) break;
    if (!installs_command(folder, name)) continue;
    found.own = folder;
    found.own_spec = parse_dist_info(folder.substr(folder.rfind('/') + 1));
  }
  if (found.own.empty()) return std::nullopt;
  Package package{found.own_spec.name, found.own_spec.version, found.own + "/METADATA", {}};
  const std::optional<std::string> metadata = read_small_file(package.manifest);
  if (!metadata) return package;
  for (const PackageSpec& sdk : found.sdks) {
    if (sdk.name != package.name && !requires_distribution("\n" + *metadata, sdk.name)) continue;
    if (package.mcp_dependency.empty()) package.mcp_dependency = sdk.name + " " + sdk.version;
  }
  return package;
}

}  // namespace

std::optional<std::string> read_small_file(const std::string& path, std::size_t limit) {
  // Without O_NONBLOCK, opening a named pipe that somebody put there would wait for its writer.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!file.valid() || fstat(file.get(), &status) != 0) return std::nullopt;
  const bool regular = S_ISREG(status.st_mode);
  if (!regular || static_cast<std::size_t>(status.st_size) > limit) {
    errno = regular ? EFBIG : EINVAL;
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t count = read(file.get(), text.data() + got, text.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

std::string npm_package_in_path(std::string_view path) {
  constexpr std::string_view kModules = "/node_modules/";
  const std::size_t at = path.rfind(kModules);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = path.substr(at + kModules.size());
  std::size_t end = rest.find('/');
  if (rest.starts_with("@") && end != std::string_view::npos) end = rest.find('/', end + 1);
  const std::string_view name = rest.substr(0, end);
  return name.starts_with(".") ? std::string() : std::string(name);  // .bin, .pnpm, .cache
}

std::optional<Package> npm_package_of(const std::string& script) {
  std::string folder = script;
  for (int level = 0; level <= kLevelsUp; ++level) {
    const std::string base = folder.substr(folder.rfind('/') + 1);
    if (folder.empty() || base == "node_modules") break;
    // The script itself is a directory now and then (`node .`), so the first look is at the whole path.
    if (level > 0 || base.find('.') == std::string::npos) {
      const std::string manifest = folder + "/package.json";
      if (const auto object = read_json_object(manifest)) {
        const std::string name = text_of(*object, "name");
        // A package.json without a name is only a switch between module systems.
        if (!name.empty())
          return Package{name, text_of(*object, "version"), manifest, node_sdk(*object, folder)};
      }
    }
    folder.resize(std::min(folder.rfind('/'), folder.size()));
  }
  return std::nullopt;
}

std::optional<Package> python_package_of(const std::string& site, std::string_view name) {
  std::error_code error;
  int left = 64;
  for (fs::directory_iterator entry(site + "/lib", error), end; !error && entry != end && left-- > 0;
       entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("python")) continue;
    if (auto package = find_distribution(entry->path().string() + "/site-packages", name)) return package;
  }
  return std::nullopt;
}

std::string normalised_python_name(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    const bool separator = c == '-' || c == '_' || c == '.';
    if (separator && !normal.empty() && normal.back() == '-') continue;
    normal.push_back(separator ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return normal;
}

PackageSpec parse_npm_spec(std::string_view spec) {
  if (spec.starts_with("npm:")) spec.remove_prefix(4);
  if (spec.find(':') != std::string_view::npos ||
      (!spec.starts_with("@") && spec.find('/') != std::string_view::npos)) {
    return {std::string(spec.substr(0, spec.find('#'))), {}};  // a repository, an archive or a directory
  }
  const std::size_t at = spec.find('@', 1);
  if (spec.empty() || at == std::string_view::npos) return {std::string(spec), {}};
  const std::string_view version = spec.substr(at + 1);
  return {std::string(spec.substr(0, at)), version == "latest" ? std::string() : std::string(version)};
}

PackageSpec parse_python_spec(std::string_view spec) {
  const std::size_t url = spec.find(" @ ");  // "name @ git+https://…"
  if (url != std::string_view::npos)
    return {normalised_python_name(spec.substr(0, spec.find_first_of(" ["))), {}};
  if (spec.find('/') != std::string_view::npos || spec.find(':') != std::string_view::npos) {
    return {std::string(spec), {}};
  }
  const std::size_t end = spec.find_first_of("[=<>!~@; ");
  if (end == std::string_view::npos) return {normalised_python_name(spec), {}};
  const std::size_t version = spec.find_first_not_of("=@", spec.find_first_of("=@", end));
  const bool exact = spec.find("==") != std::string_view::npos || spec.find('@') != std::string_view::npos;
  const std::string_view asked = exact && version < spec.size() ? spec.substr(version) : std::string_view();
  return {normalised_python_name(spec.substr(0, end)),
          asked == "latest" ? std::string() : std::string(asked)};
}

}  // namespace corral::known
