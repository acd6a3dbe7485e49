#include "config/configuration.h"

#include <algorithm>
#include <cstdlib>

#include "base/accounts.h"
#include "config/file.h"

namespace corral::config {

const Server* Configuration::find(std::string_view name) const {
  const auto found =
      std::find_if(servers.begin(), servers.end(), [&](const Server& server) { return server.name == name; });
  return found == servers.end() ? nullptr : &*found;
}

Configuration default_configuration() {
  Configuration configuration;
  configuration.options.keep = keep_from_environment_or_default();
  return configuration;
}

Result<Configuration> read(const std::string& file) {
  const Result<FileText> text = read_text(file);
  if (text) return parse(text->text, file);
  if (text.error().kind != Error::Kind::NotFound) return text.error();
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
