// Texts that are made from the table of commands: completion scripts and manual pages. All of it is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// An option in the form that these texts need: its two names, and what its value may be.
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

/// Completion scripts. They complete commands, options and their values, and ask `corral completions servers`
/// for the names of servers.
std::string bash_completions(const std::vector<Command>& commands);
std::string zsh_completions(const std::vector<Command>& commands);
std::string fish_completions(const std::vector<Command>& commands);

/// Manual pages in the format of man(7). The page of one command: corral-NAME(1).
std::string man_page(const Command& command);

/// The page of the program: corral(1).
std::string man_page(const std::vector<Command>& commands);

/// The file name of a page, "corral-ps.1"; an empty command gives "corral.1".
std::string man_file(const std::string& command);

}  // namespace corral::cli
