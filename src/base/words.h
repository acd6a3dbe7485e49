// Helpers for characters, words and lists of words. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corral {

/// ASCII only.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class Range, class Value>
constexpr bool contains(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

/// For "Did you mean …?": the candidate that is closest to a mistyped word. Empty if no candidate is close:
/// one letter may differ, or more as long as they are less than half of the word.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// What a shortened or mistyped word may stand for: at most five candidates that begin with it, or else
/// contain it, or else the nearest one. In the order of the candidates.
std::vector<std::string> meant_words(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b or c"; empty for none.
std::string any_of(const std::vector<std::string>& words);

enum class NameMatch : std::uint8_t { None, Beginning, Whole };
/// Whether a list such as "TERM TERM_* EDITOR" has a name: as a whole, or by its beginning. The whole name
/// wins, wherever it stands.
NameMatch match_name(std::string_view list, std::string_view name);

}  // namespace corral
