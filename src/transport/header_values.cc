#include "transport/header_values.h"

#include <algorithm>
#include <cstdint>

#include "http/text.h"

namespace corral::transport {
namespace {

std::string_view unblanked(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// The text up to the next `separator`, which is removed as well.
std::string_view take_piece(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return unblanked(piece);
}

/// Only a weight of zero means no; everything else means yes.
bool weighs_nothing(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = take_piece(parameters, ';');
    const std::string_view name = take_piece(parameter, '=');
    const std::string_view weight = unblanked(parameter);
    if (!http::same_word(name, "q") || weight.empty() || weight.front() != '0') continue;
    return weight.find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

/// How closely a media range matches: 3 the type itself, 2 type/*, 1 */*, 0 not at all.
int closeness(std::string_view range, std::string_view type) {
  if (http::same_word(range, type)) return 3;
  const std::size_t slash = type.find('/');
  if (range == "*/*") return 1;
  const bool family =
      range.ends_with("/*") && http::same_word(range.substr(0, range.size() - 2), type.substr(0, slash));
  return family ? 2 : 0;
}

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

/// Requires padding and no stray bits, so that each text has exactly one encoding.
std::optional<std::string> base64_decoded(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU));
  }
  const bool rest = (bits & ((1U << static_cast<unsigned>(held)) - 1U)) != 0;
  if (rest) return std::nullopt;
  return out;
}

}  // namespace

bool accepts(const http::Request& request, std::string_view type) {
  bool asked = false;
  int closest = 0;
  bool wanted = false;
  for (const http::Header& header : request.headers) {
    if (!http::same_word(header.name, "accept")) continue;
    asked = true;
    for (std::string_view left = header.value; !left.empty();) {
      std::string_view parameters = take_piece(left, ',');
      const int close = closeness(take_piece(parameters, ';'), type);
      if (close == 0 || close < closest) continue;
      closest = close;
      wanted = !weighs_nothing(parameters);
    }
  }
  return !asked || wanted;
}

std::string media_type(std::string_view value) {
  std::string type(take_piece(value, ';'));
  std::transform(type.begin(), type.end(), type.begin(), lower);
  return type;
}

bool is_header_safe(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t'; });
}

bool is_token(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    const char low = lower(c);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || kMarks.find(c) != std::string_view::npos;
  });
}

std::optional<std::string> mirrored_value(std::string_view value) {
  constexpr std::string_view kBefore = "=?base64?";
  constexpr std::string_view kBehind = "?=";
  if (!is_header_safe(value)) return std::nullopt;
  const bool encoded = value.size() >= kBefore.size() + kBehind.size() && value.starts_with(kBefore) &&
                       value.ends_with(kBehind);
  if (!encoded) return std::string(value);
  value.remove_prefix(kBefore.size());
  value.remove_suffix(kBehind.size());
  return base64_decoded(value);
}

}  // namespace corral::transport
