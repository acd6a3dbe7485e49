// Helpers for characters and for lists of words.
#pragma once

#include <algorithm>

namespace corral {

/// ASCII only.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

}  // namespace corral
