#include "daemon/command_names.h"

#include "knowledge/launch_key.h"
#include "known/command_name.h"

namespace corral::daemon {
namespace {

// Clients choose names, so they must not be able to fill the daemon with them.
constexpr std::size_t kMostNames = 4096;
constexpr std::size_t kDigits = 6;

}  // namespace

std::string CommandNames::name_for(const std::vector<std::string>& argv, const std::string& chosen,
                                   const std::string& directory, const std::string& path,
                                   const IsConfigured& is_configured) {
  const known::CommandName found = known::command_name(argv, directory, path);
  const std::string& name = chosen.empty() ? found.name : chosen;
  const auto owner = programs_.find(name);
  const bool free = owner == programs_.end() ? programs_.size() < kMostNames && !is_configured(name)
                                             : owner->second == found.identity;
  if (free) return keep(name, found.identity);
  return keep(name + "-" + knowledge::name_digest(found.identity).substr(0, kDigits), found.identity);
}

std::vector<std::string> CommandNames::all() const {
  std::vector<std::string> names;
  for (const auto& [name, identity] : programs_) names.push_back(name);
  return names;
}

std::string CommandNames::keep(const std::string& name, const std::string& identity) {
  if (programs_.size() < kMostNames) programs_.emplace(name, identity);
  return name;
}

}  // namespace corral::daemon
