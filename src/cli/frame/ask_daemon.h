// What several commands do: ask the running daemon one thing, and say why there is no answer.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "control/hello.h"
#include "control/requests.h"

namespace corral::cli {

inline constexpr int kNoDaemonRuns = 1;
/// For what the daemon only has to tell.
inline constexpr std::chrono::seconds kTellPatience{10};
/// Beyond what the daemon allows itself: calls in flight are waited for, and that is configured over there.
inline constexpr std::chrono::minutes kAnswerPatience{5};

struct Asked {
  std::optional<std::string> result;  // JSON; nothing = the reason is on stderr already
  boost::json::value value;           // the same, read
  int exit_code = 0;
};

/// For those who wait for longer: after ten seconds without an answer it says so on stderr and looks whether
/// the daemon answers anybody. One that does not is given up, with an error that says what to do.
control::Late give_up_on_hanging_daemon(const std::string& command, const std::string& runtime_dir);

/// Which daemon does not answer, and what to do about it.
Error hanging_daemon(const std::string& runtime_dir);

/// Starts no daemon. `command` is who asks, for the message.
Asked ask_daemon(const std::string& command, const std::string& runtime_dir, control::Hello hello);

}  // namespace corral::cli
