// Files that we write for a service manager and take away again. What does not carry our mark is somebody
// else's, and stays as it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace corral::cli {

struct UnitFile {
  std::string path;
  std::string text;
};

enum class UnitState : std::uint8_t { Missing, Ours, Foreign };

UnitState state_of(const std::string& path);

/// Each at once or not at all; none if one of them is in the place of a foreign file. Says which were not
/// there as they are now.
Result<std::vector<std::string>> write_units(const std::vector<UnitFile>& files);

/// True if it was there. A foreign file is an error.
Result<bool> remove_unit(const std::string& path);

/// $XDG_CONFIG_HOME/systemd/user, else ~/.config/systemd/user.
std::string unit_folder();

}  // namespace corral::cli
