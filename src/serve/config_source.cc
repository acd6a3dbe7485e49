#include "serve/config_source.h"

#include <filesystem>
#include <system_error>

namespace corral::serve {

ConfigSource::ConfigSource(const std::string& given, config::MachineFile machine)
    : file_(given.empty() ? config::default_file() : given),
      machine_(std::move(machine)),
      required_(!given.empty()) {}

ConfigSource ConfigSource::without_file(config::MachineFile machine) {
  ConfigSource source;
  source.machine_ = std::move(machine);
  return source;
}

Result<config::Configuration> ConfigSource::read() {
  Result<config::Configuration> configuration = read_files();
  if (!configuration) return configuration;
  std::vector<config::Server>& servers = configuration->servers;
  servers.insert(servers.end(), built_in_.begin(), built_in_.end());
  return configuration;
}

Result<config::Configuration> ConfigSource::read_files() {
  Result<config::Configuration> configuration = file_.empty() ? config::read_machine(machine_) : read_users();
  if (!configuration) return configuration;
  if (configuration->machine_file.empty() && machine_found_) {
    return Error{
        "the administrator's file '" + machine_.path +
        "' was in force and is gone. Put it back, or start the daemon again without it: `corral serve "
        "--replace`."};
  }
  machine_found_ = !configuration->machine_file.empty();
  if (!file_.empty()) return configuration;
  configuration->file.clear();
  configuration->servers.clear();
  return configuration;
}

Result<config::Configuration> ConfigSource::read_users() {
  Result<config::Configuration> configuration = config::read(file_, machine_);
  const bool of_machine_alone = configuration && configuration->file != file_;
  std::error_code unknown;
  // Unless it is the machine's file under another name.
  if (of_machine_alone && required_ && !std::filesystem::exists(file_, unknown)) {
    return Error{"there is no configuration at '" + file_ + "' any more. Put it back."};
  }
  if (configuration && !of_machine_alone) {
    found_ = true;
    required_ = true;
  }
  if (configuration || required_ || configuration.error().kind != Error::Kind::NotFound) return configuration;
  return config::default_configuration();
}

}  // namespace corral::serve
