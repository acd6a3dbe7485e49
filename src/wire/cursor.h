// Walks over one JSON text and rejects everything that is not strict JSON: RFC 8259, UTF-8, at most 512
// levels and 1,048,576 values. Does not recurse or allocate. Private to this directory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "wire/span.h"

namespace corral::wire {

constexpr std::size_t kMaxDepth = 512;
/// The cost of a walk depends on the number of values rather than bytes: this many take about 20 ms.
constexpr std::size_t kMostValues = std::size_t{1} << 20;

/// The text between the quotes, as it is written.
struct StringBody {
  Span span;
  bool escaped = false;  // contains a backslash
};

/// Why a text is rejected, and at which byte.
struct Trouble {
  const char* why = "";
  const char* at = nullptr;
};

inline const char* after_space(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) ++at;
  return at;
}

/// Refers to the text, which must outlive it. Not for concurrent use.
class Cursor {
 public:
  explicit Cursor(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  bool at_end() const { return at_ == end_; }
  /// The next byte; NUL at the end, which cannot appear in a JSON text.
  char peek() const { return at_ == end_ ? '\0' : *at_; }
  void skip_space() { at_ = after_space(at_, end_); }

  // Each of these starts at the first byte of its item. Returns false on an error; `fault` then says why.

  /// Any value. `depth` is the number of arrays and objects around it.
  bool value(std::size_t depth);
  bool string(StringBody& body);
  bool number();
  /// An object. Calls `each` for every key, with the cursor in front of the value, which `each` must read.
  template <class Each>
  bool members(Each each);
  /// True if only white space is left.
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
  std::size_t values_ = 0;  // walked over by `value` and `string`
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

/// Decodes the text between the quotes, which must have been walked over.
std::string unescaped(std::string_view body);
/// Whether a key that is written with escapes decodes to `name`.
bool means(std::string_view escaped_key, std::string_view name);
/// Whether a key in `text` is `name`, with or without escapes.
inline bool same_key(const StringBody& key, std::string_view text, std::string_view name) {
  const std::string_view written = key.span.in(text);
  return key.escaped ? means(written, name) : written == name;
}

}  // namespace corral::wire
