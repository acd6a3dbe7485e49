// For "Did you mean …?": the candidate that is closest to a mistyped word. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corral {

/// Empty if no candidate is close: one letter may differ, or more as long as they are less than half of the
/// word.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace corral
