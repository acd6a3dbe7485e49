// The position of a piece of a message within its line, and the replacement of such pieces. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace corral::wire {

/// Half-open; empty = the piece is not present (no JSON value is empty).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool present() const { return end > begin; }
  std::string_view in(std::string_view line) const { return line.substr(begin, end - begin); }
};

/// Replaces a span of a line with another text; everything between the edits stays unchanged.
struct Edit {
  Span where;
  std::string_view text;
};

/// The text with the edits applied. They must be in order and must not overlap; an edit whose span is not
/// present is ignored.
inline std::string edited(std::string_view text, std::span<const Edit> edits) {
  std::string out;
  out.reserve(text.size() + 64);
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    if (!edit.where.present()) continue;
    out.append(text.substr(at, edit.where.begin - at)).append(edit.text);
    at = edit.where.end;
  }
  return out.append(text.substr(at));
}

}  // namespace corral::wire
