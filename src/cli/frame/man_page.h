// Manual pages in the format of man(7), from the same data as --help. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// The page of one command: corral-NAME(1).
std::string man_page(const Command& command);

/// The page of the program: corral(1).
std::string man_page(const std::vector<Command>& commands);

/// The file name of a page, "corral-ps.1"; an empty command gives "corral.1".
std::string man_file(const std::string& command);

}  // namespace corral::cli
