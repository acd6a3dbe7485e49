// Reads the command line, runs the command and returns its exit code. Only parser.cc includes CLI11, which is
// slow to compile.
//
// The parser passes everything from the first argument on to the command unchanged, because for many commands
// that is a server's command line. A command whose options may also follow its arguments, as in `corral
// config check --json`, applies them itself with the functions at the end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"

namespace corral::cli {

/// Why `args`, without the program's name, are not a valid command line; empty = they are valid. Runs
/// nothing. Placeholders from a manual are accepted everywhere (NAME, $ID, `…`), and an option at the end may
/// lack its value.
std::string objection_to(const std::vector<Command>& commands, const std::vector<std::string>& args);

/// Not for users: `corral @check-lines` reads command lines from stdin, each a JSON list of arguments, and
/// prints for each one "ok" or what is wrong with it. tools/check_docs.py checks our documents with it.
inline constexpr const char* kCheckLines = "@check-lines";
int check_lines();

/// `arguments` are without the program's name. Output that cannot be written turns success into kOwnFailure.
int parse_and_run(const std::vector<Command>& commands, std::vector<std::string> arguments);

/// Applies the options among `args` and returns the other arguments. Nothing after `--` is an option.
Result<std::vector<std::string>> apply_late_options(const std::vector<Option>& options,
                                                    const std::vector<std::string>& args);

/// Whether --help or -h is among the arguments, as an option and not as the value of one.
bool asks_for_help(const std::vector<Option>& options, const std::vector<std::string>& args);

/// Whether `args` followed a `--`, which the parser removes: without it, `connect NAME` and
/// `connect -- COMMAND` look the same to a command. Reads /proc/self/cmdline, whose end `args` must be.
bool came_after_dashes(const std::vector<std::string>& args);

}  // namespace corral::cli
