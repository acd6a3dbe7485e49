// Asks the user's service manager, by its own command.
#pragma once

#include <string>
#include <vector>

namespace corral::cli {

struct ManagerCall {
  int code = -1;     // of its exit; -1 = it could not be run, or took too long
  std::string said;  // stdout and stderr, without the last line end

  bool worked() const { return code == 0; }
};

/// systemctl --user WORD...; within half a minute, or it is ended.
ManagerCall call_manager(const std::vector<std::string>& words);

/// Whether there is a user manager that answers.
bool manager_answers();

}  // namespace corral::cli
