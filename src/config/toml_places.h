// Finds the positions of tables, keys and values in the text of a TOML file, because the parser's values have
// none. The text is TOML that the parser has accepted. For any other text the results may be wrong, but no
// function reads beyond the end of the text. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/text_places.h"

namespace corral::config {

struct TomlMember {
  std::vector<std::string> key;  // as it is written: more than one part if it has dots
  MemberPlace place;
};

/// A header and the lines below it, up to the next header.
struct TomlTable {
  std::vector<std::string> key;  // from the root of the file; empty for the lines before the first header
  std::size_t at = 0;            // offset of its bracket
  bool element = false;          // [[…]]
  std::vector<TomlMember> members;
};

/// All tables in the order of the text; the first one has no header.
std::vector<TomlTable> find_toml_tables(std::string_view text);

/// The members of the inline table that begins at `table`.
std::vector<TomlMember> find_inline_members(std::string_view text, std::size_t table);

/// The elements of the array that begins at `array`.
std::vector<TextRange> find_toml_elements(std::string_view text, std::size_t array);

/// The end of the value that begins at `at`.
std::size_t skip_toml_value(std::string_view text, std::size_t at);

}  // namespace corral::config
