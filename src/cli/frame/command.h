// A command of the CLI as data: its file says what it takes and what it does, the parser does the rest.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace corral::cli {

struct Option {
  std::string names;  // "-v,--verbose"
  std::string value;  // what to call the value in the help; empty = a flag
  std::string help;
  std::function<Result<void>(const std::string&)> apply;  // called once per use, with "" for a flag
};

struct Command {
  std::string name;
  std::string summary;
  std::string usage;
  std::string examples;
  std::vector<Option> options;
  int usage_code = 125;  // the exit code for options that it does not have
  /// Its options, --help among them, may also stand behind its words; see late_options.h.
  bool options_anywhere = false;
  /// Gets everything from the first word that is no option on.
  std::function<int(std::vector<std::string>)> run;
};

/// In the order in which the help shows them.
std::vector<Command> all_commands();

/// Says on stderr what went wrong with a command, and returns the exit code for it.
int fail(const std::string& command, const std::string& sentence);

/// The exit code of a failure that is ours and not the server's.
inline constexpr int kOwnFailure = 125;

Command add_command();
Command call_command();
Command completions_command();
Command config_command();
Command connect_command();
Command doctor_command();
Command events_command();
Command guard_command();
Command import_command();
Command logs_command();
Command mcp_command();
Command info_command();
Command man_command();
Command ps_command();
Command reap_command();
Command reload_command();
Command remove_command();
Command restart_command();
Command run_command();
Command serve_command();
Command service_command();
Command session_command();
Command shutdown_command();
Command start_command();
Command status_command();
Command stop_command();
Command token_command();
Command tools_command();
Command top_command();
Command url_command();
Command watch_command();
Command who_command();

}  // namespace corral::cli
