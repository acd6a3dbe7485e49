#include "config/text_places.h"

#include <algorithm>
#include <boost/json.hpp>

namespace corral::config {
namespace {

namespace json = boost::json;

bool is_at(std::string_view text, std::size_t at, char letter) {
  return at < text.size() && text[at] == letter;
}

std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

/// The end of the comment that begins at `at`; `at` if there is no comment.
std::size_t skip_comment(std::string_view text, std::size_t at) {
  const std::string_view opening = text.substr(at, 2);
  const bool line = opening == "//";
  if (!line && opening != "/*") return at;
  const std::size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + (line ? 1 : 2);
}

/// The end of the object or array that begins at `at`. Not recursive, because the depth of the text is not
/// limited.
std::size_t skip_nested(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char letter = text[at];
    if (letter == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (const std::size_t behind = skip_comment(text, at); behind != at) {
      at = behind;
      continue;
    }
    ++at;
    if (letter == '{' || letter == '[') ++depth;
    if ((letter == '}' || letter == ']') && --depth == 0) return at;
  }
  return text.size();
}

/// The quoted text without escapes. An invalid text is returned unchanged, because it is only compared.
std::string unescaped(std::string_view quoted) {
  const bool plain = quoted.size() >= 2 && quoted.find('\\') == std::string_view::npos;
  if (plain) return std::string(quoted.substr(1, quoted.size() - 2));
  json::error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  const json::value value = json::parse({quoted.data(), quoted.size()}, error, {}, options);
  if (error || !value.is_string()) return std::string(quoted);
  return std::string(value.get_string());
}

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (at == 0 && text.starts_with(kByteOrderMark)) at = kByteOrderMark.size();
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
      ++at;
      continue;
    }
    const std::size_t behind = skip_comment(text, at);
    if (behind == at) break;
    at = behind;
  }
  return std::min(at, text.size());
}

std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] == '{' || text[at] == '[') return skip_nested(text, at);
  return std::min(text.find_first_of(" \t\r\n,:]}/", at), text.size());
}

ObjectPlace walk_object(std::string_view text, std::size_t object, const VisitMember& visit) {
  ObjectPlace place;
  if (!is_at(text, object, '{')) return {object, {}, 0, false};
  std::size_t at = skip_blanks(text, object + 1);
  while (is_at(text, at, '"')) {
    MemberPlace member;
    member.key = at;
    const std::size_t key_end = skip_string(text, at);
    at = skip_blanks(text, key_end);
    if (!is_at(text, at, ':')) break;
    member.value = skip_blanks(text, at + 1);
    member.end = skip_value(text, member.value);
    place.last = member;
    ++place.count;
    if (!visit(unescaped(text.substr(member.key, key_end - member.key)), member)) break;
    at = skip_blanks(text, member.end);
    place.trailing_comma = is_at(text, at, ',');
    if (!place.trailing_comma) break;
    at = skip_blanks(text, at + 1);
  }
  place.close = at;
  return place;
}

std::vector<TextRange> find_elements(std::string_view text, std::size_t array) {
  std::vector<TextRange> found;
  if (!is_at(text, array, '[')) return found;
  std::size_t at = skip_blanks(text, array + 1);
  while (at < text.size() && text[at] != ']') {
    const std::size_t end = skip_value(text, at);
    if (end == at) break;  // not JSON
    found.push_back({at, end});
    at = skip_blanks(text, end);
    if (!is_at(text, at, ',')) break;
    at = skip_blanks(text, at + 1);
  }
  return found;
}

std::size_t find_element(std::string_view text, std::size_t array, std::size_t index) {
  if (!is_at(text, array, '[')) return array;
  std::size_t at = skip_blanks(text, array + 1);
  for (std::size_t i = 0; i < index && at < text.size(); ++i) {
    at = skip_blanks(text, skip_value(text, at));
    if (!is_at(text, at, ',')) break;
    at = skip_blanks(text, at + 1);
  }
  return at;
}

void LineCounter::go_to(std::size_t offset) {
  offset = std::min(offset, text_.size());
  if (offset < at_) {
    at_ = line_start_ = 0;
    line_ = 1;
  }
  for (; at_ < offset; ++at_) {
    if (text_[at_] != '\n') continue;
    ++line_;
    line_start_ = at_ + 1;
  }
}

int LineCounter::line_of(std::size_t offset) {
  go_to(offset);
  return line_;
}

std::string LineCounter::place_of(std::size_t offset) {
  go_to(offset);
  return std::to_string(line_) + ":" + std::to_string(at_ - line_start_ + 1);
}

}  // namespace corral::config
