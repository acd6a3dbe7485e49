// Where things stand in the text of a configuration. Boost.JSON's tree has no positions, so this walks the
// text beside it: JSON with comments and trailing commas that has been parsed without an error before. On any
// other text the answers are wrong but bounded; nothing is read beyond its end.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace corral::config {

struct MemberPlace {
  std::size_t key = 0;    // of its opening quote
  std::size_t value = 0;  // of its first letter
  std::size_t end = 0;    // behind its last letter
};

struct ObjectPlace {
  std::size_t close = 0;        // of the closing brace
  MemberPlace last;             // only if there are members
  std::size_t count = 0;        // of members
  bool trailing_comma = false;  // behind the last one
};

/// Behind blanks and comments, and behind a byte order mark at the very beginning.
std::size_t skip_blanks(std::string_view text, std::size_t at);

/// Behind the value that begins at `at`.
std::size_t skip_value(std::string_view text, std::size_t at);

/// The members of the object that begins at `object`, in their order. `visit` gets each key without its
/// escapes and says whether to go on.
using VisitMember = std::function<bool(const std::string& key, const MemberPlace& place)>;
ObjectPlace walk_object(std::string_view text, std::size_t object, const VisitMember& visit);

/// Where element number `index` of the array at `array` begins.
std::size_t find_element(std::string_view text, std::size_t array, std::size_t index);

/// Turns offsets into lines and columns, both from 1. Remembers the last one, so that many offsets in rising
/// order cost one walk.
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
