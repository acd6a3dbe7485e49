// Completion scripts for three shells: commands, options, and the names of servers, which the scripts ask
// `corral completions servers` for. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

std::string bash_completions(const std::vector<Command>& commands);
std::string zsh_completions(const std::vector<Command>& commands);
std::string fish_completions(const std::vector<Command>& commands);

}  // namespace corral::cli
