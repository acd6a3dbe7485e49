#include "cli/screen/json_layout.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "base/text.h"

namespace corral::cli {
namespace {

// Without a limit, thousands of levels would produce gigabytes of spaces.
constexpr std::size_t kDeepestIndent = 40;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The end of the string that begins at `at`.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

char next_visible(std::string_view json, std::size_t at) {
  while (at < json.size() && is_blank(json[at])) ++at;
  return at < json.size() ? json[at] : '\0';
}

}  // namespace

std::string laid_out(std::string_view json) {
  std::string text;
  std::size_t depth = 0;
  const auto new_line = [&] { text += '\n' + std::string(2 * std::min(depth, kDeepestIndent), ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_blank(c)) continue;
    if (c == '"') {
      const std::size_t end = string_end(json, i);
      text += json.substr(i, end - i);
      i = end - 1;
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (closes && depth > 0) --depth;
    if (closes && text.back() != '{' && text.back() != '[') new_line();
    text += c;
    if (c == ':') text += ' ';
    if (c == ',') new_line();
    if (c != '{' && c != '[') continue;
    ++depth;
    const char next = next_visible(json, i + 1);
    if (next != '}' && next != ']') new_line();
  }
  return text;
}

std::string on_one_line(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (is_blank(json[i])) continue;
    const std::size_t end = json[i] == '"' ? string_end(json, i) : i + 1;
    text += json.substr(i, end - i);
    i = end - 1;
  }
  return text;
}

std::string why_no_json(std::string_view text) {
  boost::json::parse_options strict;
  strict.max_depth = 512;
  boost::system::error_code error;
  boost::json::parse({text.data(), text.size()}, error, {}, strict);
  return error ? error.message() : "";
}

std::string json_for(int fd, std::string json) {
  return isatty(fd) == 1 ? printable_json(json) : std::move(json);
}

}  // namespace corral::cli
