// Reads the command line, runs the command and returns its exit code. The only file that includes CLI11,
// which is slow to compile.
#pragma once

#include <string>
#include <vector>

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

}  // namespace corral::cli
