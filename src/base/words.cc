#include "base/words.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace corral {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  if (word.size() < 2) return best;
  std::size_t best_distance = std::max<std::size_t>((word.size() + 1) / 2, 2);
  for (const std::string& candidate : candidates) {
    // Words of very different length cannot match; skipping them keeps a word of several megabytes cheap.
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::vector<std::string> meant_words(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kMost = 5;
  constexpr std::size_t kLeastLetters = 3;  // fewer are in many words
  std::vector<std::string> begin;
  std::vector<std::string> contain;
  if (word.size() >= 2) {
    for (const std::string& candidate : candidates) {
      std::vector<std::string>& found = candidate.starts_with(word) ? begin : contain;
      const bool matches =
          &found == &begin || (word.size() >= kLeastLetters && candidate.find(word) != std::string::npos);
      if (matches && found.size() < kMost) found.push_back(candidate);
    }
  }
  if (!begin.empty()) return begin;
  if (!contain.empty()) return contain;
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? std::vector<std::string>{} : std::vector<std::string>{nearest};
}

std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char* const joiner = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += joiner + words[i];
  }
  return text;
}

NameMatch match_name(std::string_view list, std::string_view name) {
  NameMatch match = NameMatch::None;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(' ', begin), list.size());
    const std::string_view word = list.substr(begin, end - begin);
    if (word == name) return NameMatch::Whole;
    const bool is_beginning = word.ends_with('*') && name.starts_with(word.substr(0, word.size() - 1));
    if (is_beginning) match = NameMatch::Beginning;
    begin = end + 1;
  }
  return match;
}

}  // namespace corral
