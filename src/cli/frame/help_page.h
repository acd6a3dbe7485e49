// What people get who do not know the commands yet: the page of --help, the version, and an answer to a word
// that is not a command but says what is wanted. All of it is pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/command.h"

namespace corral::cli {

/// All commands, in their groups: those that are used often with what they do, the others by name. No line is
/// wider than 80 columns as long as no summary is too long.
std::string help_page(const std::vector<Command>& commands);

/// The help of one command in lines of at most `width` columns, except lines that are for copying: prose is
/// filled, and the right column stays a column.
std::string filled_help(const std::string& text, std::size_t width = 80);

/// "corral 1.2.3 (build 2026-01-31)".
std::string version_line();

/// What to use instead of a word that is not a command of corral, but that other programs use for something
/// that corral can do: `setup`, `kill`. A sentence without a full stop; empty = the word is not known.
std::string instead_of(std::string_view word);

}  // namespace corral::cli
