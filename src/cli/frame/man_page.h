// Manual pages in the language of man(7), from the same table as --help. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// Of one command: corral-NAME(1).
std::string man_page(const Command& command);

/// Of the whole: corral(1).
std::string man_page(const std::vector<Command>& commands);

/// "corral-ps.1"
std::string man_file(const std::string& command);

}  // namespace corral::cli
