#include "shim/fallback.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/words.h"
#include "config/environment.h"
#include "proc/keeper_spawner.h"
#include "run/outer.h"
#include "shim/error_output.h"
#include "shim/root.h"

namespace corral::shim {
namespace {

Error not_configured(const std::string& name, const config::Configuration& configuration) {
  std::vector<std::string> names;
  std::string list;
  for (const config::Server& server : configuration.servers) {
    names.push_back(server.name);
    list += (list.empty() ? "" : ", ") + server.name;
  }
  const std::string nearest = nearest_word(name, names);
  return Error{
      "no server '" + name + "' is configured in " + configuration.file + ": " +
      (nearest.empty() ? "" : "did you mean " + nearest + "? ") +
      (list.empty() ? "it has no servers; add one, or `corral import` a client's file" : "it has " + list)};
}

/// The project directory that the daemon would use.
std::string root_of(const ConnectOptions& options) {
  std::error_code error;
  return options.root.empty() ? std::filesystem::current_path(error).string() : options.root;
}

Instead refuse(const Error& error) { return {std::nullopt, error.message, run::exit_code_of(error)}; }

}  // namespace

bool needs_daemon(const config::Server& entry) { return config::limits_tools(entry); }

Instead find_instead(const ConnectOptions& options) {
  if (!options.session.empty()) {
    return {std::nullopt,
            "session " + options.session + " exists only in the daemon, so its server cannot run without it",
            kNoDaemon};
  }
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  if (options.server.empty()) {
    proc::LaunchSpec spec;
    spec.argv = options.argv;
    spec.environment = std::move(environment);
    if (options.share == "root") spec.directory = options.root;
    return {std::move(spec), "", 0};
  }
  const Result<config::Configuration> configuration =
      config::read(options.config_file.empty() ? config::default_file() : options.config_file);
  if (!configuration) return refuse(configuration.error());
  Result<proc::LaunchSpec> spec = launch_configured(options.server, *configuration, environment, options);
  if (!spec) return refuse(spec.error());
  if (const config::Server& entry = *configuration->find(options.server); needs_daemon(entry)) {
    return {std::nullopt,
            "the server '" + options.server +
                "' cannot run without the daemon: only the daemon can enforce its list of tools in " +
                entry.file,
            kNoDaemon};
  }
  return {std::move(*spec), "", 0};
}

Result<proc::LaunchSpec> launch_configured(const std::string& name,
                                           const config::Configuration& configuration,
                                           const std::vector<std::string>& environment,
                                           const ConnectOptions& options) {
  const config::Server* entry = configuration.find(name);
  if (entry == nullptr) return not_configured(name, configuration);
  if (entry->disabled) return Error{"the server '" + name + "' is disabled in " + entry->file};
  const Result<config::Server> server = config::expand(*entry, with_root(environment, root_of(options)));
  if (!server) return server.error();
  const bool may_choose = configuration.lock_of("share") == nullptr;
  const std::string share = may_choose ? options.share : "";
  const bool by_root = share == "root" || (share.empty() && server->share == config::Share::Root);
  proc::LaunchSpec spec;
  spec.argv = server->argv;
  spec.environment = config::environment_for_entry(environment, *server);
  spec.directory = server->cwd.empty() && by_root ? options.root : server->cwd;
  spec.containment = server->containment;
  spec.limits = server->limits;
  spec.stdin_grace = server->stdin_grace;
  spec.term_grace = server->term_grace;
  spec.on_stop = server->on_stop;
  return spec;
}

int run_instead(const proc::LaunchSpec& spec, const run::OuterOptions& options) {
  Result<proc::KeeperSpawner> spawner = proc::KeeperSpawner::create();
  if (!spawner) {
    StderrWriter().say(spawner.error().message);
    return run::exit_code_of(spawner.error());
  }
  return run::run_session(*spawner, spec, options);
}

}  // namespace corral::shim
