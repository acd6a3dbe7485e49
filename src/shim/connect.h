// `corral connect`: what a client starts in place of a server. It hands the client's pipes to the daemon and
// then only waits for the end. Where no daemon can be had it does what `corral run` does, so that a client
// never loses a server because of us.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "control/hello.h"

namespace corral::shim {

struct ConnectOptions {
  std::string runtime_dir;        // empty = where the user's daemon is
  std::string config_file;        // empty = the default one
  std::string server;             // a configured name; empty = `argv`
  std::vector<std::string> argv;  // a command of the client's own
  std::string share;              // "", "shared", "session" or "root"
  std::string session;            // the session object that it belongs to; empty = none
  std::string root;               // the project, absolute and without symbolic links; empty = our directory
  bool require_daemon = false;
  bool verbose = false;
};

inline constexpr int kNoDaemon = 69;    // EX_UNAVAILABLE
inline constexpr int kDaemonDied = 75;  // EX_TEMPFAIL: try again

/// A hello that says where we are and what is around us.
Result<control::Hello> hello_from_here(control::Verb verb);

/// Returns the exit code. Call it once, early, from a single thread; descriptors 0 to 2 are open.
int connect(const ConnectOptions& options);

}  // namespace corral::shim
