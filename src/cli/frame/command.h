// A command of the CLI as data: its file says what it takes and what it does, the parser does the rest.
//
// A new command is one file in cli/commands, X_command.cc, which defines `Command X_command()`, and one row
// in cli/frame/all_commands.cc. The build finds the file by its name. --help, completions and manual pages
// come from the data. A command that asks the daemon one thing and prints the answer is made by
// cli/frame/daemon_command.h.
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

/// The same for a stdout that cannot be written. Only commands that print in a loop need it: the parser
/// checks stdout when a command has returned.
int fail_to_write(const std::string& command);

/// The exit code of a failure that is ours and not the server's.
inline constexpr int kOwnFailure = 125;

}  // namespace corral::cli
