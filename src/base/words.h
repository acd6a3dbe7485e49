// Small questions about words and lists of them.
#pragma once

#include <algorithm>

namespace corral {

/// Of ASCII alone.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

}  // namespace corral
