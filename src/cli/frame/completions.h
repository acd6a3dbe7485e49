// Completion scripts for three shells: commands, options, and the names of servers, which the scripts ask
// `corral completions servers` for. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command_shape.h"

namespace corral::cli {

std::string bash_completions(const std::vector<CommandShape>& commands);
std::string zsh_completions(const std::vector<CommandShape>& commands);
std::string fish_completions(const std::vector<CommandShape>& commands);

}  // namespace corral::cli
