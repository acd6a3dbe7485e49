// What the adversary was asked to be, from its command line.
#pragma once

#include <string>
#include <vector>

#include "lifetime.h"

namespace corral::fakes {

enum class Role { Server, Helper };

struct AdversaryOptions {
  std::string program;            // for helpers that exec themselves again
  std::string tag;                // how the test finds us in /proc
  long life_seconds = 30;         // at most 60
  std::vector<std::string> grow;  // trees to build before the first read, "kind:count"
  std::string setuid_program;     // a set-uid copy of this program
  Role role = Role::Server;
  bool become_root = false;  // helper of a set-uid copy: take the uid that the file gives
  int ready_fd = -1;         // helper: one byte here says that it is in place
  bool ignore_eof = false;
  bool ignore_term = false;
  bool count_signals = false;
  std::string alive_lock;  // locked as long as any process lives that did not close it
  long slow_start_ms = 0;
  int exit_code = 0;  // at end of input

  Deadline deadline() const { return Deadline::in_seconds(life_seconds); }
};

// Ends the process with a message if the command line is wrong: a typo in a test must not look like a result.
AdversaryOptions parse_adversary_options(int argc, char** argv);

}  // namespace corral::fakes
