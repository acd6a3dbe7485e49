#include "serve/config_source.h"

namespace corral::serve {

ConfigSource::ConfigSource(const std::string& given)
    : file_(given.empty() ? config::default_file() : given), required_(!given.empty()) {}

ConfigSource ConfigSource::without_file() { return {}; }

Result<config::Configuration> ConfigSource::read() {
  Result<config::Configuration> configuration = read_file();
  if (!configuration) return configuration;
  std::vector<config::Server>& servers = configuration->servers;
  servers.insert(servers.end(), built_in_.begin(), built_in_.end());
  return configuration;
}

Result<config::Configuration> ConfigSource::read_file() {
  if (file_.empty()) return config::default_configuration();
  Result<config::Configuration> configuration = config::read(file_);
  if (configuration) {
    found_ = true;
    required_ = true;
    return configuration;
  }
  if (required_ || configuration.error().kind != Error::Kind::NotFound) return configuration.error();
  return config::default_configuration();
}

}  // namespace corral::serve
