// What is checked of a process in the instant before a signal, after it was opened: whoever it was when it
// was chosen, it must still be ours to end.
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
  pid_t tracer = 0;  // a debugger, 0 = none
};

/// The text of /proc/PID/status.
LastLook parse_status(std::string_view text);

/// Only of a process that is held open by a pidfd: its number cannot change hands before it is reaped.
LastLook look(pid_t pid);

/// This process and everything above it.
std::vector<pid_t> own_line();

}  // namespace corral::reap
