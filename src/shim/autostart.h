// Finds the user's daemon, and starts it if there is none. However many shims do so at once, one daemon comes
// of it.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "control/channel.h"
#include "shim/error_output.h"
#include "shim/signals.h"

namespace corral::shim {

struct DaemonPlace {
  std::string runtime_dir;  // empty = any of the user's
  std::string config_file;  // for a daemon that is started; empty = its own default
  bool verbose = false;
};

/// The error says why there is none by `until`. Returns early with one if a signal asks us to leave.
Result<control::Channel> reach_daemon(const DaemonPlace& place, std::chrono::steady_clock::time_point until,
                                      Signals& signals, ErrorOutput& errors);

}  // namespace corral::shim
