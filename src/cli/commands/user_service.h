// The user's service manager: its unit files, and `systemctl --user`. A file without corral's mark belongs to
// somebody else and is never changed.
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

struct ManagerCall {
  int code = -1;     // exit code; -1 = it could not be run, or took too long
  std::string said;  // stdout and stderr, without the last line break

  bool worked() const { return code == 0; }
};

/// Runs systemctl --user WORD... and waits for it. After half a minute it is killed.
ManagerCall call_manager(const std::vector<std::string>& words);

/// Whether the user's service manager is running and answers.
bool manager_answers();

}  // namespace corral::cli
