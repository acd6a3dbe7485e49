#include "cli/screen/json_layout.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstdint>
#include <utility>

namespace corral::cli {
namespace {

// Thousands of levels, each further to the right, would make gigabytes of blanks.
constexpr std::size_t kDeepestIndent = 40;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Where the string that begins at `at` ends.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return std::min(at + 1, json.size());
}

/// A code point that steers a terminal, or makes a line read differently from what it is.
struct Steering {
  std::uint32_t value = 0;
  std::size_t length = 0;  // in bytes; 0 = there is none
};

/// Control characters, also those of two bytes (a CSI may be one code point), and what turns the direction of
/// writing or breaks a line. Joiners stay: scripts and emoji need them.
bool steers(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x206F);
}

/// Code points of up to three bytes; none of those that steer is longer.
Steering steering_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  Steering found{byte(0), 1};
  if (byte(0) >= 0xC2 && byte(0) < 0xE0 && follows(1)) {
    found = {((byte(0) & 0x1FU) << 6U) | (byte(1) & 0x3FU), 2};
  } else if (byte(0) >= 0xE0 && byte(0) < 0xF0 && follows(1) && follows(2)) {
    found = {((byte(0) & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU), 3};
  } else if (byte(0) >= 0x80) {
    return {};  // broken, or longer: a terminal shows something in its place
  }
  return steers(found.value) ? found : Steering{};
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

std::string harmless(std::string_view text) {
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Steering steering = steering_at(text, i);
    const bool kept = steering.length == 0 || text[i] == '\n' || text[i] == '\t';
    shown += kept ? text[i] : '?';
    if (!kept) i += steering.length - 1;
  }
  return shown;
}

std::string harmless_line(std::string_view text) {
  std::string shown;
  for (const char c : harmless(text)) {
    if (!is_blank(c)) {
      shown += c;
    } else if (!shown.empty() && shown.back() != ' ') {
      shown += ' ';
    }
  }
  if (!shown.empty() && shown.back() == ' ') shown.pop_back();
  return shown;
}

std::string harmless_json(std::string_view json) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const Steering steering = steering_at(json, i);
    if (steering.length == 0) {
      text += json[i];
      continue;
    }
    text += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) text += kDigits[(steering.value >> shift) & 15U];
    i += steering.length - 1;
  }
  return text;
}

std::string json_for(int fd, std::string json) {
  return isatty(fd) == 1 ? harmless_json(json) : std::move(json);
}

}  // namespace corral::cli
