// "Did you mean …?": the word of a list that a mistyped one is closest to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corral {

/// Empty if none is close: one letter may differ, or more as long as it is less than half of the word.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace corral
