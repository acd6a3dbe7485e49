#include "daemon/server_definitions.h"

#include <unistd.h>

#include <compare>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/version_order.h"
#include "daemon/http_root.h"
#include "proc/command_lookup.h"
#include "version.h"
#include "wire/error_codes.h"

namespace corral::daemon {
namespace {

Environment own_environment() {
  Environment environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  return environment;
}

std::string home_folder() {
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? home : "/";
}

}  // namespace

void use_own_launch_context(control::Hello& hello) {
  hello.environment = own_environment();
  hello.cwd = std::string(1, '/');  // not "/": g++ 12 sees an overlap there and warns
  hello.root.clear();
}

ServerDefinitions::ServerDefinitions(config::Configuration first, ReadAgain read_again, Shares& shares)
    : configuration_(std::move(first)), read_again_(std::move(read_again)), shares_(shares) {}

Result<config::Changes> ServerDefinitions::read_again() {
  Result<config::Configuration> read = read_again_();
  if (!read) {
    error_ = read.error().message;
    return read.error();
  }
  error_.clear();
  config::Changes changes = config::changes(configuration_, *read);
  configuration_ = std::move(*read);
  specs_.clear();  // the same command may have other rules now
  return changes;
}

void ServerDefinitions::serve_only(std::vector<std::string> argv, std::string cwd, Environment environment) {
  only_.server = names_.name_for(argv, "", cwd, std::string(proc::environment_value(environment, "PATH")),
                                 [](const std::string&) { return false; });
  only_.argv = std::move(argv);
  only_.cwd = std::move(cwd);
  only_.environment = keep(std::move(environment));
}

std::shared_ptr<const Environment> ServerDefinitions::keep(Environment environment) {
  return environments_.keep(std::move(environment));
}

Origin ServerDefinitions::origin_of(control::Hello& hello) {
  Origin origin;
  origin.server = hello.server;
  if (origin.server.empty()) {
    origin.server = names_.name_for(hello.argv, hello.name, hello.cwd,
                                    std::string(proc::environment_value(hello.environment, "PATH")),
                                    [this](const std::string& name) { return find(name) != nullptr; });
  }
  origin.argv = std::move(hello.argv);
  origin.cwd = std::move(hello.cwd);
  origin.root = std::move(hello.root);
  origin.share = std::move(hello.share);
  origin.ignore = std::move(hello.ignore);
  origin.environment = keep(std::exchange(hello.environment, {}));
  for (const std::string& key : locked_wishes(origin, configuration_)) {
    log_line("--" + key + " of a client of " + origin.server + " has no effect, because " +
                 configuration_.lock_of(key)->text() + " locks it",
             LogLevel::Warn);
  }
  return origin;
}

std::variant<Origin, transport::HttpRefusal> ServerDefinitions::origin_of(
    const transport::HttpArrival& arrival) {
  Origin origin;
  if (!only_.argv.empty() && arrival.server == only_.server) origin = only_;
  origin.server = arrival.server;
  if (!origin.environment) origin.environment = keep(own_environment());
  if (origin.cwd.empty()) origin.cwd = home_folder();
  if (arrival.principal != "user") origin.principal = arrival.principal;
  auto root = root_for(arrival, find(arrival.server));
  if (auto* const refusal = std::get_if<transport::HttpRefusal>(&root)) return std::move(*refusal);
  if (std::get<std::string>(root).empty()) return origin;
  Result<std::string> folder = project_folder(std::get<std::string>(root));
  if (!folder) {
    return transport::HttpRefusal{400, wire::kInvalidRequest, folder.error().message, "", ""};
  }
  origin.root = *folder;
  origin.cwd = std::move(*folder);
  return origin;
}

Result<std::shared_ptr<const pool::ServerSpec>> ServerDefinitions::spec_for(const Origin& origin) {
  Result<pool::ServerSpec> found = resolve(origin, configuration_);
  if (!found) return found.error();
  found->account = &shares_.account(origin.principal);
  return specs_.keep(std::move(*found));
}

Result<void> ServerDefinitions::check(const Origin& origin) const {
  const auto found = resolve(origin, configuration_);
  if (!found) return found.error();
  return {};
}

std::optional<transport::HttpRefusal> ServerDefinitions::objection(
    const transport::HttpArrival& arrival) const {
  if (arrival.principal == "user") return std::nullopt;
  auto root = root_for(arrival, find(arrival.server));
  if (auto* const refusal = std::get_if<transport::HttpRefusal>(&root)) return std::move(*refusal);
  return std::nullopt;
}

std::string ServerDefinitions::too_old(const control::Hello& hello) const {
  const std::string& least = options().min_version;
  if (least.empty()) return {};
  const auto order = compare_versions(hello.version, least);
  if (order && std::is_gteq(*order)) return {};
  // The daemon may be too old itself, and then its own corral would be refused as well.
  const auto own = compare_versions(kVersion, least);
  const auto set = configuration_.option_places.find("min_version");
  const std::string file = set == configuration_.option_places.end() ? configuration_.file : set->second.file;
  const bool of_machine = !file.empty() && file == configuration_.machine_file;
  const std::string lower = of_machine ? "ask the administrator of this machine to lower \"min_version\""
                                       : "lower \"min_version\" and end the daemon with `corral shutdown`";
  const std::string next = own && std::is_gteq(*own)
                               ? std::string("use the corral that the daemon runs (") + kVersion + ")"
                               : "update corral, or " + lower;
  return "a corral of version " + (hello.version.empty() ? "unknown" : hello.version) +
         " may not speak to this daemon: \"min_version\" in " + file + " asks for " + least + " or later; " +
         next;
}

}  // namespace corral::daemon
