// The names of commands that clients bring along, instead of a configured server. A name belongs to one
// program for as long as the daemon runs, so that no log, metric or row of `ps` mixes two of them. Owned by
// ServerDefinitions; used on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace corral::daemon {

class CommandNames {
 public:
  /// Whether a configured server has the name.
  using IsConfigured = std::function<bool(const std::string& name)>;

  /// The name for a command that a client in `directory` sends. `chosen` is the name that its user has given
  /// it; empty = none. If the name belongs to another program already, some digits are appended, which are
  /// always the same for a program.
  std::string name_for(const std::vector<std::string>& argv, const std::string& chosen,
                       const std::string& directory, const std::string& path,
                       const IsConfigured& is_configured);

  /// Every name that was given.
  std::vector<std::string> all() const;

 private:
  std::string keep(const std::string& name, const std::string& identity);

  std::map<std::string, std::string> programs_;  // by name
};

}  // namespace corral::daemon
