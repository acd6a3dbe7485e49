#include "wire/oversized_line.h"

#include "wire/cursor.h"
#include "wire/text_blocks.h"

namespace corral::wire {

namespace {

/// "jsonrpc" with all letters written as \u escapes.
constexpr std::size_t kMaxKey = 42;

bool is_key(const std::string& key, std::string_view name) {
  StringBody body{{0, key.size()}, key.find('\\') != std::string::npos};
  return same_key(body, key, name);
}

bool is_string_or_number(const std::string& text) {
  Cursor in(text);
  in.skip_space();
  StringBody body;
  return (in.peek() == '"' ? in.string(body) : in.number()) && in.finish();
}

bool is_space(char byte) { return byte == ' ' || byte == '\t' || byte == '\r'; }

std::string trimmed(const std::string& text) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (begin < end && is_space(text[begin])) ++begin;
  while (end > begin && is_space(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

}  // namespace

void OversizedLine::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  last_ = bytes.back();
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end && !broken_) {
    if (in_string_) {
      at = in_string(at, end);
    } else if (depth_ > 1 && catch_ == Catch::Nothing) {
      at = below(at, end);
    } else {
      structure(*at++);
    }
  }
}

const char* OversizedLine::in_string(const char* at, const char* end) {
  if (after_backslash_) {
    after_backslash_ = false;
    note(at, at + 1);
    return at + 1;
  }
  const char* const odd = plain_end(at, end);
  note(at, odd);
  if (odd == end) return end;
  if (*odd != '"') {
    after_backslash_ = *odd == '\\';
    note(odd, odd + 1);
    return odd + 1;
  }
  in_string_ = false;
  if (catch_ == Catch::Id) note(odd, odd + 1);  // an id keeps its quotes
  return odd + 1;
}

/// Inside a value that is not needed only brackets and quotes count: most of a long line is skipped here.
const char* OversizedLine::below(const char* at, const char* end) {
  while (at != end && depth_ > 1) {
    const char byte = *at++;
    if (byte == '"') {
      in_string_ = true;
      return at;
    }
    if (byte == '{' || byte == '[') ++depth_;
    if (byte == '}' || byte == ']') --depth_;
  }
  return at;
}

void OversizedLine::structure(char byte) {
  if (depth_ == 0 && !is_space(byte) && (ended_ || byte != '{')) {
    broken_ = true;
    return;
  }
  if (outcome_begins_ && !is_space(byte)) {
    rpc_ = rpc_ || byte == '{' || byte == '[';
    outcome_begins_ = false;
  }
  switch (byte) {
    case '{':
    case '[': open(); break;
    case '}':
    case ']': close(); break;
    case ',':
      if (depth_ == 1) next_member();
      break;
    case ':':
      if (depth_ == 1) {
        value_begins();
        return;
      }
      break;
    case '"':
      in_string_ = true;
      if (depth_ == 1 && key_expected_) {
        key_expected_ = false;
        catch_ = Catch::Key;
        return;
      }
      break;
    default: break;
  }
  if (catch_ == Catch::Id) note(&byte, &byte + 1);
}

void OversizedLine::open() {
  ++depth_;
  if (depth_ == 1) key_expected_ = true;
}

void OversizedLine::close() {
  if (depth_ == 1) {
    next_member();
    ended_ = true;
  }
  --depth_;
}

/// A member of the object has ended.
void OversizedLine::next_member() {
  if (catch_ == Catch::Id) {
    ++ids_;
    id_ = too_long_ ? std::string() : trimmed(caught_);
  }
  catch_ = Catch::Nothing;
  caught_.clear();
  too_long_ = false;
  key_expected_ = true;
}

void OversizedLine::value_begins() {
  const bool whole_key = catch_ == Catch::Key && !too_long_;
  const bool id = whole_key && is_key(caught_, "id");
  asks_ = asks_ || (whole_key && is_key(caught_, "method"));
  rpc_ = rpc_ || (whole_key && is_key(caught_, "jsonrpc"));
  outcome_begins_ = whole_key && (is_key(caught_, "result") || is_key(caught_, "error"));
  catch_ = id ? Catch::Id : Catch::Nothing;
  caught_.clear();
  too_long_ = false;
}

void OversizedLine::note(const char* from, const char* to) {
  if (catch_ == Catch::Nothing || too_long_) return;
  const std::size_t limit = catch_ == Catch::Key ? kMaxKey : kMaxId;
  if (static_cast<std::size_t>(to - from) > limit - caught_.size()) {
    too_long_ = true;
  } else {
    caught_.append(from, to);
  }
}

std::string OversizedLine::id() const {
  if (broken_ || !ended_ || ids_ != 1 || !is_string_or_number(id_)) return {};
  return id_;
}

std::string answered_id(std::string_view line) {
  OversizedLine passing;
  passing.feed(line);
  return passing.may_answer() ? passing.id() : std::string();
}

}  // namespace corral::wire
