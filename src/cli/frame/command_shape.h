// What the arguments and options of a command may be, for completions and manual pages, which are made from
// the same data as --help. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// What one argument of a command line may be.
struct Takes {
  enum class Kind { Nothing, Server, File, Directory, Program, Word };
  Kind kind = Kind::Nothing;
  std::vector<std::string> words = {};  // the allowed words, if they are known
};

struct OptionShape {
  std::string brief;  // "-v"; empty = none
  std::string name;   // "--verbose"
  std::string value;  // "FILE"; empty = a flag
  std::string help;
  Takes takes;
};

struct CommandShape {
  std::string name;
  std::string summary;
  std::vector<OptionShape> options;
  Takes first;                // the first argument
  bool runs_program = false;  // after `--`
};

CommandShape shape_of(const Command& command);

/// Whether no shell has to quote the word. Completions offer only such names.
bool is_plain_word(std::string_view word);

}  // namespace corral::cli
