// Edits of the text of a file that preserve every other byte, and functions that examine the layout around an
// edit. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace corral::config {

/// Replaces the bytes from `begin` up to, but not including, `end` by `text`.
struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

/// The text with all edits applied. They may be in any order but must not overlap.
std::string applied(const std::string& text, std::vector<Edit> edits);

/// The line end of the first line: "\n" or "\r\n".
std::string newline_of(const std::string& text);

/// The beginning of the line that contains `at`.
std::size_t line_start(const std::string& text, std::size_t at);
std::string indent_of(const std::string& text, std::size_t at);
bool begins_its_line(const std::string& text, std::size_t at);

}  // namespace corral::config
