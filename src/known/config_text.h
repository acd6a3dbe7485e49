// The text of a configuration file as a tree of values, whichever of the formats it is in.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace corral::known {

struct ConfigText {
  boost::json::value value;  // null if there is an error
  std::string error;         // "line 3, column 14: …"; empty = none
};

/// JSON as editors and agents take it: with comments, trailing commas and a byte order mark. An empty file is
/// an empty object.
ConfigText parse_json_config(const std::string& text);

ConfigText parse_toml_config(const std::string& text);

}  // namespace corral::known
