// Reads the text of a client's configuration file, JSON or TOML, into one kind of value, so that the code
// that looks for servers does not depend on the format. Pure; never throws. The size of the text is bounded
// by the caller (read_small_file).
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>

#include "known/known_programs.h"

namespace corral::known {

struct ConfigText {
  boost::json::value value;  // null if there is an error
  std::string error;         // "line 3, column 14: …"; empty = none
};

/// JSON as editors and agents accept it: with comments, trailing commas and a byte order mark. An empty file
/// is an empty object.
ConfigText parse_json_config(const std::string& text);

/// TOML 1.0. Dates and times become text. [[mcp_servers]], a list of servers that have their "name" inside,
/// becomes a table by name; one without a name of its own is called as `name_by_number` says.
ConfigText parse_toml_config(const std::string& text);

/// "files (number 3)", "number 3": an element of a list, counted from 1, whose name another one has, too, or
/// that has none.
std::string name_by_number(const std::string& name, std::size_t number);

ConfigText parse_config(const std::string& text, ConfigFormat format);

}  // namespace corral::known
