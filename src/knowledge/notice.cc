#include "knowledge/notice.h"

#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>

#include "base/ignored_words.h"
#include "base/secrets.h"
#include "base/words.h"
#include "config/volatile_variables.h"
#include "knowledge/passed_variables.h"
#include "proc/command_lookup.h"

namespace corral::knowledge {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kNpm = "npm:";

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

/// What npm's launchers read of a project: npx only .npmrc, the others more.
Words settings_of_projects(const Words& argv) {
  Words files{".npmrc"};
  const auto names = [](const std::string& argument) {
    for (const std::string_view other : {"bun", "deno", "yarn", "pnpm"}) {
      if (argument.find(other) != std::string::npos) return true;
    }
    return false;
  };
  if (std::none_of(argv.begin(), argv.end(), names)) return files;
  for (const char* const file : {".env", ".env.local", "bunfig.toml", "deno.json", "deno.jsonc", ".yarnrc",
                                 ".yarnrc.yml", "pnpm-workspace.yaml", "package.json"}) {
    files.emplace_back(file);
  }
  return files;
}

/// npx and its kin prefer a package that the project has installed, and read the project's settings. Those in
/// the home directory are the user's own, for all projects.
bool launcher_looks_around(const KnownServer& known, const proc::LaunchSpec& launch) {
  if (!known.package.starts_with(kNpm)) return false;
  const std::string package(known.package.substr(kNpm.size()));
  const Words settings = settings_of_projects(launch.argv);
  std::string_view home = proc::environment_value(launch.environment, "HOME");
  while (home.size() > 1 && home.ends_with('/')) home.remove_suffix(1);
  for (std::string at = launch.directory; at.size() > 1; at.erase(std::max<std::size_t>(at.rfind('/'), 1))) {
    if (exists(std::string(at).append("/node_modules/").append(package))) return true;
    const auto is_there = [&at](const std::string& file) {
      return exists(std::string(at).append("/").append(file));
    };
    if (at != home && std::any_of(settings.begin(), settings.end(), is_there)) return true;
  }
  return false;
}

/// Whether PATH finds the program in a directory that is relative to the working directory.
bool is_found_nearby(const std::string& name, const proc::LaunchSpec& launch) {
  if (name.find('/') != std::string::npos) return false;
  const auto program = proc::find_command(name, launch.environment, launch.directory);
  const auto elsewhere = proc::find_command(name, launch.environment, "/dev/null");
  return program && (!elsewhere || elsewhere->path != program->path);
}

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }
std::string_view value_of(std::string_view entry) {
  return entry.substr(std::min(entry.find('='), entry.size() - 1) + 1);
}

/// A path that is written like a relative one, or a name of something in the directory.
bool is_relative_path(std::string_view word, const std::string& directory) {
  if (word.empty() || word.starts_with("/") || word.find("://") != std::string_view::npos) return false;
  if (word == "." || word == ".." || word.starts_with("./") || word.starts_with("../")) return true;
  return exists(directory + "/" + std::string(word));
}

/// One word of a command line; `--file=notes.md` and `FILE=notes.md` have the path behind the sign.
bool word_refers_to(std::string_view word, const std::string& directory) {
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos && is_relative_path(word.substr(equals + 1), directory)) return true;
  return !word.starts_with("-") && is_relative_path(word, directory);
}

/// Whether a variable names a file of the directory to the server or its interpreter: NODE_OPTIONS="-r
/// ./x.js". A part without '.' and '/' is rather a word, such as the "test" of NODE_ENV.
bool variable_needs_directory(std::string_view entry, const Unnoticed& unnoticed,
                              const std::string& directory) {
  const std::string_view name = name_of(entry);
  if (!configures_runtime(name) && match_name(unnoticed.variables, name) == NameMatch::None) return false;
  const std::string_view value = value_of(entry);
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find_first_of(" :,;", begin), value.size());
    const std::string_view part = value.substr(begin, end - begin);
    if (part.find_first_of("./") != std::string_view::npos && word_refers_to(part, directory)) return true;
    begin = end + 1;
  }
  return false;
}

