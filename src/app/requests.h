// What a command asks of the running daemon, besides a session. Blocking and bounded.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "control/channel.h"
#include "control/hello.h"

namespace corral::app {

/// JSON, see docs/operations/daemon.md.
Result<std::string> ask_status(control::Channel& channel, std::chrono::milliseconds patience);

/// Returns what the daemon says once everything is ended. It leaves right after that.
Result<std::string> ask_to_shut_down(control::Channel& channel, std::chrono::milliseconds patience);

/// For every other verb: its result as JSON, see docs/protocol/control.md. The error is the daemon's refusal.
Result<std::string> ask_for_result(control::Channel& channel, control::Hello hello,
                                   std::chrono::milliseconds patience);

}  // namespace corral::app
