// JSON text for people and for a line of its own. The text stays what it is: numbers of any length, the order
// of members, escapes; only white space between values changes.
#pragma once

#include <string>
#include <string_view>

namespace corral::cli {

/// Indented by two blanks, up to 40 levels. `json` is valid.
std::string laid_out(std::string_view json);

/// On one line. `json` is valid.
std::string on_one_line(std::string_view json);

/// An error's text if it is no JSON, else empty. UTF-8, at most 512 levels deep.
std::string why_no_json(std::string_view text);

/// For a terminal: printable_json. For a program: unchanged. `json` is on one line.
std::string json_for(int fd, std::string json);

}  // namespace corral::cli
