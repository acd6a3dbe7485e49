// Unit files that corral writes for a service manager and removes again. A file without corral's mark belongs
// to somebody else and is never changed.
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

/// Replaces each file atomically; writes none if one of them would replace a foreign file. Returns the paths
/// of the files that were missing or different.
Result<std::vector<std::string>> write_units(const std::vector<UnitFile>& files);

/// True if the file existed. A foreign file is an error and stays.
Result<bool> remove_unit(const std::string& path);

/// $XDG_CONFIG_HOME/systemd/user, else ~/.config/systemd/user.
std::string unit_folder();

}  // namespace corral::cli
