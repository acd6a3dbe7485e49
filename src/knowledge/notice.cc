#include "knowledge/notice.h"

#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>

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

/// npx and its kin prefer a package that the project has installed, and read the project's .npmrc.
bool launcher_looks_around(const std::string& package, const std::string& directory) {
  for (std::string at = directory; at.size() > 1; at.erase(std::max<std::size_t>(at.rfind('/'), 1))) {
    if (exists(std::string(at).append("/node_modules/").append(package)) || exists(at + "/.npmrc"))
      return true;
  }
  return false;
}

bool needs_directory(const proc::LaunchSpec& launch) {
  const Words& argv = launch.argv;
  return std::any_of(argv.begin(), argv.end(), [&launch](const std::string& argument) {
    return refers_to_directory(argument, launch.directory);
  });
}

bool is_declared(const Words& ignore, std::string_view what) {
  return std::find(ignore.begin(), ignore.end(), what) != ignore.end();
}

/// The files that a launch finds through PATH before the server runs: its program, and the node that npm's
/// launchers and scripts start.
Words programs_of(const proc::LaunchSpec& launch, bool through_npm) {
  Words found;
  Words names{launch.argv.front()};
  if (through_npm) names.emplace_back("node");
  for (const std::string& name : names) {
    const auto program = proc::find_command(name, launch.environment, launch.directory);
    char real[PATH_MAX];
    const bool resolved = program && realpath(program->path.c_str(), real) != nullptr;
    found.emplace_back(resolved ? real : name);
  }
  return found;
}

using Variables = std::map<std::string_view, std::string_view>;

/// Without what does not matter.
Variables variables_of(const NoticedLaunch& from) {
  Variables variables;
  for (const std::string& entry : from.launch.environment) {
    const std::string_view text = entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (counts(from.noticed, name)) variables.emplace(name, text.substr(equals + 1));
  }
  return variables;
}

}  // namespace

bool counts(const Noticed& noticed, std::string_view variable) {
  if (variable == kIgnorePath) return noticed.path;
  return !std::binary_search(noticed.ignored.begin(), noticed.ignored.end(), variable);
}

bool refers_to_directory(std::string_view argument, const std::string& directory) {
  // `--file=notes.md`: the value is the path.
  if (argument.starts_with("-")) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string_view::npos) return false;
    argument.remove_prefix(equals + 1);
  }
  if (argument.empty() || argument.starts_with("/") || argument.find("://") != std::string_view::npos)
    return false;
  if (argument == "." || argument == ".." || argument.starts_with("./") || argument.starts_with("../"))
    return true;
  return exists(directory + "/" + std::string(argument));
}

Noticed what_server_notices(const proc::LaunchSpec& launch, const KnownServer* known, const Words& ignore) {
  Noticed noticed;
  const bool declared_blind = is_declared(ignore, kIgnoreDirectory);
  const bool known_blind = known != nullptr && !known->alone.empty() &&
                           !launcher_looks_around(std::string(known->package.substr(4)), launch.directory);
  noticed.directory = !(declared_blind || known_blind) || needs_directory(launch);
  const bool known_alone = known != nullptr && !known->alone.empty();
  noticed.path = !(known_alone || is_declared(ignore, kIgnorePath));
  if (!noticed.path) noticed.programs = programs_of(launch, known_alone);
  for (const std::string& name : ignore) {
    if (name == kIgnoreDirectory || name == kIgnorePath) continue;
    // Sessions with different credentials must not share a process, whatever the variable is called.
    const bool secret = names_secret(name) || looks_secret(proc::environment_value(launch.environment, name));
    if (!secret) noticed.ignored.push_back(name);
  }
  std::sort(noticed.ignored.begin(), noticed.ignored.end());
  return noticed;
}

std::vector<std::string> differences(const NoticedLaunch& one, const NoticedLaunch& other) {
  std::vector<std::string> found;
  const auto note = [&found](bool differs, std::string name) {
    if (differs) found.push_back(std::move(name));
  };
  const proc::LaunchSpec& a = one.launch;
  const proc::LaunchSpec& b = other.launch;
  note(a.argv != b.argv, "the command line");
  note(a.directory != b.directory, "the directory");
  note(one.noticed.programs != other.noticed.programs, "the program that PATH finds");
  const Variables of_one = variables_of(one);
  const Variables of_other = variables_of(other);
  Variables both = of_one;
  both.insert(of_other.begin(), of_other.end());
  for (const auto& [name, value] : both) {
    const auto first = of_one.find(name);
    const auto second = of_other.find(name);
    const bool same = first != of_one.end() && second != of_other.end() && first->second == second->second;
    note(!same, std::string(name));
  }
  note(a.containment != b.containment, "containment");
  note(a.limits.memory_bytes != b.limits.memory_bytes || a.limits.processes != b.limits.processes ||
           a.limits.cpu_thousandths != b.limits.cpu_thousandths,
       "the limits");
  note(a.stdin_grace != b.stdin_grace || a.term_grace != b.term_grace || a.kill_grace != b.kill_grace,
       "the grace periods");
  note(a.on_stop != b.on_stop, "on_stop");
  return found;
}

}  // namespace corral::knowledge
