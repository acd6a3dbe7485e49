// The check of a process right before a signal, after it was opened: whatever it was when it was selected,
// ending it must still be allowed.
#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

namespace corral::reap {

struct LastLook {
  bool there = false;
  char state = '?';
  uid_t real = 0;
  uid_t effective = 0;
  pid_t tracer = 0;  // pid of a debugger; 0 = none
};

/// Parses the text of /proc/PID/status.
LastLook parse_status(std::string_view text);

/// Call only for a process that is held open by a pidfd, so that its pid cannot be reused before it is
/// reaped.
LastLook look(pid_t pid);

/// This process and all its ancestors.
std::vector<pid_t> own_line();

}  // namespace corral::reap
