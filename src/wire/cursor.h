// Walks over one JSON text and refuses whatever is not strict JSON: RFC 8259, UTF-8, at most 512 levels and
// 1,048,576 values.
// Never recurses, never allocates. For the files of this folder only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wire/span.h"

namespace corral::wire {

constexpr std::size_t kMaxDepth = 512;
/// What a walk costs is decided by the number of values, not of bytes: so many are walked over in some 20 ms.
constexpr std::size_t kMostValues = std::size_t{1} << 20;

/// What stands between the quotes, as it is written.
struct StringBody {
  Span span;
  bool escaped = false;  // it holds a backslash
};

/// Why a text is refused, and at which byte.
struct Trouble {
  const char* why = "";
  const char* at = nullptr;
};

inline const char* after_space(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) ++at;
  return at;
}

class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  bool at_end() const { return at_ == end_; }
  /// The byte to come; NUL at the end, which no JSON text has anywhere.
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  void skip_space() { at_ = after_space(at_, end_); }

  // Each of these begins at its first byte and says whether it came to its end; if not, `fault` says why.

  /// Any value. `depth` is the number of arrays and objects around it.
  bool value(std::size_t depth);
  bool string(StringBody& body);
  bool number();
  /// An object. `each` is called with every key and must read the value, before which the cursor then stands.
  template <class Each>
  bool members(Each each);
  /// Nothing but white space is left.
  bool finish();

  const char* fault() const { return trouble_.why; }
  std::size_t fault_at() const { return static_cast<std::size_t>(trouble_.at - begin_); }

 private:
  /// A key and its colon.
  bool key(StringBody& body);
  bool fail(const char* why);
  bool moved(const char* to);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::size_t values_ = 0;  // that `value` and `string` have walked over
  Trouble trouble_;
};

template <class Each>
bool Cursor::members(Each each) {
  ++at_;
  skip_space();
  if (peek() == '}') {
    ++at_;
    return true;
  }
  for (;;) {
    StringBody name;
    if (!key(name)) return false;
    if (!each(name)) return false;
    skip_space();
    if (peek() == '}') break;
    if (peek() != ',') return fail("a comma or a closing brace is missing");
    ++at_;
    skip_space();
  }
  ++at_;
  return true;
}

/// What the text between the quotes says; it must have been walked over.
std::string unescaped(std::string_view body);
/// Whether a key that is written with escapes means `name`.
bool means(std::string_view escaped_key, std::string_view name);
/// Whether a key of `text` is `name`, however it is written.
inline bool same_key(const StringBody& key, std::string_view text, std::string_view name) {
  const std::string_view written = key.span.in(text);
  return key.escaped ? means(written, name) : written == name;
}

}  // namespace corral::wire
