// What fakes read: their arguments, and messages that our own tests wrote.
#pragma once

#include <string>
#include <string_view>

namespace corral::fakes {

/// Of "--name=value".
inline bool take_value(std::string_view argument, std::string_view name, std::string& value) {
  if (!argument.starts_with(name)) return false;
  value = argument.substr(name.size());
  return true;
}

/// The text after "name": in a line, without quotes; it carries no escapes.
inline std::string field(std::string_view line, std::string_view name) {
  const std::string key = '"' + std::string(name) + "\":";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  const bool quoted = line.starts_with('"');
  if (quoted) line.remove_prefix(1);
  return std::string(line.substr(0, line.find_first_of(quoted ? "\"" : ",}")));
}

}  // namespace corral::fakes
