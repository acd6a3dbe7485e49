// `corral connect`: the program that a client starts in place of a server. It passes the client's pipes to
// the daemon and then waits for the end. If no daemon is available it does what `corral run` does, so that a
// client never loses a server because of corral.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "control/hello.h"

namespace corral::shim {

struct ConnectOptions {
  std::string runtime_dir;          // empty = the user's default
  std::string config_file;          // empty = the default file
  std::string server;               // a configured name; empty = use `argv`
  std::vector<std::string> argv;    // the client's own command
  std::string name;                 // for the command; empty = the daemon finds one
  std::string share;                // "", "shared", "session" or "root"
  std::vector<std::string> ignore;  // what makes no difference to the command
  std::string session;              // the session object that this session belongs to; empty = none
  std::string root;    // of the project: absolute, without symbolic links; empty = the working directory
  bool quiet = false;  // print no advice about sharing, and no reason that the client gets as an answer
  bool require_daemon = false;
  bool verbose = false;
};

inline constexpr int kNoDaemon = 69;    // EX_UNAVAILABLE
inline constexpr int kDaemonDied = 75;  // EX_TEMPFAIL: try again

/// A hello with our working directory, environment and confinement.
Result<control::Hello> hello_from_here(control::Verb verb);

/// Runs the session and returns the exit code. Call once, early, from a single thread; descriptors 0 to 2
/// must be open.
int connect(const ConnectOptions& options);

}  // namespace corral::shim
