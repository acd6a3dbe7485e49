#include "knowledge/notice.h"

#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>

#include "base/ignored_words.h"
#include "base/secrets.h"
#include "known/server_command.h"
#include "proc/command_lookup.h"

namespace corral::knowledge {
namespace {

using Words = std::vector<std::string>;

bool exists(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0;
}

/// npx and its kin prefer a package that the project has installed, and read the project's .npmrc. The one in
/// the home directory is the user's own, for all projects.
bool launcher_looks_around(const std::string& package, const proc::LaunchSpec& launch) {
  std::string_view home = proc::environment_value(launch.environment, "HOME");
  while (home.size() > 1 && home.ends_with('/')) home.remove_suffix(1);
  for (std::string at = launch.directory; at.size() > 1; at.erase(std::max<std::size_t>(at.rfind('/'), 1))) {
    if (exists(std::string(at).append("/node_modules/").append(package))) return true;
    if (at != home && exists(at + "/.npmrc")) return true;
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

bool needs_directory(const proc::LaunchSpec& launch) {
  const Words& argv = launch.argv;
  if (argv.empty()) return false;
  return is_found_nearby(argv.front(), launch) ||
         std::any_of(argv.begin(), argv.end(), [&launch](const std::string& argument) {
           return refers_to_directory(argument, launch.directory);
         });
}

bool is_declared(const Words& ignore, std::string_view what) {
  return std::find(ignore.begin(), ignore.end(), what) != ignore.end();
}

/// The files that a launch finds through PATH before the server runs: its program, and for a known package
/// the node that npm's launchers and scripts start.
Words programs_of(const proc::LaunchSpec& launch, const KnownServer* package) {
  Words found;
  if (launch.argv.empty()) return found;
  Words names{launch.argv.front()};
  if (package != nullptr) names.emplace_back("node");
  for (const std::string& name : names) {
    const auto program = proc::find_command(name, launch.environment, launch.directory);
    char real[PATH_MAX];
    const bool resolved = program && realpath(program->path.c_str(), real) != nullptr;
    found.emplace_back(resolved ? real : name);
  }
  return found;
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
    if (!same) found.push_back(variable_differs(name, of_one, of_other, programs));
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
  const bool known_blind = known != nullptr && !known->alone.empty() &&
                           !launcher_looks_around(std::string(known->package.substr(4)), launch);
  noticed.directory_fixed = needs_directory(launch);
  noticed.directory = !(declared_blind || known_blind) || noticed.directory_fixed;
  const bool known_alone = known != nullptr && !known->alone.empty();
  noticed.path = !(known_alone || is_declared(ignore, kIgnorePath));
  noticed.programs = programs_of(launch, known_alone ? known : nullptr);
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
