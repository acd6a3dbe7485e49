// The position of a piece of a message within its line.
#pragma once

#include <cstddef>
#include <string_view>

namespace corral::wire {

/// Half-open; empty = the piece is not present (no JSON value is empty).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool present() const { return end > begin; }
  std::string_view in(std::string_view line) const { return line.substr(begin, end - begin); }
};

}  // namespace corral::wire
