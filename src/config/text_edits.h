// Changes to the text of a file that leave every other byte as it is, and how the text is laid out around
// them. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace corral::config {

/// `text` takes the place of what stands from `begin` to `end`.
struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

/// The edits may come in any order but may not overlap.
std::string applied(const std::string& text, std::vector<Edit> edits);

/// As the first line ends.
std::string newline_of(const std::string& text);

/// Where the line begins that holds `at`.
std::size_t line_start(const std::string& text, std::size_t at);
std::string indent_of(const std::string& text, std::size_t at);
bool begins_its_line(const std::string& text, std::size_t at);

}  // namespace corral::config
