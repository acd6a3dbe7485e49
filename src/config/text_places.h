// Finds the positions of keys and values in the text of a configuration, because values of Boost.JSON have no
// positions. The text is JSON with comments and trailing commas that the parser has accepted. For any other
// text the results may be wrong, but no function reads beyond the end of the text. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace corral::config {

struct MemberPlace {
  std::size_t key = 0;    // offset of its opening quote
  std::size_t value = 0;  // offset of its first letter
  std::size_t end = 0;    // just after its last letter
};

struct ObjectPlace {
  std::size_t close = 0;        // offset of the closing brace
  MemberPlace last;             // valid only if there are members
  std::size_t count = 0;        // number of members
  bool trailing_comma = false;  // after the last member
};

/// The first offset from `at` that is neither white space nor in a comment. Also skips a byte order mark at
/// the beginning of the text.
std::size_t skip_blanks(std::string_view text, std::size_t at);

/// The end of the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at);

/// Visits the members of the object that begins at `object`, in the order of the text. `visit` gets each key
/// without escapes and returns whether to continue.
using VisitMember = std::function<bool(const std::string& key, const MemberPlace& place)>;
ObjectPlace walk_object(std::string_view text, std::size_t object, const VisitMember& visit);

/// A part of the text: up to, but not including, `end`.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The elements of the array that begins at `array`, in the order of the text.
std::vector<TextRange> find_elements(std::string_view text, std::size_t array);

/// The offset of element `index`, counted from 0, of the array that begins at `array`.
std::size_t find_element(std::string_view text, std::size_t array, std::size_t index);

/// Converts offsets to lines and columns, both counted from 1. Remembers the last position, so that offsets
/// in ascending order need only one pass over the text.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  int line_of(std::size_t offset);
  /// "12:7"
  std::string place_of(std::size_t offset);

 private:
  void go_to(std::size_t offset);

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
};

}  // namespace corral::config
