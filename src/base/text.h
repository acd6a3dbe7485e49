// Text of foreign origin for terminals, logs and JSON, and the small helpers that put sentences together.
// Pure, without shared state: every thread may call it.
//
// A process, a server or a configuration file chooses the text that corral shows. Some characters let it
// control the terminal (C0 and C1 controls, DEL), reverse the reading direction (bidirectional marks), or
// hide a difference (zero width characters, tags). This is the only place that decides which characters those
// are. Each of them, and each byte that is not valid UTF-8, is shown as U+FFFD, so that a reader sees that
// something was there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corral {

/// For a name, a path or a sentence on one line: also line feeds and tabs are replaced. The result is valid
/// UTF-8.
std::string printable(std::string_view text);

/// For a message of any layout that is shown on one line: white space becomes one space between words, none
/// at the ends.
std::string printable_line(std::string_view text);

/// For text that a person asked to read, such as the result of a tool: line feeds and tabs stay, and the zero
/// width joiners stay because many scripts and emoji need them.
std::string printable_text(std::string_view text);

/// For JSON that is shown on a terminal. The value stays the same: the characters become escapes (\u001b),
/// which a program reads as the same string. `json` is valid and on one line; a byte that is not UTF-8
/// becomes \ufffd.
std::string printable_json(std::string_view json);

/// A word quoted for a shell if it needs that, for a command that a person will paste. The result is not made
/// printable: it would be another word.
std::string shell_word(const std::string& word);

/// "1 server", "3 servers".
std::string counted(std::uint64_t number, const std::string& noun);

/// The same for a noun whose plural is irregular: "1 process", "3 processes".
std::string counted(std::uint64_t number, const std::string& one, const std::string& many);

/// With a capital letter at the beginning and a full stop at the end.
std::string as_sentence(std::string text);

/// The value of NAME in a list of "NAME=value", such as an environment. Empty if it is not in the list.
std::string variable(const std::vector<std::string>& environment, const std::string& name);

}  // namespace corral
