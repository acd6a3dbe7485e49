// What a command takes, as far as its table entry says it: for shells and manual pages, which are made from
// the same source as --help. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// What may stand in one place of a command line.
struct Takes {
  enum class Kind { Nothing, Server, File, Directory, Program, Word };
  Kind kind = Kind::Nothing;
  std::vector<std::string> words = {};  // if these are known
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
  Takes first;                // the first word that is no option
  bool runs_program = false;  // behind `--`
};

CommandShape shape_of(const Command& command);

/// A name that every shell takes as it is. Others are never offered: a shell would have to quote them.
bool is_plain_word(std::string_view word);

}  // namespace corral::cli
