// A line that is too long to keep, or is not a message: its bytes are discarded as they arrive, but the
// top-level "id" is extracted wherever it is, so that the caller who waits for an answer can get one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corral::wire {

class OversizedLine {
 public:
  /// Longer ids are ignored.
  static constexpr std::size_t kMaxId = 1024;

  /// Call with the bytes of the line, piece by piece.
  void feed(std::string_view bytes);

  /// Without the "\r" of the line end.
  std::size_t bytes() const { return bytes_ - (last_ == '\r' ? 1 : 0); }
  /// After the last byte: the JSON text of the id. Empty if there is none, more than one, or one that is
  /// neither a string nor a number, or if the line is clearly not an object. Only brackets and strings are
  /// parsed.
  std::string id() const;
  /// Whether it has a top-level "method": then the id is the sender's own, and not that of a call to it.
  bool asks() const { return asks_; }
  /// Whether it looks like an answer: it has no "method", and has a top-level "jsonrpc", or a "result" or
  /// "error" that is an object or a list. A log record has none of them (its "error" is a string), and its
  /// "id" is not that of a call.
  bool may_answer() const { return !asks_ && rpc_; }

 private:
  enum class Catch : std::uint8_t { Nothing, Key, Id };

  const char* in_string(const char* at, const char* end);
  const char* below(const char* at, const char* end);
  void structure(char byte);
  void open();
  void close();
  void next_member();
  void value_begins();
  void note(const char* from, const char* to);

  std::size_t bytes_ = 0;
  char last_ = '\0';
  bool broken_ = false;
  bool ended_ = false;  // the object is closed
  bool in_string_ = false;
  bool after_backslash_ = false;
  bool key_expected_ = false;
  bool too_long_ = false;
  bool asks_ = false;
  bool rpc_ = false;
  bool outcome_begins_ = false;  // next comes the value of a "result" or an "error"
  Catch catch_ = Catch::Nothing;
  std::size_t depth_ = 0;
  std::size_t ids_ = 0;
  std::string caught_;
  std::string id_;
};

/// What is known about a message that was longer than the cap and was discarded.
struct Oversized {
  std::string id;  // JSON text of the top-level id; empty if there was none or it was not JSON
  std::size_t bytes = 0;
  bool asks = false;        // it had a "method", so the id is the sender's own
  bool may_answer = false;  // it looked like an answer, see OversizedLine
};

/// The id of the call that a line would answer if it were a message; empty if it has none, is a request
/// itself, or does not look like an answer.
std::string answered_id(std::string_view line);

}  // namespace corral::wire
