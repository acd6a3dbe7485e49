#include "base/version_order.h"

#include <algorithm>
#include <vector>

namespace corral {
namespace {

constexpr std::size_t kLongestVersion = 256;

using Words = std::vector<std::string_view>;

struct Version {
  Words numbers;
  Words pre_release;  // empty for a release
};

bool is_digit_char(char byte) { return byte >= '0' && byte <= '9'; }

bool is_number_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit_char);
}

bool is_label_word(std::string_view word) {
  const auto fits = [](char byte) {
    return is_digit_char(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-';
  };
  return !word.empty() && std::all_of(word.begin(), word.end(), fits);
}

Words cut_at_dots(std::string_view text) {
  Words words;
  for (;;) {
    const std::size_t dot = text.find('.');
    words.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    text.remove_prefix(dot + 1);
  }
}

std::optional<Version> parse_version(std::string_view text) {
  if (text.size() > kLongestVersion) return std::nullopt;
  if (!text.empty() && (text.front() == 'v' || text.front() == 'V')) text.remove_prefix(1);
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    const Words build = cut_at_dots(text.substr(plus + 1));
    if (!std::all_of(build.begin(), build.end(), is_label_word)) return std::nullopt;
    text = text.substr(0, plus);
  }
  Version version;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    version.pre_release = cut_at_dots(text.substr(dash + 1));
    if (!std::all_of(version.pre_release.begin(), version.pre_release.end(), is_label_word)) {
      return std::nullopt;
    }
  }
  version.numbers = cut_at_dots(text.substr(0, dash));
  if (!std::all_of(version.numbers.begin(), version.numbers.end(), is_number_word)) return std::nullopt;
  return version;
}

/// Compares numbers of any length, because some versions do not fit into an integer type.
std::strong_ordering compare_numbers(std::string_view left, std::string_view right) {
  left.remove_prefix(std::min(left.find_first_not_of('0'), left.size()));
  right.remove_prefix(std::min(right.find_first_not_of('0'), right.size()));
  if (left.size() != right.size()) return left.size() <=> right.size();
  return left.compare(right) <=> 0;
}

/// Numbers come before words; if one list is a prefix of the other, the shorter list comes first.
std::strong_ordering compare_pre_releases(const Words& left, const Words& right) {
  if (left.empty() || right.empty())
    return left.empty() <=> right.empty();  // a release is later than its pre-releases
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const bool left_number = is_number_word(left[i]);
    const bool right_number = is_number_word(right[i]);
    if (left_number != right_number) return right_number <=> left_number;
    const std::strong_ordering order =
        left_number ? compare_numbers(left[i], right[i]) : left[i].compare(right[i]) <=> 0;
    if (std::is_neq(order)) return order;
  }
  return left.size() <=> right.size();
}

}  // namespace

bool is_version(std::string_view text) { return parse_version(text).has_value(); }

std::optional<std::strong_ordering> compare_versions(std::string_view left, std::string_view right) {
  const std::optional<Version> a = parse_version(left);
  const std::optional<Version> b = parse_version(right);
  if (!a || !b) return std::nullopt;
  for (std::size_t i = 0; i < std::max(a->numbers.size(), b->numbers.size()); ++i) {
    const std::string_view one = i < a->numbers.size() ? a->numbers[i] : "0";
    const std::string_view other = i < b->numbers.size() ? b->numbers[i] : "0";
    const std::strong_ordering order = compare_numbers(one, other);
    if (std::is_neq(order)) return order;
  }
  return compare_pre_releases(a->pre_release, b->pre_release);
}

}  // namespace corral
