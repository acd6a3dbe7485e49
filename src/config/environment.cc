#include "config/environment.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "base/words.h"
#include "config/volatile_variables.h"

namespace corral::config {
namespace {

using Names = std::span<const std::string_view>;

bool has_name(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool begins_with_one_of(Names beginnings, std::string_view name) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

// Variables that every program may expect after a login, and those that configure a proxy.
constexpr std::string_view kAllowed[] = {"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"};
constexpr std::string_view kAllowedBeginnings[] = {"LC_", "XDG_"};
constexpr std::string_view kProxyEnding = "_proxy";

bool is_proxy(std::string_view name) {
  if (name.size() <= kProxyEnding.size()) return false;
  const std::string_view ending = name.substr(name.size() - kProxyEnding.size());
  return std::equal(ending.begin(), ending.end(), kProxyEnding.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

using Variables = std::map<std::string, std::string, std::less<>>;

// Directories that a program makes for one shell or one start, with links to what is elsewhere, and puts into
// PATH. fnm's leads to the version that was chosen, so it counts under its real name.
constexpr std::string_view kLinkedForOneShell[] = {"/fnm_multishells/"};
constexpr std::string_view kMadeForOneStart[] = {"/tmp/.mount_", "/tmp/xfs-", "/tmp/yarn--"};
constexpr std::string_view kMadeByOneCodex = "/codex-arg0";  // $CODEX_HOME/tmp/arg0-linux/codex-arg0aBcDeF

/// What a part of PATH means; empty = nothing to a server.
std::string part_of_path(std::string part) {
  if (begins_with_one_of(kMadeForOneStart, part)) return {};
  if (part.find(kMadeByOneCodex) != std::string::npos) return {};
  const bool linked =
      std::any_of(std::begin(kLinkedForOneShell), std::end(kLinkedForOneShell),
                  [&part](std::string_view mark) { return part.find(mark) != std::string::npos; });
  char real[PATH_MAX];
  if (linked && realpath(part.c_str(), real) != nullptr) return real;
  while (part.size() > 1 && part.back() == '/') part.pop_back();
  return part;
}

/// The same directories in the same order, each once. An empty part would mean the working directory.
std::string normal_path(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string part = part_of_path(path.substr(begin, end - begin));
    if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(std::move(part));
    begin = end + 1;
  }
  std::string normal;
  for (const std::string& part : parts) normal.append(normal.empty() ? "" : ":").append(part);
  return normal;
}

/// Brings what two shells write differently into one form, if it means the same.
void normalise(Variables& variables) {
  if (const auto path = variables.find("PATH"); path != variables.end())
    path->second = normal_path(path->second);
  const auto language = variables.find("LANG");
  if (language == variables.end() || variables.contains("LC_ALL")) return;
  std::erase_if(variables, [&language](const auto& variable) {
    return variable.first.starts_with("LC_") && variable.second == language->second;
  });
}

template <class Wanted>
Variables pick(const std::vector<std::string>& entries, Wanted wanted) {
  Variables picked;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    std::string name = entry.substr(0, equals);
    std::string value = entry.substr(equals + 1);
    if (wanted(name, value)) picked[std::move(name)] = std::move(value);
  }
  return picked;
}

std::vector<std::string> as_entries(const Variables& variables) {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.emplace_back(name).append("=").append(value);
  return entries;
}

}  // namespace

bool is_common(std::string_view name) {
  return !is_volatile(name) &&
         (has_name(kAllowed, name) || begins_with_one_of(kAllowedBeginnings, name) || is_proxy(name));
}

std::vector<std::string> environment_for_entry(const std::vector<std::string>& shim, const Server& expanded) {
  Variables variables =
      pick(shim, [](const std::string& name, const std::string&) { return is_common(name); });
  for (const auto& [name, value] : expanded.env) {
    // The entry takes precedence, even for names that corral would not pass on. A name that contains '='
    // would set another variable.
    if (!name.empty() && name.find('=') == std::string::npos) variables[name] = value;
  }
  normalise(variables);
  return as_entries(variables);
}

std::vector<std::string> environment_for_command(const std::vector<std::string>& shim) {
  Variables variables =
      pick(shim, [](const std::string& name, const std::string& value) { return !is_volatile(name, value); });
  normalise(variables);
  return as_entries(variables);
}

}  // namespace corral::config