bool needs_directory(const proc::LaunchSpec& launch, const Unnoticed& unnoticed) {
  const Words& argv = launch.argv;
  if (argv.empty()) return false;
  const auto refers = [&launch](const std::string& argument) {
    return refers_to_directory(argument, launch.directory);
  };
  const auto names_it = [&](std::string_view entry) {
    if (config::names_project(name_of(entry))) return is_in_command_line(launch, name_of(entry));
    return variable_needs_directory(entry, unnoticed, launch.directory);
  };
  return is_found_nearby(argv.front(), launch) || std::any_of(argv.begin(), argv.end(), refers) ||
         std::any_of(launch.environment.begin(), launch.environment.end(), names_it);
}

bool is_declared(const Words& ignore, std::string_view what) {
  return std::find(ignore.begin(), ignore.end(), what) != ignore.end();
}

/// The programs that a known server and its launcher find through PATH: npm's launchers and scripts start
/// node, uvx the first Python.
Words helpers_of(const KnownServer& known, const Unnoticed& unnoticed) {
  Words names;
  if (known.package.starts_with(kNpm)) names.emplace_back("node");
  if (known.package.starts_with("pypi:")) names.insert(names.end(), {"python3", "python"});
  for (std::size_t begin = 0; begin < unnoticed.starts.size();) {
    const std::size_t end = std::min(unnoticed.starts.find(' ', begin), unnoticed.starts.size());
    names.emplace_back(unnoticed.starts.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

/// The files that a launch finds through PATH: its program and these helpers.
Words programs_of(const proc::LaunchSpec& launch, const Words& helpers) {
  Words found;
  if (launch.argv.empty()) return found;
  Words names{launch.argv.front()};
  names.insert(names.end(), helpers.begin(), helpers.end());
  for (const std::string& name : names) {
    const auto program = proc::find_command(name, launch.environment, launch.directory);
    char real[PATH_MAX];
    const bool resolved = program && realpath(program->path.c_str(), real) != nullptr;
    found.emplace_back(resolved ? real : name);
  }
  return found;
}

/// The programs, as far as they count.
Words programs_that_count(const Noticed& noticed) { return noticed.path ? Words{} : noticed.programs; }

/// All values of each variable.
using Variables = std::map<std::string_view, std::vector<std::string_view>>;

Variables by_name(const NoticedLaunch& from) {
  Variables variables;
  for (const std::string_view entry : variables_that_count(from.launch, from.noticed))
    variables[name_of(entry)].push_back(entry);
  return variables;
}

bool any_is_secret(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [](std::string_view entry) { return looks_secret(value_of(entry)); });
}

enum class Programs : std::uint8_t { Same, Differ };

/// Without PATH the programs that it finds count, so to ignore it helps only if these are the same.
Difference variable_differs(std::string_view name, const Variables& one, const Variables& other,
                            Programs programs) {
  Difference difference{.name = std::string(name)};
  const bool is_path = name == kIgnorePath;
  difference.credential =
      names_secret(name) || (!is_path && (any_is_secret(one, name) || any_is_secret(other, name)));
  const bool may_ignore = !difference.credential && name != kIgnoreDirectory &&
                          objection_to_ignored(name).empty() && !(is_path && programs == Programs::Differ);
  if (may_ignore) difference.ignore = name;
  return difference;
}

void add_variables(const NoticedLaunch& one, const NoticedLaunch& other, std::vector<Difference>& found) {
  const bool differ = one.noticed.programs != other.noticed.programs;
  const Programs programs = differ ? Programs::Differ : Programs::Same;
  const Variables of_one = by_name(one);
  const Variables of_other = by_name(other);
  Variables both = of_one;
  both.insert(of_other.begin(), of_other.end());
  for (const auto& [name, entries] : both) {
    const auto first = of_one.find(name);
    const auto second = of_other.find(name);
    const bool same = first != of_one.end() && second != of_other.end() && first->second == second->second;
    if (same) continue;
    Difference difference = variable_differs(name, of_one, of_other, programs);
    if (one.noticed.project_follows && config::names_project(name)) {
      // It is another name of the directory.
      if (one.launch.directory != other.launch.directory) continue;
      const bool fixed = one.noticed.directory_fixed || other.noticed.directory_fixed;
      if (!fixed) difference.ignore = kIgnoreDirectory;
    }
    found.push_back(std::move(difference));
  }
}

}  // namespace

bool counts(const Noticed& noticed, std::string_view variable) {
  if (variable == kIgnorePath) return noticed.path;
  return !std::binary_search(noticed.ignored.begin(), noticed.ignored.end(), variable);
}

std::vector<std::string_view> variables_that_count(const proc::LaunchSpec& launch, const Noticed& noticed) {
  std::vector<std::string_view> variables;
  for (const std::string_view entry : launch.environment) {
    if (counts(noticed, name_of(entry))) variables.push_back(entry);
  }
  std::stable_sort(variables.begin(), variables.end(),
                   [](std::string_view a, std::string_view b) { return name_of(a) < name_of(b); });
  return variables;
}

bool refers_to_directory(std::string_view argument, const std::string& directory) {
  if (word_refers_to(argument, directory)) return true;
  constexpr std::string_view kApart = " \t\n'\"`;&|()<>";  // what ends a word for a shell
  if (argument.find_first_of(" \t\n") == std::string_view::npos) return false;
  for (std::size_t begin = 0; begin < argument.size();) {
    const std::size_t end = std::min(argument.find_first_of(kApart, begin), argument.size());
    const std::string_view word = argument.substr(begin, end - begin);
    if (word.starts_with("$PWD") || word.starts_with("${PWD") || word == "pwd") return true;
    if (word_refers_to(word, directory)) return true;
    begin = end + 1;
  }
  return false;
}

Noticed what_server_notices(const proc::LaunchSpec& launch, const KnownServer* known, const Words& ignore) {
  Noticed noticed;
  const bool declared_blind = is_declared(ignore, kIgnoreDirectory);
  const Unnoticed unnoticed = unnoticed_by(known, launch.argv);
  const bool known_blind = !unnoticed.directory.empty() && !launcher_looks_around(*known, launch);
  noticed.directory_fixed = needs_directory(launch, unnoticed);
  noticed.directory = !(declared_blind || known_blind) || noticed.directory_fixed;
  // In a command line, `$PATH` or `-e PATH` passes it on by itself.
  const bool finds_only_these = !unnoticed.path.empty() && !is_in_command_line(launch, kIgnorePath);
  noticed.path = !(finds_only_these || is_declared(ignore, kIgnorePath));
  noticed.programs = programs_of(launch, finds_only_these ? helpers_of(*known, unnoticed) : Words{});
  for (const std::string& name : ignore) {
    if (name == kIgnoreDirectory || name == kIgnorePath) continue;
    noticed.declared.push_back(name);
    // Sessions with different credentials must not share a process, whatever the variable is called.
    const bool secret = names_secret(name) || looks_secret(proc::environment_value(launch.environment, name));
    if (!secret) noticed.ignored.push_back(name);
  }
  for (Words* const names : {&noticed.declared, &noticed.ignored}) {
    std::sort(names->begin(), names->end());
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  return noticed;
}

std::vector<Difference> differences(const NoticedLaunch& one, const NoticedLaunch& other) {
  std::vector<Difference> found;
  const auto note = [&found](const char* name) { found.push_back({.name = name}); };
  const proc::LaunchSpec& a = one.launch;
  const proc::LaunchSpec& b = other.launch;
  if (a.argv != b.argv) note("the command line");
  if (a.directory != b.directory) {
    const bool fixed = one.noticed.directory_fixed || other.noticed.directory_fixed;
    found.push_back({.name = "the directory",
                     .ignore = fixed ? "" : std::string(kIgnoreDirectory),
                     .is_directory = true});
  }
  if (programs_that_count(one.noticed) != programs_that_count(other.noticed))
    note("the program that PATH finds");
  add_variables(one, other, found);
  if (one.noticed.declared != other.noticed.declared) note("what is ignored");
  if (a.containment != b.containment) note("containment");
  if (a.limits.memory_bytes != b.limits.memory_bytes || a.limits.processes != b.limits.processes ||
      a.limits.cpu_thousandths != b.limits.cpu_thousandths) {
    note("the limits");
  }
  if (a.stdin_grace != b.stdin_grace || a.term_grace != b.term_grace || a.kill_grace != b.kill_grace) {
    note("the grace periods");
  }
  if (a.on_stop != b.on_stop) note("on_stop");
  return found;
}

}  // namespace corral::knowledge
