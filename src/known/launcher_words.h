// The words of a launcher's command line: where its own options end and the program begins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "known/known_programs.h"

namespace corral::known {

struct Launch {
  std::string subcommand;                                   // the entry of the table that was found, or empty
  std::vector<std::pair<std::string, std::string>> values;  // options with a value, as given
  std::vector<std::string> flags;                           // all other options
  std::size_t program = 0;                                  // index of the first word that is none of these

  /// The value of the first of these options that is there; empty if none is.
  std::string value_of(std::initializer_list<std::string_view> options) const;
  bool has_flag(std::initializer_list<std::string_view> options) const;
};

Launch read_launch(const KnownLauncher& launcher, const std::vector<std::string>& words);

/// What a shell would run for this text, if it is one simple command, possibly after `cd FOLDER &&` and
/// `exec`. Empty for anything that a shell would expand, redirect or repeat: corral does not guess.
struct SimpleCommand {
  std::string directory;  // of `cd`; empty = none
  std::vector<std::string> words;
};
std::optional<SimpleCommand> read_simple_command(std::string_view text);

}  // namespace corral::known
