#include "config/toml_places.h"

#include <algorithm>
#include <boost/json/value.hpp>

#include "known/config_text.h"

namespace corral::config {
namespace {

bool is_toml_at(std::string_view text, std::size_t at, char letter) {
  return at < text.size() && text[at] == letter;
}

std::size_t skip_toml_spaces(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

/// White space, line ends and comments.
std::size_t skip_toml_blanks(std::string_view text, std::size_t at) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (at == 0 && text.starts_with(kByteOrderMark)) at = kByteOrderMark.size();
  for (;;) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (!is_toml_at(text, at, '#')) return at;
    at = std::min(text.find('\n', at), text.size());
  }
}

/// `quote` is one or three quotation marks; only "…" and """…""" have escapes.
std::size_t skip_toml_string(std::string_view text, std::size_t at) {
  const char mark = text[at];
  const std::string three(3, mark);
  if (text.substr(at, 3) != three) {
    for (++at; at < text.size() && text[at] != mark; ++at) at += mark == '"' && text[at] == '\\' ? 1 : 0;
    return std::min(at + 1, text.size());
  }
  for (at += 3; at < text.size() && text.substr(at, 3) != three; ++at)
    at += mark == '"' && text[at] == '\\' ? 1 : 0;
  at = std::min(at + 3, text.size());
  for (int more = 0; more < 2 && is_toml_at(text, at, mark); ++more) ++at;  // """"a""""" ends with five
  return at;
}

bool is_toml_quote(char letter) { return letter == '"' || letter == '\''; }

/// Not recursive, because the depth of the text is not limited.
std::size_t skip_toml_nested(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char letter = text[at];
    if (is_toml_quote(letter)) {
      at = skip_toml_string(text, at);
    } else if (letter == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else {
      ++at;
      if (letter == '{' || letter == '[') ++depth;
      if ((letter == '}' || letter == ']') && --depth == 0) return at;
    }
  }
  return text.size();
}

/// One part of a key without quotation marks and escapes; moves `at` behind it.
std::string take_key_part(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  if (at < text.size() && is_toml_quote(text[at])) {
    at = skip_toml_string(text, at);
    std::string quoted(text.substr(begin, at - begin));
    if (quoted.size() < 2) return quoted;
    if (quoted.find('\\') == std::string::npos || quoted.front() == '\'') {
      return quoted.substr(1, quoted.size() - 2);
    }
    const known::ConfigText parsed = known::parse_toml_config("k = " + quoted);
    const boost::json::object* const object = parsed.value.if_object();
    const boost::json::value* const value = object == nullptr ? nullptr : object->if_contains("k");
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : quoted;
  }
  at = std::min(text.find_first_of(" \t\r\n.=]#\"'", at), text.size());
  return std::string(text.substr(begin, at - begin));
}

/// Moves `at` behind the key and the spaces after it.
std::vector<std::string> take_key(std::string_view text, std::size_t& at) {
  std::vector<std::string> parts;
  for (;;) {
    at = skip_toml_spaces(text, at);
    parts.push_back(take_key_part(text, at));
    at = skip_toml_spaces(text, at);
    if (!is_toml_at(text, at, '.')) return parts;
    ++at;
  }
}

/// The member that begins at `at`; false if there is none.
bool take_member(std::string_view text, std::size_t& at, TomlMember& member) {
  member.place.key = at;
  member.key = take_key(text, at);
  if (!is_toml_at(text, at, '=')) return false;
  member.place.value = skip_toml_spaces(text, at + 1);
  at = member.place.end = skip_toml_value(text, member.place.value);
  return true;
}

std::size_t next_line(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

}  // namespace

std::size_t skip_toml_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (is_toml_quote(text[at])) return skip_toml_string(text, at);
  if (text[at] == '{' || text[at] == '[') return skip_toml_nested(text, at);
  std::size_t end = std::min(text.find_first_of(",]}#\r\n", at), text.size());
  while (end > at && (text[end - 1] == ' ' || text[end - 1] == '\t'))
    --end;  // a date may have a space inside
  return end;
}

std::vector<TomlTable> find_toml_tables(std::string_view text) {
  std::vector<TomlTable> tables(1);
  std::size_t at = skip_toml_blanks(text, 0);
  while (at < text.size()) {
    if (text[at] == '[') {
      TomlTable table;
      table.at = at;
      table.element = is_toml_at(text, at + 1, '[');
      at += table.element ? 2 : 1;
      table.key = take_key(text, at);
      tables.push_back(std::move(table));
      at = next_line(text, at);
    } else {
      TomlMember member;
      if (take_member(text, at, member)) tables.back().members.push_back(std::move(member));
      at = next_line(text, at);
    }
    at = skip_toml_blanks(text, at);
  }
  return tables;
}

std::vector<TomlMember> find_inline_members(std::string_view text, std::size_t table) {
  std::vector<TomlMember> members;
  if (!is_toml_at(text, table, '{')) return members;
  std::size_t at = skip_toml_blanks(text, table + 1);
  while (at < text.size() && text[at] != '}') {
    TomlMember member;
    if (!take_member(text, at, member)) break;
    members.push_back(std::move(member));
    at = skip_toml_blanks(text, at);
    if (!is_toml_at(text, at, ',')) break;
    at = skip_toml_blanks(text, at + 1);
  }
  return members;
}

std::vector<TextRange> find_toml_elements(std::string_view text, std::size_t array) {
  std::vector<TextRange> found;
  if (!is_toml_at(text, array, '[')) return found;
  std::size_t at = skip_toml_blanks(text, array + 1);
  while (at < text.size() && text[at] != ']') {
    const std::size_t end = skip_toml_value(text, at);
    if (end == at) break;  // not TOML
    found.push_back({at, end});
    at = skip_toml_blanks(text, end);
    if (!is_toml_at(text, at, ',')) break;
    at = skip_toml_blanks(text, at + 1);
  }
  return found;
}

}  // namespace corral::config
