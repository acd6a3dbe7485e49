// The options of a command in the form that completions and manual pages need: their two names, and what
// their value may be. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

struct OptionShape {
  std::string brief;  // "-v"; empty = none
  std::string name;   // "--verbose"
  std::string value;  // "FILE"; empty = a flag
  std::string help;
  Argument argument;  // what the value may be
};

/// The options of a command, with --help at the end.
std::vector<OptionShape> option_shapes(const Command& command);

/// Whether no shell has to quote the word. Completions offer only such names.
bool is_plain_word(std::string_view word);

}  // namespace corral::cli
