// Reads the command line, runs the chosen command and returns its exit code. The only user of CLI11, which is
// slow to compile.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace corral::cli {

int parse_and_run(const std::vector<Command>& commands, std::vector<std::string> arguments);

}  // namespace corral::cli
