#include "known/config_places.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/text.h"

namespace corral::known {
namespace {

constexpr std::size_t kMostNames = 10'000;  // looked at in a folder
constexpr std::size_t kMostFiles = 64;

/// Replaces FOLDER/*SUFFIX by the files of that folder which end so, in the order of their names.
std::vector<PlacedFile> by_suffix(const PlacedFile& pattern) {
  const std::size_t star = pattern.path.rfind('*');
  const std::string_view suffix = std::string_view(pattern.path).substr(star + 1);
  std::vector<PlacedFile> found;
  std::error_code error;
  std::size_t left = kMostNames;
  for (std::filesystem::directory_iterator at(pattern.path.substr(0, star), error), end;
       !error && at != end && left-- > 0 && found.size() < kMostFiles; at.increment(error)) {
    std::string path = at->path().string();
    if (path.ends_with(suffix)) found.push_back({std::move(path), pattern.project});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

}  // namespace

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
  if (path.find('*') == std::string_view::npos) return found;
  std::vector<PlacedFile> matching;
  for (const PlacedFile& pattern : found) {
    for (PlacedFile& one : by_suffix(pattern)) matching.push_back(std::move(one));
  }
  return matching;
}

}  // namespace corral::known
