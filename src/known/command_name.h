// A short name for a command, as people would call it: the package behind npx or docker, the script behind
// node or python. Reads the file system as `understand` does; never runs anything.
#pragma once

#include <string>
#include <vector>

namespace corral::known {

/// At most 64 letters, digits, '.', '_' and '-', for tables, logs and metrics; never empty and never
/// "corral". Two commands may have the same name. `identity` is the same for two commands that run the same
/// program, wherever they are started.
struct CommandName {
  std::string name;
  std::string identity;
};
CommandName command_name(const std::vector<std::string>& argv, const std::string& directory,
                         const std::string& path);

/// The name with '-' in place of what a name must not have; empty if nothing is left.
std::string plain_name(const std::string& name);

/// Why a user may not choose this name; empty if it is valid.
std::string objection_to_name(const std::string& name);

}  // namespace corral::known
