// Runs `systemctl --user` to talk to the user's service manager.
#pragma once

#include <string>
#include <vector>

namespace corral::cli {

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
