#include "known/config_places.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace corral::known {

ConfigScope scope_of(const ConfigFile& file) {
  if (file.path.starts_with("./")) return ConfigScope::Project;
  return file.path.starts_with("/") ? ConfigScope::Machine : ConfigScope::User;
}

std::vector<PlacedFile> places_of(const ConfigFile& file, const ConfigPlaces& places) {
  const std::string_view path = file.path;
  std::vector<PlacedFile> found;
  const std::string rest(path.substr(std::min(path.find('/'), path.size())));
  if (path.starts_with("~/")) {
    const std::string config = variable(places.environment, "XDG_CONFIG_HOME");
    constexpr std::string_view kConfig = "/.config/";
    if (!places.home.empty()) found.push_back({places.home + rest, {}});
    if (rest.starts_with(kConfig) && config.starts_with("/")) {
      found.push_back({config + rest.substr(kConfig.size() - 1), {}});
    }
  } else if (path.starts_with("$")) {
    const std::string folder = variable(places.environment, std::string(path.substr(1, path.find('/') - 1)));
    if (folder.starts_with("/")) found.push_back({folder + rest, {}});
  } else if (path.starts_with("./")) {
    for (const std::string& root : places.project_roots) found.push_back({root + rest, root});
  } else {
    found.push_back({std::string(path), {}});
  }
  return found;
}

}  // namespace corral::known
