#include "daemon/origin.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/words.h"
#include "config/environment.h"
#include "knowledge/launch_key.h"
#include "knowledge/notice.h"
#include "knowledge/passed_variables.h"
#include "proc/command_lookup.h"
#include "shim/root.h"

namespace corral::daemon {
namespace {

const std::string& root_of(const Origin& origin) { return origin.root.empty() ? origin.cwd : origin.root; }

void apply_share(const std::string& share, pool::ServerSpec& spec) {
  if (share == "shared") spec.entry.share = config::Share::Shared;
  if (share == "session") spec.entry.share = config::Share::Session;
  if (share == "root") spec.entry.share = config::Share::Root;
}

/// With its length, because a name or a directory may contain anything.
std::string part_of_key(const char* what, const std::string& text) {
  return std::string("\n")
      .append(what)
      .append(" ")
      .append(std::to_string(text.size()))
      .append(":")
      .append(text);
}

/// Sets the directory and the key, once it is known how the server is shared.
void settle(const Origin& origin, const std::string& pinned, pool::ServerSpec& spec) {
  apply_share(origin.share, spec);
  const bool by_root = spec.entry.share == config::Share::Root;
  if (by_root) spec.root = root_of(origin);
  spec.launch.directory = !pinned.empty() ? pinned : by_root ? spec.root : origin.cwd;
  const std::string_view path = proc::environment_value(spec.launch.environment, "PATH");
  spec.known = knowledge::find_known_server(spec.launch.argv, spec.launch.directory, std::string(path));
  spec.noticed = knowledge::what_server_notices(spec.launch, spec.known, spec.entry.ignore);
  // The entry names the directory, or the home directory is not known: it stays as it is.
  const std::string_view home = proc::environment_value(spec.launch.environment, "HOME");
  if (!pinned.empty() || by_root || !home.starts_with('/')) {
    spec.noticed.directory = spec.noticed.directory_fixed = true;
  }
  if (!spec.noticed.directory) spec.launch.directory = home;
  // What an entry names always reaches its server, and it gets little else.
  if (!spec.from_configuration) {
    spec.noticed.project_follows = true;
    knowledge::withhold_variables(
        spec.launch, knowledge::unnoticed_by(spec.known, spec.launch.argv),
        spec.noticed.directory ? knowledge::Directory::Counts : knowledge::Directory::Ignored);
  }
  spec.key = knowledge::launch_key(spec.launch, spec.noticed);
  // Two entries may start the same command under different rules; they must not share a process.
  if (spec.from_configuration) spec.key += part_of_key("entry", spec.server);
  // Nor two projects, even if the entry pins the directory.
  if (by_root) spec.key += part_of_key("root", spec.root);
  spec.principal = origin.principal;
  if (!spec.principal.empty()) spec.key += part_of_key("for", spec.principal);
}

pool::ServerSpec command_of(const Origin& origin) {
  pool::ServerSpec spec;
  spec.server = origin.server;
  spec.entry.name = origin.server;
  spec.entry.argv = origin.argv;
  spec.entry.ignore = origin.ignore;
  spec.launch.argv = origin.argv;
  spec.launch.environment = config::environment_for_command(*origin.environment);
  settle(origin, "", spec);
  return spec;
}

void copy_launch(const config::Server& entry, proc::LaunchSpec& spec) {
  spec.argv = entry.argv;
  spec.containment = entry.containment;
  spec.limits = entry.limits;
  spec.stdin_grace = entry.stdin_grace;
  spec.term_grace = entry.term_grace;
  spec.on_stop = entry.on_stop;
}

/// Empty if every tool is allowed. Keeps the two lists, not the whole entry.
std::function<bool(std::string_view)> tool_filter(const config::Server& entry) {
  if (!config::limits_tools(entry)) return nullptr;
  config::Server lists;
  lists.tools = entry.tools;
  lists.deny = entry.deny;
  return [lists = std::move(lists)](std::string_view tool) { return config::allows_tool(lists, tool); };
}

void mix(std::size_t& hash, std::string_view text) {
  constexpr std::size_t kOdd = 0x9e3779b97f4a7c15U;
  hash ^= std::hash<std::string_view>{}(text) + kOdd + (hash << 6) + (hash >> 2);
}

}  // namespace

Error no_such_server(const std::string& name, const config::Configuration& configuration,
                     const std::vector<std::string>& commands) {
  std::vector<std::string> names = commands;
  std::string others;
  constexpr std::size_t kMostListed = 16;
  for (std::size_t i = 0; i < std::min(commands.size(), kMostListed); ++i) {
    others += (i == 0 ? "" : ", ") + commands[i];
  }
  if (commands.size() > kMostListed) {
    others += " and " + std::to_string(commands.size() - kMostListed) + " more";
  }
  if (!others.empty()) others = "; the commands of clients are called " + others;
  std::string list;
  for (const config::Server& server : configuration.servers) {
    names.push_back(server.name);
    if (server.built_in) continue;
    list += (list.empty() ? "" : ", ") + server.name;
  }
  std::vector<std::string> meant = meant_words(name, names);
  for (std::string& one : meant) one.insert(0, "'").append("'");
  const std::string perhaps = any_of(meant);
  return Error{
      "no server is called '" + name + "'" + (perhaps.empty() ? "" : " (perhaps " + perhaps + ")") + "; " +
      (list.empty() ? "none is configured" : "the configured servers are " + list) +
      (configuration.file.empty() ? "" : " in " + configuration.file) + others +
      (configuration.file.empty() && others.empty() ? "; `corral add NAME -- COMMAND` configures one" : "")};
}

std::vector<std::string> locked_wishes(const Origin& origin, const config::Configuration& configuration) {
  std::vector<std::string> keys;
  for (const auto& [key, given] :
       {std::pair{"share", !origin.share.empty()}, std::pair{"ignore", !origin.ignore.empty()}}) {
    if (given && configuration.lock_of(key) != nullptr) keys.emplace_back(key);
  }
  return keys;
}

Result<pool::ServerSpec> resolve(const Origin& origin, const config::Configuration& configuration) {
  if (!locked_wishes(origin, configuration).empty()) {
    Origin bound = origin;
    if (configuration.lock_of("share") != nullptr) bound.share.clear();
    if (configuration.lock_of("ignore") != nullptr) bound.ignore.clear();
    return resolve(bound, configuration);
  }
  if (!origin.configured()) return command_of(origin);
  const config::Server* entry = configuration.find(origin.server);
  if (entry == nullptr) return no_such_server(origin.server, configuration);
  if (entry->disabled) return Error{"server " + origin.server + " is disabled in " + entry->file};
  Result<config::Server> expanded =
      config::expand(*entry, shim::with_root(*origin.environment, root_of(origin)));
  if (!expanded) return expanded.error();
  pool::ServerSpec spec;
  spec.server = expanded->name;
  spec.from_configuration = true;
  copy_launch(*expanded, spec.launch);
  spec.launch.environment = config::environment_for_entry(*origin.environment, *expanded);
  spec.allows_tool = tool_filter(*expanded);
  spec.entry = std::move(*expanded);
  settle(origin, spec.entry.cwd, spec);
  return spec;
}

std::size_t HashEnvironment::operator()(const Environment& environment) const {
  std::size_t hash = environment.size();
  for (const std::string& variable : environment) mix(hash, variable);
  return hash;
}

std::size_t HashServerSpec::operator()(const pool::ServerSpec& spec) const {
  std::size_t hash = static_cast<std::size_t>(spec.entry.share);
  mix(hash, spec.server);
  mix(hash, spec.key);
  return hash;
}

bool SameServerSpec::operator()(const pool::ServerSpec& one, const pool::ServerSpec& other) const {
  return one.key == other.key && one.server == other.server && one.entry.share == other.entry.share &&
         one.root == other.root && one.from_configuration == other.from_configuration;
}

}  // namespace corral::daemon
