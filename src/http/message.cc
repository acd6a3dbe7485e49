#include "http/message.h"

#include <algorithm>
#include <optional>

#include "http/text.h"

namespace corral::http {
namespace {

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

/// A '+' in a query is a space; a plus sign is written as %2B.
std::string form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decoded(spaced);
}

}  // namespace

const Header* Request::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [name](const Header& one) { return same_word(one.name, name); });
  return found == headers.end() ? nullptr : &*found;
}

std::string_view Request::header(std::string_view name) const {
  const Header* const found = find(name);
  return found == nullptr ? std::string_view{} : std::string_view(found->value);
}

std::size_t Request::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(headers, [name](const Header& one) { return same_word(one.name, name); }));
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (high && low) {
        out.push_back(static_cast<char>(*high * 16 + *low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (form_decoded(pair.substr(0, equals)) != name) continue;
    return form_decoded(pair.substr(std::min(pair.size(), equals + 1)));
  }
  return "";
}

}  // namespace corral::http
