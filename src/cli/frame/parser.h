// Reads the command line, runs the chosen command and returns its exit code. The only user of CLI11, which is
// slow to compile.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// Why the words, without the program's name, are no command line of ours; empty = they are. Nothing is run.
/// Words of a manual stand for others and fit everywhere: NAME, $ID, `…`; an option at the end may lack its
/// value.
std::string objection_to(const std::vector<Command>& commands, const std::vector<std::string>& args);

/// Not for typing: `corral @check-lines` reads command lines, each a JSON list of words, and answers each
/// with a line, "ok" or what is wrong with it. Our documents are checked with it (tools/check_docs.py).
inline constexpr const char* kCheckLines = "@check-lines";
int check_lines();

int parse_and_run(const std::vector<Command>& commands, std::vector<std::string> arguments);

}  // namespace corral::cli
