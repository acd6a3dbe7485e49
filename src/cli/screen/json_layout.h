// Reformats JSON text: indented for people, or on one line. Only white space between values changes; numbers
// of any length, the order of members and escapes stay.
#pragma once

#include <string>
#include <string_view>

namespace corral::cli {

/// Indented by two spaces, up to 40 levels. `json` must be valid.
std::string laid_out(std::string_view json);

/// On one line. `json` must be valid.
std::string on_one_line(std::string_view json);

/// What is wrong if the text is not valid JSON, otherwise empty. Must be UTF-8, at most 512 levels deep.
std::string why_no_json(std::string_view text);

/// For a terminal: printable_json. For a program: unchanged. `json` is on one line.
std::string json_for(int fd, std::string json);

}  // namespace corral::cli
