// Text of HTTP is ASCII, and case rarely matters.
#pragma once

#include <string_view>

#include "base/words.h"

namespace corral::http {

/// Whether two words are equal without regard to case.
constexpr bool same_word(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] != other[i] && lower(one[i]) != lower(other[i])) return false;
  }
  return true;
}

}  // namespace corral::http
