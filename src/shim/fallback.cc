#include "shim/fallback.h"

#include <unistd.h>

#include <utility>

#include "base/nearest.h"
#include "proc/keeper_spawner.h"
#include "run/outer.h"
#include "shim/error_output.h"

namespace corral::shim {
namespace {

int fail(const Error& error) {
  ErrorOutput().say(error.message);
  return run::exit_code_of(error);
}

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
      (list.empty() ? "it has none; add one, or `corral import` a client's file" : "it has " + list)};
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  const std::string begin = name + "=";
  std::erase_if(environment, [&begin](const std::string& entry) { return entry.starts_with(begin); });
  environment.push_back(begin + value);
}

Result<proc::LaunchSpec> make_spec(const ConnectOptions& options) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  if (options.server.empty()) {
    proc::LaunchSpec spec;
    spec.argv = options.argv;
    spec.environment = std::move(environment);
    return spec;
  }
  const Result<config::Configuration> configuration =
      config::read(options.config_file.empty() ? config::default_file() : options.config_file);
  if (!configuration) return configuration.error();
  return launch_configured(options.server, *configuration, std::move(environment));
}

}  // namespace

Result<proc::LaunchSpec> launch_configured(const std::string& name,
                                           const config::Configuration& configuration,
                                           std::vector<std::string> environment) {
  const config::Server* entry = configuration.find(name);
  if (entry == nullptr) return not_configured(name, configuration);
  if (entry->disabled) return Error{"the server '" + name + "' is disabled in " + configuration.file};
  const Result<config::Server> server = config::expand(*entry, environment);
  if (!server) return server.error();
  proc::LaunchSpec spec;
  spec.argv = server->argv;
  for (const auto& [variable, value] : server->env) set_variable(environment, variable, value);
  spec.environment = std::move(environment);
  spec.directory = server->cwd;
  spec.containment = server->containment;
  spec.limits = server->limits;
  spec.stdin_grace = server->stdin_grace;
  spec.term_grace = server->term_grace;
  spec.on_stop = server->on_stop;
  return spec;
}

int run_instead(const ConnectOptions& options) {
  const Result<proc::LaunchSpec> spec = make_spec(options);
  if (!spec) return fail(spec.error());
  Result<proc::KeeperSpawner> spawner = proc::KeeperSpawner::create();
  if (!spawner) return fail(spawner.error());
  return run::run_session(*spawner, *spec, run::OuterOptions{false, options.verbose});
}

}  // namespace corral::shim
