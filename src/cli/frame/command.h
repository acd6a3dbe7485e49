// A command of the CLI as data. Its file describes its options and what it does; the parser does the rest.
//
// A new command is one file in cli/commands, X_command.cc, which defines `Command X_command()`, and one row
// in cli/frame/all_commands.cc, which says where --help lists it. The build finds the file by its name.
// --help, completions and manual pages are made from the data. For a command that asks the daemon one thing
// and prints the answer, use cli/frame/daemon_command.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace corral::cli {

/// What one argument of a command line may be. Completions offer values for it, and the check of our
/// documents knows from it which command lines are valid.
struct Argument {
  enum class Kind {
    None,    // there is no such argument
    Server,  // the name of a configured server
    File,
    Directory,
    Program,  // a program, followed by its own arguments
    Choice,   // one of `choices`
    Other,    // anything else, such as a pid
  };
  Kind kind = Kind::None;
  std::vector<std::string> choices = {};
};

struct Option {
  std::string names;  // "-v,--verbose"
  std::string value;  // the name of the value in the help; empty = a flag
  std::string help;
  std::function<Result<void>(const std::string&)> apply;  // called once per use, with "" for a flag
};

/// What people want when they use a command; --help is arranged by it.
enum class HelpGroup { Use, Look, Repair, Administer };

/// How --help shows a command: on a line with its summary, or only by its name.
enum class InHelp { Line, Name };

struct Command {
  std::string name;
  std::string summary;
  std::string usage;
  std::string examples;
  Argument argument = {};     // the first argument that is not an option
  bool runs_program = false;  // a command line of another program may follow, after `--`
  std::vector<Option> options;
  int usage_code = 125;  // the exit code for invalid options
  /// Its options, including --help, may also follow its arguments; see parser.h.
  bool options_anywhere = false;
  /// Gets everything from the first argument that is not an option, without a `--` before it. Returns the
  /// exit code. Runs at most once, on the main thread.
  std::function<int(std::vector<std::string>)> run;
  // Set by the table of commands:
  HelpGroup group = HelpGroup::Use;
  InHelp in_help = InHelp::Line;
};

/// All commands, in the order in which the help shows them.
std::vector<Command> all_commands();

/// Prints "corral COMMAND: SENTENCE" on stderr and returns the exit code kOwnFailure.
int fail(const std::string& command, const std::string& sentence);

/// The same for a stdout that cannot be written. Only commands that print in a loop need it: the parser
/// checks stdout when a command has returned.
int fail_to_write(const std::string& command);

/// The exit code if corral failed, as opposed to the server.
inline constexpr int kOwnFailure = 125;

}  // namespace corral::cli
