// Finds the user's daemon, and starts one if there is none. However many shims do so at once, only one daemon
// is started.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "control/control_socket.h"
#include "shim/error_output.h"
#include "shim/signals.h"

namespace corral::shim {

struct DaemonPlace {
  std::string runtime_dir;  // empty = any daemon of the user
  std::string config_file;  // for a daemon that is started here; empty = its default
  bool verbose = false;
};

/// Blocks until a daemon is reached. The error says why there is none by `until`. Returns early with an error
/// if a signal tells us to leave.
Result<control::ControlSocket> reach_daemon(const DaemonPlace& place,
                                            std::chrono::steady_clock::time_point until, ShimSignals& signals,
                                            StderrWriter& errors);

}  // namespace corral::shim
