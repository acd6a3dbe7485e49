#include "wire/json_array.h"

#include "wire/cursor.h"

namespace corral::wire {

namespace {

std::size_t after_space(std::string_view text, std::size_t at) {
  Cursor in(text.substr(at));
  in.skip_space();
  return at + in.position();
}

char byte_at(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

}  // namespace

std::optional<std::vector<Span>> array_elements(std::string_view array, std::size_t most) {
  std::size_t at = after_space(array, 0);
  if (byte_at(array, at) != '[') return std::nullopt;
  std::vector<Span> elements;
  at = after_space(array, at + 1);
  if (byte_at(array, at) != ']') {
    for (;; ++at) {
      at = after_space(array, at);
      Cursor in(array.substr(at));
      if (!in.value(1)) return std::nullopt;
      elements.push_back({at, at + in.position()});
      if (elements.size() > most) return elements;
      at = after_space(array, elements.back().end);
      if (byte_at(array, at) == ']') break;
      if (byte_at(array, at) != ',') return std::nullopt;
    }
  }
  if (after_space(array, at + 1) != array.size()) return std::nullopt;
  return elements;
}

}  // namespace corral::wire
