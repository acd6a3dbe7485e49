#include "config/configuration.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/system_users.h"
#include "config/file.h"
#include "config/locks.h"

namespace corral::config {
namespace {

bool same_file(const std::string& one, const std::string& other) {
  std::error_code unknown;
  return one == other || std::filesystem::equivalent(one, other, unknown);
}

}  // namespace

const Server* Configuration::find(std::string_view name) const {
  const auto found =
      std::find_if(servers.begin(), servers.end(), [&](const Server& server) { return server.name == name; });
  return found == servers.end() ? nullptr : &*found;
}

const FilePlace* Configuration::lock_of(std::string_view key) const {
  const auto found =
      std::find_if(locks.begin(), locks.end(), [&](const auto& lock) { return covers_key(lock.first, key); });
  return found == locks.end() ? nullptr : &found->second;
}

Configuration default_configuration() {
  Configuration configuration;
  configuration.options.keep = keep_from_environment_or_default();
  return configuration;
}

Result<Configuration> read_machine(const MachineFile& machine) {
  const Result<FileText> text = read_machine_text(machine);
  if (text) return parse_machine(text->text, machine.path);
  if (text.error().kind != Error::Kind::NotFound) return text.error();
  return default_configuration();
}

Result<Configuration> read(const std::string& file, const MachineFile& machine) {
  Result<Configuration> below = read_machine(machine);
  if (!below) return below;
  const bool has_machine_file = !below->machine_file.empty();
  if (has_machine_file && same_file(file, machine.path)) return below;
  const Result<FileText> text = read_text(file);
  if (text) return parse(text->text, file, *below);
  if (text.error().kind != Error::Kind::NotFound) return text.error();
  if (has_machine_file && file == default_file()) return below;
  return Error{"there is no configuration at '" + file +
                   "'. Run `corral add NAME -- COMMAND`, or `corral import FILE` with a client's file.",
               Error::Kind::NotFound};
}

std::string default_file() {
  const char* variable = getenv("XDG_CONFIG_HOME");
  const bool usable = variable != nullptr && variable[0] == '/';
  return (usable ? std::string(variable) : home_directory() + "/.config") + "/corral/config.json";
}

}  // namespace corral::config
