#include "wire/cursor.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "wire/text_blocks.h"

namespace corral::wire {

namespace {

constexpr const char* kTooManyValues = "more than 1,048,576 values in one message";

/// Which of the open brackets are objects: one bit per level. The innermost one is kept separately.
class Brackets {
 public:
  explicit Brackets(std::size_t depth) : outer_(depth), depth_(depth) {}

  enum class Kind : std::uint8_t { Array, Object };

  bool open(Kind kind) {
    if (depth_ == kMaxDepth) return false;
    const bool object = kind == Kind::Object;
    const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
    std::uint64_t& word = objects_[depth_ / 64];
    word = object ? word | bit : word & ~bit;
    ++depth_;
    in_object_ = object;
    return true;
  }
  void close() {
    --depth_;
    if (depth_ > outer_) in_object_ = (objects_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1) != 0;
  }
  bool none() const { return depth_ == outer_; }
  bool in_object() const { return in_object_; }

 private:
  std::array<std::uint64_t, kMaxDepth / 64> objects_{};
  std::size_t outer_;
  std::size_t depth_;
  bool in_object_ = false;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The four digits after "\u", or -1.
int code_unit(const char* at, const char* end) {
  if (end - at < 4) return -1;
  int unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = hex_digit(at[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

bool is_high(int unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool is_low(int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

void append_utf8(std::string& out, int point) {
  const auto put = [&out](int byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6);
    put(0x80 | (point & 0x3F));
  } else {
    if (point < 0x10000) {
      put(0xE0 | point >> 12);
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
    }
    put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

/// Appends the character of the escape at `at` (the byte after the backslash) and returns the position after
/// it.
const char* append_escape(std::string& out, const char* at, const char* end) {
  switch (*at) {
    case 'b': out.push_back('\b'); return at + 1;
    case 'f': out.push_back('\f'); return at + 1;
    case 'n': out.push_back('\n'); return at + 1;
    case 'r': out.push_back('\r'); return at + 1;
    case 't': out.push_back('\t'); return at + 1;
    case 'u': break;
    default: out.push_back(*at); return at + 1;
  }
  int point = code_unit(at + 1, end);
  if (point < 0) return end;
  at += 5;
  const bool paired =
      is_high(point) && end - at >= 6 && at[0] == '\\' && at[1] == 'u' && is_low(code_unit(at + 2, end));
  if (paired) {
    point = 0x10000 + ((point - 0xD800) << 10) + (code_unit(at + 2, end) - 0xDC00);
    at += 6;
  } else if (is_high(point) || is_low(point)) {
    point = 0xFFFD;
  }
  append_utf8(out, point);
  return at;
}

// The walk itself. Each function starts at the first byte of its item and returns the position after it, or
// null with the error recorded. Positions are passed by value so that they stay in registers: this is the hot
// path.

const char* fail(Trouble& trouble, const char* why, const char* at, const char* end) {
  trouble = {at == end ? "the text ends early" : why, at};
  return nullptr;
}

/// Returns NUL at the end, because a JSON text cannot contain one.
char peek(const char* at, const char* end) { return at == end ? '\0' : *at; }

const char* after_escape(const char* at, const char* end, Trouble& trouble) {
  ++at;
  switch (peek(at, end)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return at + 1;
    case 'u': break;
    default: return fail(trouble, "an unknown escape", at, end);
  }
  // The grammar allows half a surrogate pair: a program that cuts a text inside an emoji sends one.
  return code_unit(at + 1, end) >= 0 ? at + 5 : fail(trouble, "\\u without four hexadecimal digits", at, end);
}

const char* after_string(const char* at, const char* end, bool& escaped, Trouble& trouble) {
  ++at;
  for (;;) {
    at = plain_end(at, end);
    if (at == end) return fail(trouble, "", at, end);
    const auto byte = static_cast<std::uint8_t>(*at);
    if (byte == '"') return at + 1;
    if (byte == '\\') {
      escaped = true;
      do {  // escapes come in runs too
        at = after_escape(at, end, trouble);
        if (at == nullptr) return nullptr;
      } while (peek(at, end) == '\\');
    } else if (byte < 0x20) {
      return fail(trouble, byte == 0 ? "a NUL byte" : "a raw control character in a string", at, end);
    } else {
      // Text beyond ASCII comes in runs, so continue with it.
      do {
        const std::size_t length = utf8_length(at, end);
        if (length == 0) return fail(trouble, "invalid UTF-8", at, end);
        at += length;
      } while (at != end && static_cast<std::uint8_t>(*at) >= 0x80);
    }
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* after_digits(const char* at, const char* end, Trouble& trouble) {
  const char* const first = at;
  while (at != end && is_digit(*at)) ++at;
  return at != first ? at : fail(trouble, "a digit is missing", at, end);
}

const char* after_number(const char* at, const char* end, Trouble& trouble) {
  if (peek(at, end) == '-') {
    ++at;
  } else if (!is_digit(peek(at, end))) {
    return fail(trouble, "not a JSON value", at, end);
  }
  at = peek(at, end) == '0' ? at + 1 : after_digits(at, end, trouble);
  if (at != nullptr && peek(at, end) == '.') at = after_digits(at + 1, end, trouble);
  if (at != nullptr && (peek(at, end) | 0x20) == 'e') {
    ++at;
    if (peek(at, end) == '+' || peek(at, end) == '-') ++at;
    at = after_digits(at, end, trouble);
  }
  return at;
}

const char* after_literal(const char* at, const char* end, std::string_view word, Trouble& trouble) {
  for (const char letter : word) {
    if (peek(at, end) != letter) return fail(trouble, "not a JSON value", at, end);
    ++at;
  }
  return at;
}

const char* after_scalar(const char* at, const char* end, Trouble& trouble) {
  bool escaped = false;
  switch (peek(at, end)) {
    case '"': return after_string(at, end, escaped, trouble);
    case 't': return after_literal(at, end, "true", trouble);
    case 'f': return after_literal(at, end, "false", trouble);
    case 'n': return after_literal(at, end, "null", trouble);
    default: return after_number(at, end, trouble);
  }
}

/// A key with its colon and the white space after it. `close` is set to the end of the key.
const char* after_key(const char* at, const char* end, const char*& close, bool& escaped, Trouble& trouble) {
  if (peek(at, end) != '"') return fail(trouble, "a key is missing", at, end);
  at = after_string(at, end, escaped, trouble);
  if (at == nullptr) return nullptr;
  close = at;
  at = after_space(at, end);
  if (peek(at, end) != ':') return fail(trouble, "a colon is missing", at, end);
  return after_space(at + 1, end);
}

const char* after_value(const char* at, const char* end, std::size_t depth, std::size_t& values,
                        Trouble& trouble) {
  Brackets brackets(depth);
  std::size_t seen = values;
  const char* close = nullptr;
  bool escaped = false;
  for (;;) {
    // A value begins here.
    if (++seen > kMostValues) return fail(trouble, kTooManyValues, at, end);
    const char first = peek(at, end);
    if (first == '{' || first == '[') {
      const bool object = first == '{';
      const auto kind = object ? Brackets::Kind::Object : Brackets::Kind::Array;
      if (!brackets.open(kind)) return fail(trouble, "nested too deeply", at, end);
      at = after_space(at + 1, end);
      if (peek(at, end) != (object ? '}' : ']')) {
        if (object) at = after_key(at, end, close, escaped, trouble);
        if (at == nullptr) return nullptr;
        continue;
      }
      ++at;
      brackets.close();
    } else {
      at = after_scalar(at, end, trouble);
      if (at == nullptr) return nullptr;
    }
    // A value has ended here, and perhaps also the arrays and objects around it.
    for (;; ++at, brackets.close()) {
      if (brackets.none()) {
        values = seen;
        return at;
      }
      at = after_space(at, end);
      if (peek(at, end) == ',') break;
      if (peek(at, end) != (brackets.in_object() ? '}' : ']')) {
        return fail(trouble, "a comma or a closing bracket is missing", at, end);
      }
    }
    at = after_space(at + 1, end);
    if (brackets.in_object()) at = after_key(at, end, close, escaped, trouble);
    if (at == nullptr) return nullptr;
  }
}

}  // namespace

bool Cursor::moved(const char* to) {
  if (to == nullptr) return false;
  at_ = to;
  return true;
}

bool Cursor::fail(const char* why) { return moved(wire::fail(trouble_, why, at_, end_)); }

bool Cursor::value(std::size_t depth) { return moved(after_value(at_, end_, depth, values_, trouble_)); }

bool Cursor::number() { return moved(after_number(at_, end_, trouble_)); }

bool Cursor::string(StringBody& body) {
  if (++values_ > kMostValues) return fail(kTooManyValues);
  body.span.begin = position() + 1;
  if (!moved(after_string(at_, end_, body.escaped, trouble_))) return false;
  body.span.end = position() - 1;
  return true;
}

bool Cursor::key(StringBody& body) {
  body.span.begin = position() + 1;
  const char* close = nullptr;
  if (!moved(after_key(at_, end_, close, body.escaped, trouble_))) return false;
  body.span.end = static_cast<std::size_t>(close - begin_) - 1;
  return true;
}

bool Cursor::finish() {
  skip_space();
  return at_end() || fail("more text after the value");
}

/// A run without escapes is copied at once, because a text may have megabytes.
std::string unescaped(std::string_view body) {
  std::string out;
  out.reserve(body.size());  // an escape is never shorter than its character
  const char* at = body.data();
  const char* const end = at + body.size();
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    const auto* const escape = static_cast<const char*>(std::memchr(at, '\\', left));
    const bool none = escape == nullptr || escape + 1 == end;
    out.append(at, none ? end : escape);
    at = none ? end : append_escape(out, escape + 1, end);
  }
  return out;
}

bool means(std::string_view escaped_key, std::string_view name) {
  // An escape is at most six times as long as its character, so longer keys cannot match.
  return escaped_key.size() <= 6 * name.size() && unescaped(escaped_key) == name;
}

}  // namespace corral::wire
