// What a command asks of the running daemon, besides a session. Blocking and bounded.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"
#include "control/channel.h"
#include "control/hello.h"

namespace corral::control {

/// Whether the daemon looks into /proc for what each tree uses.
enum class Measure { No, Yes };

/// Called after every ten seconds without an answer; an error ends the waiting. Null = nobody is told.
using Late = std::function<Result<void>()>;

/// JSON, see docs/operations/daemon.md. An older daemon leaves out what it does not know of.
Result<std::string> ask_status(control::Channel& channel, std::chrono::milliseconds patience,
                               Measure measure = Measure::No);

/// Returns what the daemon says once everything is ended. It leaves right after that.
Result<std::string> ask_to_shut_down(control::Channel& channel, std::chrono::milliseconds patience,
                                     const Late& late = nullptr);

/// For every other verb: its result as JSON, see docs/protocol/control.md. The error is the daemon's refusal.
Result<std::string> ask_for_result(control::Channel& channel, control::Hello hello,
                                   std::chrono::milliseconds patience, const Late& late = nullptr);

}  // namespace corral::control
