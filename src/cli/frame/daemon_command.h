// What the commands that ask the running daemon have in common: the request, the messages and exit codes for
// a daemon that is missing or does not answer, and the frame of a command that asks one thing and prints the
// answer. None of them starts a daemon. The request itself is control/daemon_request.h.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"
#include "control/daemon_request.h"
#include "observe/snapshot.h"

namespace corral::cli {

/// The exit code of a command that needs a daemon when none is running.
inline constexpr int kNoDaemonRuns = 1;

// ---- asking

/// An answer in both forms.
struct JsonAnswer {
  std::string text;          // JSON, as the daemon wrote it
  boost::json::value value;  // the same, parsed
};

/// Parses the text of an answer. The error is the reason of a failed request, or says that the text is not
/// valid JSON.
Result<JsonAnswer> read_answer(control::DaemonAnswer answer);

/// Asks and waits for the answer. A failure is printed on stderr, after the name of the command; then there
/// is only an exit code. A request that ends instances may take minutes: after ten seconds this is reported
/// on stderr, and if the daemon does not answer a second request either, this function gives up.
struct AnswerOrExit {
  std::optional<JsonAnswer> answer;
  int exit_code = 0;
};
AnswerOrExit ask_daemon(const std::string& command, const std::string& runtime_dir, control::Hello hello);

/// The same for a request whose answer is text and not JSON. Prints no failure. The text of a daemon that
/// does not answer describes it and what to do.
control::DaemonAnswer ask_patiently(const std::string& command, const std::string& runtime_dir,
                                    control::Hello hello);

/// Prints why a request failed and returns the exit code.
int fail_for(const std::string& command, const control::DaemonAnswer& answer);

/// The status of the daemon, for commands that also work without one; nothing if none has answered.
using KnownStatus = std::optional<observe::Snapshot>;

/// Nothing if no daemon is running, or if it does not answer with JSON in time.
KnownStatus status_if_running(const std::string& runtime_dir, std::chrono::milliseconds patience);

// ---- commands that ask one thing and print the answer

struct DaemonOptions {
  std::string runtime_dir;
  std::string server;  // the argument, if the command takes the name of a server
  bool json = false;
};

struct DaemonCommand {
  enum class Takes { Nothing, ServerName };

  std::string name;
  std::string summary;
  std::string examples;
  std::string json_help;
  Takes takes = Takes::Nothing;
  std::vector<Option> options = {};  // its own; --json and --runtime-dir follow them
  control::Hello hello;              // the name of the server is added
  /// Called first; an exit code means that it did everything, without a request. Null = nothing.
  std::function<std::optional<int>(const DaemonOptions& options)> instead = nullptr;
  bool measures_for_people = false;  // the text needs what processes use, and the JSON does not
  /// Prints the answer for people.
  std::function<void(const boost::json::value& answer, const DaemonOptions& options)> show;
  /// What --json prints; null = the answer as it is.
  std::function<std::string(const boost::json::value& answer)> as_json = nullptr;
  /// Null = 0.
  std::function<int(const boost::json::value& answer)> exit_code = nullptr;
};

/// Makes the complete command from its description.
Command daemon_command(DaemonCommand what);

// The last step alone, for a command with several verbs. Each returns the exit code.
/// Prints the answer as it is, for --json.
int print_json(const AnswerOrExit& asked);
/// Calls `show` with the answer.
int print_answer(const AnswerOrExit& asked,
                 const std::function<void(const boost::json::value& answer)>& show);

}  // namespace corral::cli
