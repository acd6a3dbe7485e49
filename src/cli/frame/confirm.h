// Asks a person on the terminal whether to do one of several things.
#pragma once

#include <string>

namespace corral::cli {

enum class Consent { Yes, No, All, Quit };

/// Prints "QUESTION [y]es, [N]o, [a]ll THINGS, [q]uit: " and reads a line. Everything but a word that begins
/// with one of these letters means no, and the end of the input means quit.
Consent ask(const std::string& question, const std::string& things);

/// Whether there is a person to ask: stdin and stdout are terminals.
bool can_ask();

}  // namespace corral::cli
