// The adversary's main process: a server that reads one request per line from stdin and answers each on
// stdout. It stands for an MCP server without the protocol:
//   {"id":1,"method":"echo","arg":"x"} -> {"id":1,"result":"x"}
#pragma once

#include "adversary_options.h"

namespace corral::fakes {

// Serves until end of input and returns the exit code.
//   echo arg      the argument           pid            own pid, session and group: "pid sid pgid"
//   block ms      sleeps, then answers   signals        signals received so far, "INT=0 QUIT=0 ..."
//   fds           open descriptors       sigstate       masks and dispositions from /proc/self/status
//   env name      value or "(unset)"     cwd            current directory
//   rttime        RLIMIT_RTTIME, hard    tty            whether /dev/tty can be opened
//   grow k:n      see adversary_trees.h  eat MiB        a child that touches that much memory
//   burn          a child that spins     exit code / die signal
//   misname       a child with a name that is neither ASCII nor polite to JSON
int serve(const AdversaryOptions& options);

}  // namespace corral::fakes
