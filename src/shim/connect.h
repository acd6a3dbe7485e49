// `corral connect`: what a client starts in place of a server. It hands the client's pipes to the daemon and
// then only waits for the end. Where no daemon can be had it does what `corral run` does, so that a client
// never loses a server because of us.
#pragma once

#include <string>
#include <vector>

namespace corral::shim {

struct ConnectOptions {
  std::string runtime_dir;        // empty = where the user's daemon is
  std::string config_file;        // empty = the default one
  std::string server;             // a configured name; empty = `argv`
  std::vector<std::string> argv;  // a command of the client's own
  std::string share;              // "", "shared" or "session"
  bool require_daemon = false;
  bool verbose = false;
};

inline constexpr int kNoDaemon = 69;    // EX_UNAVAILABLE
inline constexpr int kDaemonDied = 75;  // EX_TEMPFAIL: try again

/// Returns the exit code. Call it once, early, from a single thread; descriptors 0 to 2 are open.
int connect(const ConnectOptions& options);

}  // namespace corral::shim
